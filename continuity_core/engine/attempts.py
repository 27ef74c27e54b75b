"""The plain loop: attempts at one model turn, as in tenacity, for people without a framework."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import attrs

from continuity_core.engine.results import BoundaryResult
from continuity_core.model.decisions import Adjust
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.messages import apply_projection, entries_of
from continuity_core.model.reading import StreamReader, read_response, stream_reader
from continuity_core.model.turn import Turn

if TYPE_CHECKING:
    from continuity_core.engine.run import Run, SyncRun

_MISTAKES = (
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
)
"""Errors of the caller's own code: they are raised at once, since asking again brings them again."""


class AttemptError(RuntimeError):
    """The body of an attempt did not say how the model call ended."""


@attrs.define(kw_only=True, eq=False)
class Attempt:
    """One model call. Use it as a context manager around the call, and give the response to :meth:`ended`."""

    number: int
    """From 1."""
    messages: list[Any]
    """What to send: the caller's messages without what must not reach the model."""
    adjust: Adjust | None = None
    """Request settings that a plugin asks for in this attempt."""
    result: Any = None
    """What :meth:`ended` was given."""
    turn: Turn | None = None
    """The turn, once the attempt ended."""
    error: Exception | None = None
    """What the model call raised."""
    _reader: StreamReader | None = None

    def ended(self, response: Any) -> None:
        """Say what the call brought: a response of the ``openai`` or ``anthropic`` SDK, or a :class:`Turn`.

        Raises ``TypeError`` where the response cannot be read.
        """
        self.turn = response if isinstance(response, Turn) else read_response(response)
        self.result = response

    async def stream(self, stream: Any) -> AsyncIterator[Any]:
        """Pass a streamed response on chunk by chunk; the turn is read on the way.

        A stream that ends without a finish reason makes a failed turn.
        """
        self._reader = stream_reader()
        async for chunk in stream:
            self._reader.feed(chunk)
            yield chunk
        self.turn = self._reader.turn()

    def stream_sync(self, stream: Any) -> Iterator[Any]:
        """The same for a synchronous client."""
        self._reader = stream_reader()
        for chunk in stream:
            self._reader.feed(chunk)
            yield chunk
        self.turn = self._reader.turn()

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if error is None:
            if self.turn is None:
                raise AttemptError(
                    f"attempt {self.number} ended without a response: call attempt.ended(response) in its "
                    "body, or read a streamed response to its end through attempt.stream(...)"
                )
            return False
        if not isinstance(error, Exception) or isinstance(error, _MISTAKES) or self.turn is not None:
            return False
        self.error = error
        partial = None if self._reader is None else self._reader.turn(error=error)
        self.turn = partial or Turn.from_exception(error)
        return True


@attrs.define(kw_only=True, eq=False)
class _Attempts:
    """What async and sync attempts share."""

    messages: Sequence[Any]
    host: HostFacts
    attempt: Attempt | None = None
    over: bool = False
    """No attempt follows anymore."""

    def next_attempt(self, run: Run | SyncRun, adjust: Adjust | None) -> Attempt:
        entries = entries_of(self.messages)
        result = run.project(entries)
        messages = (
            apply_projection(self.messages, result.entries, result.replaced)
            if result.changed
            else list(self.messages)
        )
        number = 1 if self.attempt is None else self.attempt.number + 1
        self.attempt = Attempt(number=number, messages=messages, adjust=adjust)
        return self.attempt

    def finished(self) -> Turn:
        assert self.attempt is not None
        if self.attempt.turn is None:
            raise AttemptError(
                f"attempt {self.attempt.number} was not made: use `with attempt:` around the model call"
            )
        return self.attempt.turn

    def goes_on(self, result: BoundaryResult, turn: Turn) -> bool | None:
        """Whether another attempt follows; ``None`` where the boundary before settling has to be asked."""
        if result.resume:
            return True
        if result.end_run is not None or (turn.executable_calls and turn.failure is None):
            return False
        return None

    def give_up(self) -> None:
        """Hand the caller what the model call itself raised, if it did."""
        assert self.attempt is not None
        self.over = True
        if self.attempt.error is not None:
            raise self.attempt.error


class AsyncAttempts(AsyncIterator[Attempt]):
    """Attempts at one model turn. See :meth:`continuity_core.Run.attempts`."""

    def __init__(self, run: Run, messages: Sequence[Any], host: HostFacts) -> None:
        self._run = run
        self._shared = _Attempts(messages=messages, host=host)

    async def __anext__(self) -> Attempt:
        shared, run = self._shared, self._run
        if shared.over or (shared.attempt is None and run.is_over):
            raise StopAsyncIteration
        if shared.attempt is None:
            return shared.next_attempt(run, None)
        turn = shared.finished()
        result = await run.turn_ended(turn, shared.host)
        again = shared.goes_on(result, turn)
        if again is None and not run.aborted:
            result = await run.before_settle(shared.host)
            again = result.resume
        if again:
            return shared.next_attempt(run, result.adjust)
        shared.give_up()
        raise StopAsyncIteration


class SyncAttempts(Iterator[Attempt]):
    """Attempts at one model turn. See :meth:`continuity_core.SyncRun.attempts`."""

    def __init__(self, run: SyncRun, messages: Sequence[Any], host: HostFacts) -> None:
        self._run = run
        self._shared = _Attempts(messages=messages, host=host)

    def __next__(self) -> Attempt:
        shared, run = self._shared, self._run
        if shared.over or (shared.attempt is None and run.is_over):
            raise StopIteration
        if shared.attempt is None:
            return shared.next_attempt(run, None)
        turn = shared.finished()
        result = run.turn_ended(turn, shared.host)
        again = shared.goes_on(result, turn)
        if again is None and not run.aborted:
            result = run.before_settle(shared.host)
            again = result.resume
        if again:
            return shared.next_attempt(run, result.adjust)
        shared.give_up()
        raise StopIteration
