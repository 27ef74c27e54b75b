"""Asking the model, with the session's own retries."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import attrs

from continuity_core.engine.waker import Waker
from continuity_core.hosts.reference.events import RequestRetried, RequestStarted, SessionEvent, TextDelta
from continuity_core.hosts.reference.interruption import interruptible
from continuity_core.hosts.reference.models.base import Connection, ModelCall, ModelRequest
from continuity_core.model.failure import Failure
from continuity_core.model.turn import Turn

_RETRIED_STATUSES = frozenset({408, 409, 429})
_CONNECT_ERRORS = ("ConnectError", "ConnectTimeout")


@attrs.frozen(kw_only=True)
class NativeRetries:
    """The session's own retries of one request: the same for every run, and without regard to continuity."""

    count: int = 0
    delay: float = 0.0
    """Seconds before each."""


@attrs.frozen(kw_only=True)
class Answer:
    """What came of a request."""

    turn: Turn
    wire: str | None
    error: Exception | None = None
    """What the SDK raised, where the turn failed by it."""


@attrs.define(kw_only=True, eq=False)
class Asking:
    """Asks one connection; an abort ends a request at once."""

    connection: Connection
    retries: NativeRetries
    waker: Waker
    emit: Callable[[SessionEvent], None]
    _call: ModelCall | None = None

    async def ask(self, request: ModelRequest) -> Answer:
        """The turn, however it ended; the model's errors are never raised."""
        attempt = 1
        while True:
            self.emit(RequestStarted(entries=request.entries, attempt=attempt))
            call = self._call = self.connection.call(request)
            answer = await self._once(call)
            failure = answer.turn.failure
            retried = attempt <= self.retries.count and answer.error is not None and not call.began
            if retried and failure is not None and is_retried(failure) and not self.waker.is_woken():
                self.emit(RequestRetried(failure))
                await interruptible(self.waker, self._pause)
                if not self.waker.is_woken():
                    attempt += 1
                    continue
                answer = attrs.evolve(answer, turn=call.turn(error=answer.error, aborted=True))
            return attrs.evolve(answer, turn=attrs.evolve(answer.turn, requests=attempt))

    def cut_short(self) -> Answer | None:
        """What had come of the request when the task was cancelled from outside."""
        call = self._call
        return None if call is None else Answer(turn=call.turn(aborted=True), wire=call.wire)

    async def _once(self, call: ModelCall) -> Answer:
        try:
            done = await interruptible(self.waker, lambda: call.run(lambda text: self.emit(TextDelta(text))))
        except Exception as error:
            turn = call.turn(error=error, aborted=self.waker.is_woken())
            return Answer(turn=turn, wire=call.wire, error=error)
        return Answer(turn=call.turn(aborted=not done), wire=call.wire)

    async def _pause(self) -> None:
        await anyio.sleep(self.retries.delay)


def is_retried(failure: Failure) -> bool:
    """Whether the request is sent again: no connection, or HTTP 408, 409, 429 or 5xx.

    The provider's ``x-should-retry: false`` is heeded.
    """
    if failure.headers.get("x-should-retry") == "false":
        return False
    if failure.status is None:
        return any(name.rpartition(".")[2] in _CONNECT_ERRORS for name in failure.exceptions)
    return failure.status in _RETRIED_STATUSES or failure.status >= 500
