"""A message of openJiuwen as a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from openjiuwen.core.common.exception.errors import BaseError
from openjiuwen.core.foundation.llm import ToolMessage

from continuity_core.hosts.openjiuwen.projecting import ref_of, text_of
from continuity_core.model.entries import EntryRef
from continuity_core.model.failure import Failure
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

_NO_WORD = "null"
"""What the framework's messages say where the provider said nothing."""


def turn_of(
    message: Any, *, told: str | None, stream: bool, entry: EntryRef | None, requests: int = 1
) -> Turn:
    """The turn that ended with this message.

    ``told`` is the provider's own word for the stop, where the client kept it beside its translation. A
    stream without a word broke off; the clients make one up where a whole response has none.
    """
    word = told or str(getattr(message, "finish_reason", "") or _NO_WORD)
    silent = word == _NO_WORD
    stop = Stop(StopReason.STOP) if silent and not stream else read_stop_word(None if silent else word)
    reason = stop.reason
    blocks = blocks_of(message)
    if reason is StopReason.STOP and any(type(block) is ToolCall for block in blocks):
        reason = StopReason.TOOL_USE
    return Turn(
        stop_reason=reason,
        blocks=blocks,
        usage=usage_of(message),
        failure=stop.failure,
        entry=entry,
        provider_stop=None if silent else word,
        unfinished=stop.unfinished,
        requests=requests,
    )


def failed_turn(error: BaseException, partial: Any, *, requests: int = 1) -> Turn:
    """The turn that ended in an error; ``partial`` is what had arrived of the answer, or ``None``."""
    return Turn(
        stop_reason=StopReason.ERROR,
        blocks=() if partial is None else blocks_of(partial),
        usage=Usage() if partial is None else usage_of(partial),
        failure=Failure.from_exception(_as_raised(error)),
        requests=requests,
    )


def aborted_turn(partial: Any, *, requests: int = 1) -> Turn:
    """The turn that was cancelled while its answer was produced."""
    return Turn(
        stop_reason=StopReason.ABORTED,
        blocks=() if partial is None else blocks_of(partial),
        usage=Usage() if partial is None else usage_of(partial),
        requests=requests,
    )


def _as_raised(error: BaseException) -> BaseException:
    """What the provider's SDK raised: the framework's own words around it speak of every error alike."""
    cause = error.__cause__
    if isinstance(error, BaseError) and cause is not None and str(cause).strip():
        return cause
    return error


def blocks_of(message: Any) -> tuple[Block, ...]:
    """Reasoning, text and calls; the framework keeps no other order."""
    blocks: list[Block] = []
    if message.reasoning_content:
        blocks.append(Reasoning(str(message.reasoning_content)))
    text = text_of(message)
    if text:
        blocks.append(Text(text))
    blocks.extend(
        ToolCall(str(call.id or ""), str(call.name or ""), str(call.arguments or ""))
        for call in message.tool_calls or ()
    )
    return tuple(blocks)


def usage_of(message: Any) -> Usage:
    """The tokens that the provider reported; the framework writes 0 where it did not."""
    usage = getattr(message, "usage_metadata", None)
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        cached_input_tokens=usage.cache_tokens or None,
        reasoning_tokens=usage.reasoning_tokens or None,
    )


def results_of(turn: Turn, messages: Iterable[Any], vetoed: Collection[str]) -> tuple[ToolResult, ...]:
    """The results that follow the turn's own message in the context."""
    wanted = {call.id for call in turn.tool_calls}
    found: list[ToolResult] = []
    own = False
    for place, message in enumerate(messages):
        if ref_of(message, place) == turn.entry:
            own = True
            found.clear()
        elif own and isinstance(message, ToolMessage) and message.tool_call_id in wanted:
            call = message.tool_call_id
            found.append(ToolResult(call_id=call, entry=ref_of(message, place), is_error=call in vetoed))
    return tuple(found)
