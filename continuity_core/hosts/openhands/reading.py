"""Turns, as OpenHands knows them."""

from __future__ import annotations

from typing import Any

from continuity_core.model.reading.fields import field, items, number, text
from continuity_core.model.reading.partial import turn_of
from continuity_core.model.reading.stop_words import read_stop_word
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, Turn, Usage


def read_response(response: Any) -> Turn:
    """The turn of an ``LLMResponse``, by either of the two APIs that the client speaks."""
    raw = response.raw_response
    if hasattr(raw, "choices"):
        return Turn.from_openai(raw)
    return _read_responses(response.message, raw)


def _read_responses(message: Any, raw: Any) -> Turn:
    """A response of the Responses API: its content as the host reads it, its end as the provider says it."""
    blocks: list[Block] = []
    reasoning = message.reasoning_content or "".join(
        content for content in items(field(message.responses_reasoning_item, "summary"))
    )
    if reasoning:
        blocks.append(Reasoning(reasoning))
    blocks += [Text(part.text) for part in message.content if text(field(part, "text"))]
    blocks += [ToolCall(call.id, call.name, call.arguments) for call in message.tool_calls or ()]
    word = text(field(raw, "status"))
    if word == "incomplete":
        word = text(field(field(raw, "incomplete_details"), "reason")) or word
    usage = field(raw, "usage")
    return turn_of(
        tuple(blocks),
        Usage(
            input_tokens=number(field(usage, "input_tokens")),
            output_tokens=number(field(usage, "output_tokens")),
            cached_input_tokens=number(field(field(usage, "input_tokens_details"), "cached_tokens")),
            reasoning_tokens=number(field(field(usage, "output_tokens_details"), "reasoning_tokens")),
        ),
        read_stop_word(word),
        word or None,
    )
