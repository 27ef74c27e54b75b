"""What a dialect does: write a scripted response in its wire format, and read a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from continuity_core.testing.fault_server.requests import DecodedRequest
from continuity_core.testing.fault_server.responses import ModelResponse

CREATED = 1_772_366_400
"""Unix time that responses carry: 2026-03-01T12:00:00Z."""

_PIECES = 4


@attrs.frozen(kw_only=True)
class ResponseContext:
    """What a response has to know of the request that it answers."""

    number: int
    """The number of the request; makes ids unique within a script."""
    model: str
    input_tokens: int
    output_tokens: int
    streams_usage: bool = True


@attrs.frozen(kw_only=True)
class EncodedResponse:
    """The body of a response in pieces, each of which is sent by itself.

    ``content + closing`` is a body without a finish reason, ``content + closing + finish`` a whole one; a cut
    comes after ``content``.
    """

    content: tuple[bytes, ...]
    """Everything up to the last bit of text, reasoning or arguments."""
    halfway: int
    """How many pieces of ``content`` carry about half of the text."""
    closing: tuple[bytes, ...] = ()
    """Ends the last block where a dialect has blocks."""
    finish: tuple[bytes, ...] = ()
    """The finish reason, the usage and the end mark."""


class Dialect(Protocol):
    """One wire format. Implementations hold no state."""

    @property
    def name(self) -> str:
        """Short name, as a logged request gives it."""
        ...

    @property
    def endpoint(self) -> str:
        """The end of the path at which it is served."""
        ...

    def decode(self, payload: Mapping[str, Any]) -> DecodedRequest:
        """Read a request's body; ``ValueError`` says why it cannot be one."""
        ...

    def plain(self, response: ModelResponse, context: ResponseContext) -> dict[str, Any]:
        """The body of a response without streaming; ``no_finish`` leaves the finish reason ``None``."""
        ...

    def stream(self, response: ModelResponse, context: ResponseContext) -> EncodedResponse:
        """The server-sent events of a streamed response."""
        ...

    def error_body(self, error: Any) -> dict[str, Any]:
        """The body of an HTTP error."""
        ...

    def error_event(self, error: Any) -> bytes:
        """An error in the middle of a stream."""
        ...


def split(text: str, pieces: int = _PIECES) -> tuple[str, ...]:
    """``text`` in at most that many pieces of nearly equal length, none of them empty."""
    size = -(-len(text) // pieces)
    return tuple(text[start : start + size] for start in range(0, len(text), size or 1))


def json_bytes(value: Any) -> bytes:
    """JSON in ASCII, so that a cut never falls inside a character."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if name is None else b"event: " + name.encode("ascii") + b"\n"
    return head + b"data: " + json_bytes(data) + b"\n\n"


def whole_number(value: object) -> int | None:
    """``value`` if it is a whole number, else ``None``."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
