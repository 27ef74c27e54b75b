"""Telling the two formats apart, for callers that do not say which one they use."""

from __future__ import annotations

from typing import Any, Protocol

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.reading import anthropic_messages, openai_chat
from continuity_core.model.reading.anthropic_messages import MessageStreamReader
from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.fields import field, items
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.turn import Turn


class StreamReader(Protocol):
    """Reads a streamed response piece by piece."""

    def feed(self, piece: Any, /) -> None:
        """Take in the next chunk or event."""
        ...

    def turn(
        self,
        *,
        error: BaseException | None = None,
        failure: Failure | None = None,
        aborted: bool = False,
    ) -> Turn:
        """The turn so far. ``error`` or ``failure`` says what broke it off, ``aborted`` that the user did."""
        ...


def read_response(response: Any) -> Turn:
    """The turn of a response of the ``openai`` or ``anthropic`` SDK, or of a list of chunks or events.

    Raises ``TypeError`` where the response is of neither format.
    """
    if isinstance(response, list | tuple):
        reader = stream_reader()
        for piece in response:
            reader.feed(piece)
        return reader.turn()
    if isinstance(response, str | bytes):
        return openai_chat.read(response)
    if _is_chat(response):
        return openai_chat.read(response)
    if field(response, "type") in ("message", "error") or field(response, "stop_reason") is not None:
        return anthropic_messages.read(response)
    if error_within(response) is not None:
        return openai_chat.read(response)
    raise TypeError(
        f"a {type(response).__qualname__} is neither a chat completion nor an Anthropic message: "
        "give the SDK's response, the list of its chunks or events, or a Turn"
    )


def stream_reader() -> StreamReader:
    """A reader for a stream of either format; its first piece that has a format decides."""
    return _EitherReader()


@attrs.define
class _EitherReader:
    """Holds the reader of the format once it is known."""

    _reader: StreamReader | None = None
    _early: list[Any] = attrs.field(factory=list)

    def feed(self, piece: Any, /) -> None:
        if self._reader is None:
            self._reader = _reader_for(piece)
            if self._reader is None:
                self._early.append(piece)
                return
            for early in self._early:
                self._reader.feed(early)
        self._reader.feed(piece)

    def turn(
        self,
        *,
        error: BaseException | None = None,
        failure: Failure | None = None,
        aborted: bool = False,
    ) -> Turn:
        reader = self._reader
        if reader is None:
            reader = ChatStreamReader()
            for early in self._early:
                reader.feed(early)
        return reader.turn(error=error, failure=failure, aborted=aborted)


def _reader_for(piece: Any) -> StreamReader | None:
    kind = field(piece, "type")
    if _is_chat(piece):
        return ChatStreamReader()
    return MessageStreamReader() if isinstance(kind, str) and kind else None


def _is_chat(piece: Any) -> bool:
    kind = field(piece, "object")
    return (isinstance(kind, str) and kind.startswith("chat.completion")) or bool(
        items(field(piece, "choices"))
    )
