"""Playing one scripted response on a connection, faults included."""

from __future__ import annotations

from typing import Any

from continuity_core.testing.fault_server.dialects.base import (
    Dialect,
    EncodedResponse,
    ResponseContext,
    json_bytes,
)
from continuity_core.testing.fault_server.holds import Hold
from continuity_core.testing.fault_server.http1 import HttpConnection
from continuity_core.testing.fault_server.requests import DecodedRequest
from continuity_core.testing.fault_server.responses import Cut, HttpResponse, ModelResponse, Response

_JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"


async def play(
    response: Response,
    *,
    number: int,
    request: DecodedRequest,
    dialect: Dialect,
    connection: HttpConnection,
    hold: Hold | None,
) -> bool:
    """Send the response, whole or broken as scripted, and say whether the connection can be used again.

    Raises:
        ClientGoneError: the client went before the end.
    """
    if hold is not None and (isinstance(response, HttpResponse) or not _is_cut_in_text(response, request)):
        await hold.keep(connection)
        hold = None
    if isinstance(response, HttpResponse):
        await _play_http(response, connection)
        return True
    if response.sse_error is not None and not request.stream:
        await send_json(connection, response.status, dialect.error_body(response.sse_error))
        return True
    encoded = _encoded(response, number, request, dialect)
    await connection.start(200, _EVENTS if request.stream else _JSON)
    if response.has_content or not response.hang:
        await connection.send(encoded.content[: encoded.halfway])
        if hold is not None:
            await hold.keep(connection)
        await connection.send(encoded.content[encoded.halfway :])
    if response.hang:
        await connection.client_gone()
        return False
    if response.cut is Cut.RST:
        await connection.reset()
        return False
    if response.cut is Cut.FIN:
        await connection.finish()
        return False
    if response.sse_error is not None:
        await connection.send([dialect.error_event(response.sse_error)])
    elif response.cut is Cut.MID_JSON:
        following = (*encoded.closing, *encoded.finish)[0]
        await connection.send([following[: len(following) // 2]])
    else:
        await connection.send(encoded.closing)
        if response.cut is not Cut.NO_FINISH:
            await connection.send(encoded.finish)
    await connection.end()
    return True


async def send_json(connection: HttpConnection, status: int, body: Any) -> None:
    """Send a whole JSON response."""
    await connection.respond(status, [("content-type", _JSON)], json_bytes(body))


def _is_cut_in_text(response: ModelResponse, request: DecodedRequest) -> bool:
    """Whether the response sends text in the middle of which it can be held."""
    return bool(response.text) and (request.stream or response.sse_error is None)


def _encoded(
    response: ModelResponse, number: int, request: DecodedRequest, dialect: Dialect
) -> EncodedResponse:
    input_tokens, output_tokens = response.tokens(request.output_limit)
    context = ResponseContext(
        number=number,
        model=request.model,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        streams_usage=request.streams_usage,
    )
    if request.stream:
        return dialect.stream(response, context)
    body = json_bytes(dialect.plain(response, context))
    half = len(body) // 2
    return EncodedResponse(content=(body[:half],), halfway=1, closing=(body[half:],))


async def _play_http(response: HttpResponse, connection: HttpConnection) -> None:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if isinstance(response.body, str):
        headers.setdefault("content-type", "text/html; charset=utf-8")
        body = response.body.encode("utf-8", "surrogatepass")
    elif response.body is None:
        body = b""
    else:
        headers.setdefault("content-type", _JSON)
        body = json_bytes(response.body)
    await connection.respond(response.status, headers.items(), body)
