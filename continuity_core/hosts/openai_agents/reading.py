"""Turns in the format of the Responses API, which is also the framework's own format of output items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.reading.blocks import BlockCollector
from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.fields import arguments_text, field, items, number, text
from continuity_core.model.reading.partial import turn_of
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

CLIENT_CALLS = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "shell_call",
    }
)
"""Types of the items that make the framework execute something here; all others are run by the provider."""
TERMINAL_EVENTS = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "error", "response.error"}
)
"""Types of the events with which the framework ends a streamed response."""


def blocks_of(output: Iterable[Any]) -> tuple[Block, ...]:
    """The blocks of output items; what the provider ran or did itself counts as a call."""
    return tuple(block for item in output for block in _blocks_of_item(item))


def _blocks_of_item(item: Any) -> list[Block]:
    kind = field(item, "type")
    if kind == "message":
        return [Text(told) for part in items(field(item, "content")) if (told := text_of_part(part))]
    if kind == "reasoning":
        told = "".join(
            text(field(part, "text"))
            for part in (*items(field(item, "summary")), *items(field(item, "content")))
        )
        return [Reasoning(told, redacted=not told)]
    if kind in CLIENT_CALLS:
        arguments = field(item, "arguments") or field(item, "input") or field(item, "action")
        call_id = text(field(item, "call_id")) or text(field(item, "id"))
        return [ToolCall(call_id, text(field(item, "name")) or str(kind), arguments_text(arguments))]
    return [ToolCall(text(field(item, "id")), text(kind), "")]


def hosted_results(output: Iterable[Any]) -> tuple[ToolResult, ...]:
    """The results of what the provider ran itself: they are with it."""
    ours = CLIENT_CALLS | {"message", "reasoning"}
    return tuple(
        ToolResult(call_id=text(field(item, "id"))) for item in output if field(item, "type") not in ours
    )


def text_of_part(part: Any) -> str:
    """The readable text of a part of a message, a refusal's included."""
    return text(field(part, "text")) or text(field(part, "refusal"))


def text_of_message(item: Any) -> str:
    """The readable text of a message item."""
    content = field(item, "content")
    return content if isinstance(content, str) else "".join(text_of_part(part) for part in items(content))


def kind_of(item: Any) -> str:
    """The type of an item; a message may come without one."""
    return text(field(item, "type")) or "message"


def usage_of(usage: Any) -> Usage:
    """The tokens of a ``usage`` object of the Responses API, or of the framework."""
    return Usage(
        input_tokens=number(field(usage, "input_tokens")),
        output_tokens=number(field(usage, "output_tokens")),
        cached_input_tokens=number(field(field(usage, "input_tokens_details"), "cached_tokens")),
        reasoning_tokens=number(field(field(usage, "output_tokens_details"), "reasoning_tokens")),
    )


def turn_of_response(response: Any, *, stop: Stop | None = None) -> Turn:
    """The turn of a whole response; ``stop`` says how it ended where its own status does not tell."""
    output = items(field(response, "output"))
    word = stop_word_of(response)
    refusal = next((told for item in output if (told := _refusal_of(item))), None)
    read = stop if stop is not None else _stop_of(response, word)
    if refusal is not None:
        failure = Failure.from_text(f"The model refused: {refusal}", code="refusal")
        read = Stop(StopReason.ERROR, failure)
    blocks = blocks_of(output)
    if read.reason is StopReason.STOP and any(isinstance(block, ToolCall) for block in blocks):
        read = Stop(StopReason.TOOL_USE, unfinished=read.unfinished)
    turn = turn_of(blocks, usage_of(field(response, "usage")), read, word)
    return attrs.evolve(turn, results=hosted_results(output))


def stop_word_of(response: Any) -> str | None:
    """The provider's word for how the response ended: why it is incomplete, else its status."""
    reason = text(field(field(response, "incomplete_details"), "reason"))
    return reason or text(field(response, "status")) or None


def _stop_of(response: Any, word: str | None) -> Stop:
    failure = error_within(response)
    if failure is not None:
        return Stop(StopReason.ERROR, failure)
    return read_stop_word(word)


def _refusal_of(item: Any) -> str:
    return "".join(text(field(part, "refusal")) for part in items(field(item, "content")))


@attrs.define
class EventReader:
    """Collects what a streamed response brought before it ended or broke."""

    terminal: Any = None
    """The event that ended it."""
    _blocks: BlockCollector = attrs.field(factory=BlockCollector)
    _items: list[Any] = attrs.field(factory=list)

    def feed(self, event: Any) -> None:
        """Take in the next event."""
        kind = text(field(event, "type"))
        if kind in TERMINAL_EVENTS:
            self.terminal = self.terminal or event
        elif kind == "response.output_item.done":
            self._items.append(field(event, "item"))
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            self._blocks.add_text(text(field(event, "delta")))
        elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            self._blocks.add_reasoning(text(field(event, "delta")))
        elif kind == "response.output_item.added":
            self._begin(event)
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            self._blocks.add_call(_index(event), "", "", text(field(event, "delta")))

    def _begin(self, event: Any) -> None:
        item = field(event, "item")
        if field(item, "type") in CLIENT_CALLS:
            self._blocks.add_call(_index(event), text(field(item, "call_id")), text(field(item, "name")), "")

    @property
    def response(self) -> Any:
        """The response that the terminal event carries; ``None`` where there is none."""
        return field(self.terminal, "response")

    @property
    def items(self) -> tuple[Any, ...]:
        """The output items that came whole."""
        return tuple(self._items)

    def failure(self) -> Failure | None:
        """What an ``error`` event says."""
        if text(field(self.terminal, "type")) not in ("error", "response.error"):
            return None
        within = error_within(self.terminal)
        if within is not None:
            return within
        message = text(field(self.terminal, "message")) or "The stream ended in an error event"
        return Failure.from_text(message, code=text(field(self.terminal, "code")) or None)

    def partial(
        self, *, error: BaseException | None = None, failure: Failure | None = None, aborted: bool = False
    ) -> Turn:
        """The turn of what was received; ``error`` or ``failure`` says what broke it off."""
        return turn_of(
            self._blocks.blocks(""),
            Usage(),
            read_stop_word(None),
            None,
            error=error,
            failure=failure,
            aborted=aborted,
        )


def _index(event: Any) -> int | None:
    index = field(event, "output_index")
    return index if isinstance(index, int) else None
