"""The server itself: connections, the script, and what was received."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc

from continuity_core.testing.fault_server.dialects import Dialect, dialect_of
from continuity_core.testing.fault_server.holds import Hold
from continuity_core.testing.fault_server.http1 import HttpConnection, HttpRequest, RefusedRequestError
from continuity_core.testing.fault_server.playing import play, send_json
from continuity_core.testing.fault_server.requests import DecodedRequest, LoggedRequest
from continuity_core.testing.fault_server.responses import Response
from continuity_core.testing.fault_server.script import parse_script
from continuity_core.testing.fault_server.sockets import ClientGoneError, Wire, accept, listen
from continuity_core.testing.fault_server.validation import conversation_problems

if TYPE_CHECKING:
    from continuity_core.testing.fault_server.threaded import ThreadedFaultServer

MOST_REQUEST_BYTES = 8 * 1024 * 1024


class FaultServer:
    """A model provider on loopback that answers each HTTP request with the next scripted response.

    It speaks OpenAI chat completions and Anthropic Messages to the real SDK clients, streaming and not, and
    breaks off at the byte level where the script says so::

        async with FaultServer([{"text": "half an ans", "cut": "rst"}, {"text": "done"}]) as server:
            client = AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0)

    Every request is checked as a provider would check it. An invalid one takes its place in the script, but
    is answered with HTTP 400; one beyond the script with HTTP 500. Both are violations.

    Args:
        script: responses, or mappings as a scenario file writes them.
        most_request_bytes: a larger request body is refused with HTTP 413.

    Raises:
        ScriptError: naming each response that cannot be played, its key and why.
    """

    def __init__(
        self,
        script: Iterable[Response | Mapping[str, Any]] = (),
        *,
        most_request_bytes: int = MOST_REQUEST_BYTES,
    ) -> None:
        self._most_request_bytes = most_request_bytes
        self._busy: dict[HttpConnection, anyio.CancelScope] = {}
        self._listener: socket.socket | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self._port = 0
        self.play(script)

    @classmethod
    def in_thread(
        cls,
        script: Iterable[Response | Mapping[str, Any]] = (),
        *,
        most_request_bytes: int = MOST_REQUEST_BYTES,
    ) -> ThreadedFaultServer:
        """The same server in a thread of its own, for synchronous code and for other processes."""
        from continuity_core.testing.fault_server.threaded import ThreadedFaultServer

        return ThreadedFaultServer(cls(script, most_request_bytes=most_request_bytes))

    async def __aenter__(self) -> FaultServer:
        if self._listener is not None:
            raise RuntimeError("the fault server is running already")
        self._listener = listen()
        self._port = self._listener.getsockname()[1]
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._accept_connections, self._listener, self._tasks)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        assert self._tasks is not None
        assert self._listener is not None
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            if group.exceptions == (error,):
                return False
            raise
        finally:
            self._listener.close()
            self._listener = self._tasks = None

    @property
    def root_url(self) -> str:
        """Where the server is, e.g. for the ``anthropic`` SDK, which adds ``/v1`` by itself."""
        if self._listener is None:
            raise RuntimeError("the fault server is not running; enter it with: async with FaultServer(…)")
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The same with ``/v1``, e.g. for the ``openai`` SDK."""
        return f"{self.root_url}/v1"

    @property
    def requests(self) -> list[LoggedRequest]:
        """Every request for a response of the current script, in order."""
        return list(self._requests)

    @property
    def violations(self) -> list[str]:
        """What no provider would have accepted, and requests beyond the script."""
        return list(self._violations)

    @property
    def unserved(self) -> list[str]:
        """Other requests that came, e.g. ``GET /v1/models (404)``; they take no response."""
        return list(self._unserved)

    def play(self, script: Iterable[Response | Mapping[str, Any]]) -> None:
        """Start anew with another script: logs and holds are emptied, unfinished responses broken off."""
        self._script = parse_script(script)
        self._requests: list[LoggedRequest] = []
        self._violations: list[str] = []
        self._unserved: list[str] = []
        self._holds: dict[int, Hold] = {}
        for connection, scope in self._busy.items():
            # One whose response is out may be in its client's pool already, and stays.
            if not connection.has_responded:
                scope.cancel()

    def hold(self, number: int) -> Hold:
        """Hold back the response of that number, from 1; call it before its request arrives."""
        if not 1 <= number <= len(self._script):
            raise ValueError(f"response {number} cannot be held: the script has {len(self._script)}")
        if number <= len(self._requests):
            raise ValueError(f"response {number} cannot be held: its request has been received already")
        return self._holds.setdefault(number, Hold(number))

    def response_to(self, request: LoggedRequest) -> Response | None:
        """What answers a request; ``None``: nothing does. A subclass may decide when the request is there."""
        return self._script[request.number - 1] if request.number <= len(self._script) else None

    async def _accept_connections(self, listener: socket.socket, tasks: anyio.abc.TaskGroup) -> None:
        while True:
            tasks.start_soon(self._serve, await accept(listener))

    async def _serve(self, wire: Wire) -> None:
        connection = HttpConnection(wire, self._most_request_bytes)
        try:
            while (request := await connection.next_request()) is not None:
                reusable = False
                with anyio.CancelScope() as scope:
                    self._busy[connection] = scope
                    try:
                        reusable = await self._answer(request, connection)
                    finally:
                        del self._busy[connection]
                if not reusable:
                    return
        except RefusedRequestError as refusal:
            self._unserved.append(f"{refusal} ({refusal.status})")
            await self._refuse(refusal, connection)
        except ClientGoneError:
            pass
        finally:
            wire.close()

    async def _refuse(self, refusal: RefusedRequestError, connection: HttpConnection) -> None:
        try:
            body = str(refusal).encode("utf-8", "replace")
            await connection.respond(
                refusal.status, [("content-type", "text/plain"), ("connection", "close")], body
            )
        except ClientGoneError:
            return
        await connection.finish()

    async def _answer(self, request: HttpRequest, connection: HttpConnection) -> bool:
        dialect = dialect_of(request.path)
        if dialect is None or request.method != "POST":
            status = 404 if dialect is None else 405
            self._unserved.append(f"{request.method} {request.path} ({status})")
            await send_json(
                connection, status, {"error": {"message": "no such endpoint", "type": "not_found"}}
            )
            return True
        logged = self._log(request, dialect)
        response = self.response_to(logged)
        if response is None:
            number, scripted = logged.number, len(self._script)
            self._violations.append(f"request {number}: beyond the script of {scripted} responses")
        if logged.problems:
            error = {"type": "invalid_request_error", "message": "; ".join(logged.problems)}
            await send_json(connection, 400, dialect.error_body(error))
            return True
        if response is None:
            error = {"type": "api_error", "message": self._violations[-1]}
            await send_json(connection, 500, dialect.error_body(error))
            return True
        return await play(
            response,
            number=logged.number,
            request=logged.decoded,
            dialect=dialect,
            connection=connection,
            hold=self._holds.get(logged.number),
        )

    def _log(self, request: HttpRequest, dialect: Dialect) -> LoggedRequest:
        number = len(self._requests) + 1
        decoded, problems = _decode(request.body, dialect)
        logged = LoggedRequest(
            number=number,
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=request.body,
            dialect=dialect.name,
            decoded=decoded,
            problems=problems,
        )
        self._requests.append(logged)
        self._violations.extend(f"request {number}: {problem}" for problem in problems)
        return logged


def _decode(body: bytes, dialect: Dialect) -> tuple[DecodedRequest, tuple[str, ...]]:
    """The request, and why a provider would refuse it."""
    try:
        payload = json.loads(body)
        if not isinstance(payload, dict):
            raise ValueError("the body is no JSON object")
        decoded = dialect.decode(payload)
    except (ValueError, RecursionError) as error:
        return DecodedRequest(), (f"malformed: {error}",)
    return decoded, conversation_problems(decoded.messages)
