"""The HTTP/1.1 side of one connection: requests parsed and responses framed by h11."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core.testing.fault_server.sockets import ClientGoneError, Wire

try:
    import h11
except ModuleNotFoundError as error:  # pragma: no cover
    raise ModuleNotFoundError(
        "the fault server needs h11; install it with: pip install 'continuity-core[demo]'", name="h11"
    ) from error

_MOST_HEADER_BYTES = 65_536
_WITHOUT_BODY = frozenset({204, 304})


class RefusedRequestError(Exception):
    """What was received cannot be answered; ``status`` is the HTTP status to refuse it with."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@attrs.frozen(kw_only=True)
class HttpRequest:
    """A request as received."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = attrs.field(repr=False)


class HttpConnection:
    """One connection, from request to request."""

    def __init__(self, wire: Wire, most_body_bytes: int) -> None:
        self._wire = wire
        self._most_body_bytes = most_body_bytes
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_HEADER_BYTES)

    async def next_request(self) -> HttpRequest | None:
        """The next request with its whole body; ``None`` when the client has closed the connection.

        Raises:
            RefusedRequestError: malformed, too large, or of another version of HTTP.
            ClientGoneError: the connection ended inside a request.
        """
        if self._h11.our_state is h11.DONE and self._h11.their_state is h11.DONE:
            self._h11.start_next_cycle()
        elif self._h11.our_state is not h11.IDLE:
            return None
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            return None
        if head.http_version != b"1.1":
            raise RefusedRequestError(505, "only HTTP/1.1 is spoken here")
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            body += event.data
            if len(body) > self._most_body_bytes:
                raise RefusedRequestError(413, f"the body is larger than {self._most_body_bytes} bytes")
        return HttpRequest(
            method=head.method.decode("ascii"),
            path=head.target.decode("ascii"),
            headers=tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in head.headers),
            body=bytes(body),
        )

    async def _next_event(self) -> object:
        """What comes next from the client."""
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                if self._at_eof:
                    raise ClientGoneError from error
                raise RefusedRequestError(error.error_status_hint, str(error)) from error
            if isinstance(event, h11.Event) or event is h11.PAUSED:
                return event
            if self._h11.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._h11.receive_data(await self._wire.receive())

    @property
    def _at_eof(self) -> bool:
        return self._h11.trailing_data[1]

    async def start(self, status: int, content_type: str) -> None:
        """Send the head of a response whose body follows in chunks."""
        await self._send(
            h11.Response(
                status_code=status,
                headers=[("content-type", content_type), ("transfer-encoding", "chunked")],
            )
        )

    async def send(self, pieces: Iterable[bytes]) -> None:
        """Send pieces of the body, each in a chunk of its own."""
        for piece in pieces:
            await self._send(h11.Data(data=piece))

    async def end(self) -> None:
        """End the body properly; the connection may be used again."""
        await self._send(h11.EndOfMessage())

    async def respond(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Send a whole response of known length."""
        if status in _WITHOUT_BODY:
            body = b""
            framed = list(headers)
        else:
            framed = [*headers, ("content-length", str(len(body)))]
        head = h11.Response(status_code=status, headers=framed)
        await self._send(head, *([h11.Data(data=body)] if body else []), h11.EndOfMessage())

    @property
    def has_responded(self) -> bool:
        """Whether the response to the last request ended properly, but for bytes on their way."""
        return self._h11.our_state in (h11.DONE, h11.MUST_CLOSE)

    async def reset(self) -> None:
        """Break off by RST."""
        await self._wire.reset()

    async def finish(self) -> None:
        """Break off, or say good-bye, by FIN."""
        await self._wire.finish()

    async def client_gone(self) -> None:
        """Return when the client has closed or reset the connection; what it sends until then is kept."""
        kept = 0
        while data := await self._wire.receive():
            kept += len(data)
            if kept > self._most_body_bytes:
                return
            self._h11.receive_data(data)

    async def _send(self, *events: h11.Event) -> None:
        data = b"".join(self._h11.send(event) or b"" for event in events)
        if data:
            await self._wire.send(data)
