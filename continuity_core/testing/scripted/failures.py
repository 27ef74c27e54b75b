"""What the SDKs raise when a provider or a connection fails, by the same shape and words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class _HttpResponse:
    status_code: int
    headers: Mapping[str, str]


class HttpFailure(Exception):
    """An HTTP status instead of an answer; it has the attributes that SDKs give such an error."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        super().__init__(f"Error code: {status} - {body if isinstance(body, str) else json.dumps(body)}")
        self.status_code = status
        self.body = body
        self.response = _HttpResponse(status, headers)


def reset() -> Exception:
    """The connection is reset inside the body."""
    return ConnectionResetError(104, "Connection reset by peer")


def peer_closed() -> Exception:
    """The connection is closed inside the body."""
    return ConnectionError(
        "peer closed connection without sending complete message body (incomplete chunked read)"
    )


def broken_json() -> Exception:
    """The body ends inside an event."""
    return json.JSONDecodeError("Unterminated string starting at", '{"id": "chatcmpl', 8)


def silent() -> Exception:
    """Nothing came for the time of the idle timeout."""
    return TimeoutError("The read operation timed out")
