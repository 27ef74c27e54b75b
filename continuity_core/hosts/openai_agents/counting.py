"""Tokens of the turns that were left out, in the framework's own totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents import ModelResponse, Usage
from agents.usage import RequestUsage
from openai.types.responses import ResponseUsage
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from continuity_core.model.reading.fields import field
from continuity_core.model.turn import Turn


def usage_of_dropped(turn: Turn) -> Usage:
    """What a turn that is left out cost, in the framework's form."""
    spent = turn.usage
    input_tokens, output_tokens = spent.input_tokens or 0, spent.output_tokens or 0
    return Usage(
        requests=turn.requests,
        input_tokens=input_tokens,
        input_tokens_details=_input_details(spent.cached_input_tokens or 0),
        output_tokens=output_tokens,
        output_tokens_details=OutputTokensDetails(reasoning_tokens=spent.reasoning_tokens or 0),
        total_tokens=input_tokens + output_tokens,
    )


def add_to_response(response: ModelResponse, dropped: Sequence[Usage]) -> None:
    """Add what the dropped turns cost to the usage of the one that stands."""
    total = Usage()
    for usage in (*dropped, response.usage):
        total.add(usage)
    response.usage = total


def add_to_terminal(event: Any, dropped: Sequence[Usage]) -> None:
    """The same for the event that ends a stream.

    The runner reads these attributes of a usage as an adapter's own account of several requests; the usage
    that consumers of the stream see stays that of the response itself.
    """
    response = field(event, "response")
    if response is None:
        return
    own = response.usage or _nothing()
    entries = [_entry(usage) for usage in (*dropped, own) if usage.total_tokens]
    object.__setattr__(own, "_agents_sdk_request_usages", entries)
    object.__setattr__(own, "_agents_sdk_request_count", 1 + sum(usage.requests for usage in dropped))
    response.usage = own


def _entry(usage: Any) -> RequestUsage:
    return RequestUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        input_tokens_details=usage.input_tokens_details,
        output_tokens_details=usage.output_tokens_details,
    )


def _nothing() -> ResponseUsage:
    return ResponseUsage(
        input_tokens=0,
        input_tokens_details=_input_details(0),
        output_tokens=0,
        output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
        total_tokens=0,
    )


def _input_details(cached: int) -> InputTokensDetails:
    return InputTokensDetails.model_validate({"cached_tokens": cached, "cache_write_tokens": 0})
