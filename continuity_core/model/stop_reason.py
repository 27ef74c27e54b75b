"""Why a model stopped, after normalisation of the provider's word."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    """It came to the end of its answer."""
    TOOL_USE = "tool_use"
    """It calls tools and waits for their results."""
    LENGTH = "length"
    """It was cut at the output cap."""
    ERROR = "error"
    """The request failed, before the answer or within it."""
    ABORTED = "aborted"
    """The user stopped it."""
