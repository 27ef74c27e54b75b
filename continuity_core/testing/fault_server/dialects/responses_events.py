"""The events by which one output item of OpenAI Responses is streamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from continuity_core.testing.fault_server.dialects.base import event, split


@attrs.define
class EventWriter:
    """Writes events and numbers them from 0."""

    _number: int = -1

    def __call__(self, kind: str, **fields: Any) -> bytes:
        """The next event."""
        self._number += 1
        return event({"type": kind, "sequence_number": self._number, **fields}, kind)


@attrs.frozen(kw_only=True)
class ItemEvents:
    """The events of one item."""

    opening: tuple[bytes, ...]
    pieces: tuple[bytes, ...]
    """One for each piece of its text, reasoning or arguments."""
    closing: tuple[bytes, ...]


def events_of(write: EventWriter, index: int, item: Mapping[str, Any]) -> ItemEvents:
    """The events of the item at that place of the output."""
    return _EVENTS[item["type"]](write, index, item)


def _message(write: EventWriter, index: int, item: Mapping[str, Any]) -> ItemEvents:
    part = item["content"][0]
    text = part["text"]
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    opening = (
        _added(write, index, {**item, "status": "in_progress", "content": []}),
        write("response.content_part.added", **place, part={**part, "text": ""}),
    )
    pieces = tuple(
        write("response.output_text.delta", **place, delta=piece, logprobs=[]) for piece in split(text)
    )
    closing = (
        write("response.output_text.done", **place, text=text, logprobs=[]),
        write("response.content_part.done", **place, part=part),
        _done(write, index, item),
    )
    return ItemEvents(opening=opening, pieces=pieces, closing=closing)


def _reasoning(write: EventWriter, index: int, item: Mapping[str, Any]) -> ItemEvents:
    part = item["summary"][0]
    text = part["text"]
    place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    opening = (
        _added(write, index, {**item, "summary": [], "encrypted_content": None}),
        write("response.reasoning_summary_part.added", **place, part={**part, "text": ""}),
    )
    pieces = tuple(
        write("response.reasoning_summary_text.delta", **place, delta=piece) for piece in split(text)
    )
    closing = (
        write("response.reasoning_summary_text.done", **place, text=text),
        write("response.reasoning_summary_part.done", **place, part=part),
        _done(write, index, item),
    )
    return ItemEvents(opening=opening, pieces=pieces, closing=closing)


def _function_call(write: EventWriter, index: int, item: Mapping[str, Any]) -> ItemEvents:
    place = {"item_id": item["id"], "output_index": index}
    arguments = item["arguments"]
    opening = (_added(write, index, {**item, "status": "in_progress", "arguments": ""}),)
    pieces = tuple(
        write("response.function_call_arguments.delta", **place, delta=piece) for piece in split(arguments)
    )
    closing = (
        write("response.function_call_arguments.done", **place, name=item["name"], arguments=arguments),
        _done(write, index, item),
    )
    return ItemEvents(opening=opening, pieces=pieces, closing=closing)


def _added(write: EventWriter, index: int, item: Mapping[str, Any]) -> bytes:
    return write("response.output_item.added", output_index=index, item=item)


def _done(write: EventWriter, index: int, item: Mapping[str, Any]) -> bytes:
    return write("response.output_item.done", output_index=index, item=item)


_EVENTS: Mapping[str, Callable[[EventWriter, int, Mapping[str, Any]], ItemEvents]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
}
