"""Messages of the ``anthropic`` SDK and of servers that speak its format."""

from __future__ import annotations

import json
from typing import Any

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.fields import arguments_text, field, items, number, plain, text
from continuity_core.model.reading.partial import turn_of, with_known
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, Turn, Usage

_DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def read(message: Any) -> Turn:
    """The turn of a message, or of the list of events of a streamed one.

    What is no message (a proxy's page, say) makes a failed turn that carries the text.
    """
    reader = MessageStreamReader()
    if isinstance(message, str | bytes):
        body = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
        return reader.turn(failure=Failure.from_text("The response is no message", body=body))
    if isinstance(message, list | tuple):
        for event in message:
            reader.feed(event)
    else:
        reader.feed_message(message)
    return reader.turn()


@attrs.define
class _WireBlock:
    """A content block as it came, and the pieces that followed its start."""

    start: dict[str, Any]
    pieces: dict[str, list[str]] = attrs.field(factory=dict)
    stopped: bool = False

    def joined(self, name: str) -> str:
        return text(self.start.get(name)) + "".join(self.pieces.get(name, ()))

    @property
    def arguments(self) -> str:
        """The arguments of a call as the raw string; a call that was not cut has at least ``{}``."""
        raw = "".join(self.pieces.get("partial_json", ()))
        given = self.start.get("input")
        return raw or (arguments_text(given) if given or self.stopped else "")


@attrs.define
class MessageStreamReader:
    """Reads a streamed message event by event; events of kinds that it does not know are passed over."""

    _blocks: dict[int, _WireBlock] = attrs.field(factory=dict)
    _usage: Usage = attrs.field(factory=Usage)
    _stop_word: str | None = None
    _told: str = ""
    _failure: Failure | None = None

    def feed(self, event: Any) -> None:
        """Take in the next event."""
        match field(event, "type"):
            case "message_start":
                self.feed_message(field(event, "message"))
            case "content_block_start":
                start = plain(field(event, "content_block"))
                if isinstance(start, dict):
                    self._blocks[self._index(event)] = _WireBlock(dict(start))
            case "content_block_delta":
                self._feed_delta(self._index(event), field(event, "delta"))
            case "content_block_stop":
                block = self._blocks.get(self._index(event))
                if block is not None:
                    block.stopped = True
            case "message_delta":
                self._feed_end(field(event, "delta"), field(event, "usage"))
            case "error":
                self._failure = self._failure or error_within(event)
            case None:
                self._failure = self._failure or error_within(event)

    def feed_message(self, message: Any) -> None:
        """Take in a whole message, or the head of a streamed one."""
        for content in items(field(message, "content")):
            block = plain(content)
            if isinstance(block, dict):
                self._blocks[len(self._blocks)] = _WireBlock(dict(block), stopped=True)
        self._failure = self._failure or error_within(message)
        self._feed_end(message, field(message, "usage"))

    def turn(
        self,
        *,
        error: BaseException | None = None,
        failure: Failure | None = None,
        aborted: bool = False,
    ) -> Turn:
        """The turn so far. ``error`` or ``failure`` says what broke it off, ``aborted`` that the user did."""
        if self._failure is not None:
            stop = Stop(StopReason.ERROR, self._failure)
        else:
            stop = read_stop_word(self._stop_word, told=self._told)
        blocks = tuple(read for block in self._in_order() if (read := _block_of(block)) is not None)
        return turn_of(
            blocks, self._usage, stop, self._stop_word, error=error, failure=failure, aborted=aborted
        )

    def content(self) -> list[dict[str, Any]]:
        """The content blocks in the form in which a later request sends them back, signatures included.

        Left out is what a provider would refuse: blank text, and thinking whose signature did not arrive.
        """
        return [sent for block in self._in_order() if (sent := _sent_back(block)) is not None]

    def _in_order(self) -> list[_WireBlock]:
        return [self._blocks[index] for index in sorted(self._blocks)]

    def _index(self, event: Any) -> int:
        index = field(event, "index")
        return index if isinstance(index, int) else max(self._blocks, default=0)

    def _feed_delta(self, index: int, delta: Any) -> None:
        name = _DELTA_FIELDS.get(text(field(delta, "type")))
        block = self._blocks.get(index)
        if name is not None and block is not None:
            block.pieces.setdefault(name, []).append(text(field(delta, name)))

    def _feed_end(self, owner: Any, usage: Any) -> None:
        self._stop_word = text(field(owner, "stop_reason")) or self._stop_word
        self._told = text(field(field(owner, "stop_details"), "explanation")) or self._told
        if usage is not None:
            self._usage = with_known(self._usage, usage_of(usage))


def _block_of(block: _WireBlock) -> Block | None:
    """What a content block is to us; those of tools that the provider runs itself are nothing."""
    match block.start.get("type"):
        case "text":
            return Text(block.joined("text"))
        case "thinking":
            thinking = block.joined("thinking")
            return Reasoning(thinking, redacted=not thinking and bool(block.joined("signature")))
        case "redacted_thinking":
            return Reasoning("", redacted=True)
        case "tool_use":
            return ToolCall(text(block.start.get("id")), text(block.start.get("name")), block.arguments)
        case _:
            return None


def _sent_back(block: _WireBlock) -> dict[str, Any] | None:
    match block.start.get("type"):
        case "text":
            told = block.joined("text")
            return {**block.start, "text": told} if told.strip() else None
        case "thinking":
            signature = block.joined("signature")
            if not signature:
                return None
            return {**block.start, "thinking": block.joined("thinking"), "signature": signature}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return {**block.start, "input": arguments_object(block.arguments)}
        case _:
            return dict(block.start)


def arguments_object(arguments: str) -> dict[str, Any]:
    """Arguments as the object that a request needs; broken ones become an empty one."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def usage_of(usage: Any) -> Usage:
    """The tokens of a ``usage`` object; the input is what was read fresh and from or for a cache."""
    fresh, read_, written = (
        number(field(usage, name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    return Usage(
        input_tokens=None if fresh is None else fresh + (read_ or 0) + (written or 0),
        output_tokens=number(field(usage, "output_tokens")),
        cached_input_tokens=read_,
        reasoning_tokens=number(field(field(usage, "output_tokens_details"), "thinking_tokens")),
    )
