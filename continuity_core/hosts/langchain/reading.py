"""A message of LangChain as a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from continuity_core.model.entries import EntryRef
from continuity_core.model.failure import Failure, FailurePlace
from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

STOP_WORD_KEYS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""Where the integrations put the provider's word in ``response_metadata``."""

ALWAYS_REPORTING = frozenset({"openai", "anthropic"})
"""Providers (``response_metadata["model_provider"]``) whose every whole answer has a word for why it stopped.

Of any other model, a scripted one for instance, an answer without the word is taken for whole.
"""

_STOP = Stop(StopReason.STOP)
_CODE_AND_MESSAGE = (
    re.compile(r"(?P<code>[a-z][a-z0-9_]{2,63}): (?P<message>.+)", re.ASCII | re.DOTALL),
    re.compile(r"code='(?P<code>[a-z0-9_]{1,64})' message='(?P<message>.*)'", re.ASCII | re.DOTALL),
)
"""What the OpenAI integration makes of an error inside a Responses stream: a bare ``ValueError``."""


# ---------------------------------------------------------------- messages


def turn_of(message: AIMessage, *, entry: EntryRef | None = None, requests: int = 1) -> Turn:
    """The turn that ended with this message."""
    word, stop = stop_of(message)
    return Turn(
        stop_reason=stop.reason,
        blocks=blocks_of(message),
        usage=usage_of(message),
        failure=stop.failure,
        entry=entry,
        provider_stop=word,
        unfinished=stop.unfinished,
        requests=requests,
    )


def stop_of(message: AIMessage) -> tuple[str | None, Stop]:
    """The provider's word, and what it means."""
    metadata = message.response_metadata
    refusal = _refusal_of(message)
    word = _stop_word(metadata)
    if refusal is not None:
        told = f"The model refused: {refusal}"
        return word, Stop(StopReason.ERROR, Failure.from_text(told, code="refusal"))
    if word is None and metadata.get("model_provider") not in ALWAYS_REPORTING:
        return None, _STOP
    return word, read_stop_word(word)


def _stop_word(metadata: Mapping[str, Any]) -> str | None:
    for key in STOP_WORD_KEYS:
        word = metadata.get(key)
        if isinstance(word, str) and word:
            return _once(word)
    status = metadata.get("status")
    if status == "incomplete":
        details = metadata.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return reason if isinstance(reason, str) and reason else "incomplete"
    return status if isinstance(status, str) and status else None


def _once(word: str) -> str:
    """LangChain joins the chunks' words: one that two chunks carried comes doubled."""
    half = word[: len(word) // 2]
    return half if half and half + half == word else word


def _refusal_of(message: AIMessage) -> str | None:
    told = message.additional_kwargs.get("refusal")
    if isinstance(told, str) and told:
        return told
    if isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, dict) and block.get("type") == "refusal":
                return str(block.get("refusal") or "")
    return None


def blocks_of(message: AIMessage) -> tuple[Block, ...]:
    """Text, reasoning and calls in order; a call that the content does not place comes last."""
    calls = {str(call["id"]): call for call in calls_of(message)}
    blocks: list[Block] = []
    content = message.content
    parts: Sequence[Any] = (
        message.content_blocks if isinstance(content, list) or message.additional_kwargs else (content,)
    )
    for part in parts:
        if isinstance(part, str):
            if part:
                blocks.append(Text(part))
            continue
        match part.get("type"):
            case "text":
                blocks.append(Text(str(part.get("text") or "")))
            case "reasoning":
                told = str(part.get("reasoning") or "")
                blocks.append(Reasoning(told, redacted=not told))
            case "refusal":
                blocks.append(Text(str(part.get("refusal") or "")))
            case "tool_call" | "invalid_tool_call" | "tool_call_chunk":
                call = calls.pop(str(part.get("id")), None)
                if call is not None:
                    blocks.append(_call(call))
            case "non_standard" if "redacted" in str((part.get("value") or {}).get("type")):
                blocks.append(Reasoning("", redacted=True))
    blocks += [_call(call) for call in calls.values()]
    return tuple(blocks)


def calls_of(message: AIMessage) -> tuple[Mapping[str, Any], ...]:
    """The calls of a message, those whose arguments do not parse included."""
    if not message.invalid_tool_calls:
        return tuple(message.tool_calls)
    return (*message.tool_calls, *message.invalid_tool_calls)


def _call(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(str(call["id"]), str(call.get("name") or ""), arguments_of(call))


def arguments_of(call: Mapping[str, Any]) -> str:
    """The arguments as text; LangChain keeps the raw string only where it does not parse."""
    arguments = call.get("args")
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str)


def usage_of(message: AIMessage) -> Usage:
    """The tokens that were reported."""
    usage = message.usage_metadata
    if not usage:
        return Usage()
    inputs, outputs = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    return Usage(
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cached_input_tokens=inputs.get("cache_read"),
        reasoning_tokens=outputs.get("reasoning"),
    )


def results_for(
    turn: Turn, messages: Iterable[BaseMessage], ref: Callable[[BaseMessage], EntryRef]
) -> tuple[ToolResult, ...]:
    """The results that ``messages`` have for the calls of a turn; ``ref`` names their entries."""
    calls = {call.id for call in turn.tool_calls}
    return tuple(
        ToolResult(
            call_id=message.tool_call_id,
            entry=ref(message),
            is_error=message.status == "error",
        )
        for message in messages
        if isinstance(message, ToolMessage) and message.tool_call_id in calls
    )


# ---------------------------------------------------------------- errors


def failed_turn(
    error: BaseException,
    partial: AIMessage | None,
    *,
    where: FailurePlace = "model",
    requests: int = 1,
) -> Turn:
    """The turn that ended in an exception; ``partial`` is what had come by then."""
    return Turn(
        stop_reason=StopReason.ERROR,
        blocks=() if partial is None else blocks_of(partial),
        failure=failure_of(error, where),
        requests=requests,
    )


def failure_of(error: BaseException, where: FailurePlace = "model") -> Failure:
    """Read an exception; errors inside a response come as a bare ``ValueError`` of several forms."""
    failure = Failure.from_exception(error, where=where)
    if type(error) is not ValueError or len(error.args) != 1:
        return failure
    told = error.args[0]
    found = error_within({"error": told}) if not isinstance(told, str) else _split(told)
    if found is None:
        return failure
    return Failure.from_text(
        found.message,
        status=found.status,
        code=found.code,
        type=found.type,
        body=found.body,
        exceptions=failure.exceptions,
        where=where,
    )


def _split(text: str) -> Failure | None:
    for form in _CODE_AND_MESSAGE:
        found = form.fullmatch(text)
        if found is not None:
            return Failure.from_text(found["message"], code=found["code"])
    return None
