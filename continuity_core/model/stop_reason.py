"""Why a model stopped, after normalisation of the provider's word."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    ERROR = "error"
    ABORTED = "aborted"
