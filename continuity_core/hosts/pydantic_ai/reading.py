"""Reading pydantic-ai's responses as turns."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_ai.messages import (
    CompactionPart,
    FilePart,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from continuity_core.errors import classify
from continuity_core.hosts.pydantic_ai.entries import part_ref, response_ref
from continuity_core.model.cause import CauseKind
from continuity_core.model.failure import Failure
from continuity_core.model.reading.stop_words import NO_STOP_WORD, Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

_FINISH_REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "content_filter",
}


def turn_of(response: ModelResponse, *, must_say_why: bool = False) -> Turn:
    """The turn of a response that pydantic-ai accepted.

    ``must_say_why`` says that the provider's own word for the stop has to be there: pydantic-ai takes a
    stream that ends without one for whole.
    """
    stop = _stop_of(response, must_say_why)
    return Turn(
        stop_reason=stop.reason,
        blocks=tuple(blocks_of(response)),
        usage=usage_of(response),
        failure=stop.failure,
        provider_stop=_raw_word(response) or response.finish_reason,
        unfinished=stop.unfinished,
        entry=response_ref(response),
    )


def blocks_of(response: ModelResponse) -> Iterator[Block]:
    """The blocks of a response; what tools of the provider did is none."""
    for part in response.parts:
        if isinstance(part, TextPart):
            yield Text(part.content)
        elif isinstance(part, ThinkingPart):
            yield Reasoning(part.content, redacted=not part.content and bool(part.signature))
        elif isinstance(part, ToolCallPart):
            yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        elif isinstance(part, FilePart):
            yield Text(f"<{part.content.media_type} {part.content.identifier}>")
        elif isinstance(part, SpeechPart | CompactionPart) and part.content:
            yield Text(part.content)


def usage_of(response: ModelResponse) -> Usage:
    """The tokens of a response; pydantic-ai has 0 for what a provider did not report."""
    usage = response.usage
    return Usage(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        cached_input_tokens=usage.cache_read_tokens or None,
        reasoning_tokens=usage.details.get("reasoning_tokens"),
    )


def _stop_of(response: ModelResponse, must_say_why: bool) -> Stop:
    if response.state == "suspended":
        return Stop(StopReason.STOP, unfinished=True)
    if response.state == "interrupted" and response.finish_reason is None:
        return Stop(StopReason.ABORTED)
    raw = _raw_word(response)
    if raw is not None:
        stop = read_stop_word(raw)
        if stop.failure is None or classify(stop.failure).kind is not CauseKind.UNKNOWN:
            return stop
    elif must_say_why and response.finish_reason != "content_filter":
        return Stop(StopReason.ERROR, Failure.from_text(NO_STOP_WORD))
    known = _FINISH_REASONS.get(response.finish_reason or "")
    if known is not None:
        return read_stop_word(known)
    if response.finish_reason == "error":
        return Stop(StopReason.ERROR, Failure.from_text(f"Provider finish_reason: {raw or 'error'}"))
    return Stop(StopReason.TOOL_USE if response.tool_calls else StopReason.STOP)


def _raw_word(response: ModelResponse) -> str | None:
    word = (response.provider_details or {}).get("finish_reason")
    return word if isinstance(word, str) and word else None


def results_in(request: ModelRequest) -> tuple[ToolResult, ...]:
    """The tool results that a request carries."""
    found = []
    for part in request.parts:
        call_id = getattr(part, "tool_call_id", None)
        if call_id and part.part_kind in ("tool-return", "retry-prompt"):
            outcome = getattr(part, "outcome", "success")
            failed = part.part_kind == "retry-prompt" or outcome != "success"
            found.append(ToolResult(call_id=call_id, entry=part_ref(part), is_error=failed))
    return tuple(found)
