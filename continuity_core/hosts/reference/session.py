"""A session: one conversation with one model and its tools."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any, Literal

import anyio
import attrs

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import BaseRun
from continuity_core.engine.run import Run
from continuity_core.engine.waker import Waker
from continuity_core.hosts.reference.asking import Asking, NativeRetries
from continuity_core.hosts.reference.events import (
    Aborted,
    InputPickedUp,
    InputQueued,
    RunEnded,
    RunStarted,
    SessionEvent,
)
from continuity_core.hosts.reference.history import History, HistoryEntry
from continuity_core.hosts.reference.inbox import Inbox
from continuity_core.hosts.reference.models.base import Connection, Model, ModelRequest
from continuity_core.hosts.reference.outcome import SessionOutcome
from continuity_core.hosts.reference.run_loop import RunLoop
from continuity_core.hosts.reference.tools import Tool, Toolbox
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report
from continuity_core.model.stop_reason import StopReason

LOG = logging.getLogger("continuity.reference")


class AgentSession:
    """One conversation, with append-only history, over one model.

    ``tools`` are :class:`Tool` objects or plain functions. ``idle_timeout`` turns a stream without a byte for
    so many seconds into a failure. ``native_retries`` are the session's own, of requests that failed before
    their body. ``on_event`` is told of every step; what it raises is logged. ``name`` is the session's name
    for continuity.

    A request carries the whole history but for what continuity leaves out and what every provider would
    refuse: an empty assistant, one with unanswered calls, a result without its call.
    """

    def __init__(
        self,
        model: Model,
        *,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        continuity: Continuity | None = None,
        instructions: str | None = None,
        stream: bool = True,
        idle_timeout: float | None = 120.0,
        native_retries: int = 0,
        native_delay: float = 0.0,
        on_event: Callable[[SessionEvent], None] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name or f"reference-{secrets.token_hex(6)}"
        self.on_event = on_event
        self._model = model
        self._continuity = continuity
        self._toolbox = Toolbox.of(tuple(tools))
        self._request = ModelRequest(
            entries=(),
            instructions=instructions,
            tools=tuple(self._toolbox.tools.values()),
            max_output_tokens=model.max_output_tokens,
            stream=stream,
            idle_timeout=idle_timeout,
        )
        self._retries = NativeRetries(count=native_retries, delay=native_delay)
        self._history = History()
        self._inbox = Inbox()
        self._waker = Waker()
        self._continuity_run: Run | None = None

    # ---------------------------------------------------------------- what may be looked at

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """Every entry so far; entries are only ever added, and never change."""
        return self._history.entries

    @property
    def continuity_run(self) -> Run | None:
        """Continuity's run that goes on, e.g. as the parent of a sub-agent's."""
        return self._continuity_run

    # ---------------------------------------------------------------- running

    async def run(
        self, prompt: str, *, deadline: datetime | None = None, parent: BaseRun | None = None
    ) -> SessionOutcome:
        """One real user request, to its end. A follow-up that arrives meanwhile is run after it.

        A failed run is an outcome, not an exception. ``deadline`` (aware) is when the caller stops waiting,
        ``parent`` the run of continuity that a sub-agent works for. Raises ``RuntimeError`` where the session
        is running already, :class:`IncompleteRun` where continuity's settings ask for it.
        """
        self._open()
        start = partial(self._start_run, deadline, parent)
        earlier: tuple[SessionOutcome, ...] = ()
        try:
            async with self._model.connect() as connection:
                while True:
                    outcome, incomplete = await self._run_one(connection, prompt, start)
                    unsent = self._inbox.close() if outcome.aborted else ()
                    self._emit(RunEnded(attrs.evolve(outcome, earlier=earlier, unsent=unsent)))
                    following = self._inbox.take_next_or_close()
                    if following is None:
                        break
                    self._emit(InputPickedUp("follow_up", following))
                    earlier, prompt = (*earlier, outcome), following
        finally:
            self._inbox.close()
        if incomplete is not None:
            raise incomplete
        return attrs.evolve(outcome, earlier=earlier, unsent=unsent)

    def run_sync(
        self,
        prompt: str,
        *,
        deadline: datetime | None = None,
        backend: Literal["asyncio", "trio"] = "asyncio",
    ) -> SessionOutcome:
        """The same on the caller's thread, in an event loop of its own. Not to be called where one runs."""
        return anyio.run(partial(self.run, prompt, deadline=deadline), backend=backend)

    # ---------------------------------------------------------------- while it runs, from any thread

    def steer(self, text: str) -> None:
        """Say something that the model sees after the current turn, in the same run."""
        self._queue("steer", text)

    def follow_up(self, text: str) -> None:
        """Say something that is run when the current run would end or has failed."""
        self._queue("follow_up", text)

    def abort(self) -> None:
        """End what goes on: the request, the tools, the wait. Nothing more is requested."""
        with self._inbox.lock:
            if not self._inbox.is_open or self._waker.is_woken():
                return
            if self._continuity_run is not None:
                self._continuity_run.abort()
            self._waker.wake("abort")
        self._emit(Aborted())

    def _queue(self, kind: InputKind, text: str) -> None:
        with self._inbox.lock:
            if not self._inbox.is_open:
                raise RuntimeError(f"session {self.name} is not running: give the text to run(...)")
            if self._waker.is_woken():
                raise RuntimeError(
                    f"session {self.name} is being aborted: give the text to the next run(...)"
                )
            if self._continuity_run is not None:
                self._continuity_run.input_arrived(kind)
            self._inbox.put(kind, text)
        self._emit(InputQueued(kind, text))

    # ---------------------------------------------------------------- inside

    def _open(self) -> None:
        with self._inbox.lock:
            if self._inbox.is_open:
                raise RuntimeError(
                    f"session {self.name} is running: use steer(...) or follow_up(...), or another session"
                )
            self._inbox.is_open = True
            self._waker = Waker()

    def _start_run(self, deadline: datetime | None, parent: BaseRun | None) -> Run | None:
        if self._continuity is None:
            return None
        return self._continuity.start_run(self.name, parent=parent, deadline=deadline)

    async def _run_one(
        self, connection: Connection, prompt: str, start: Callable[[], Run | None]
    ) -> tuple[SessionOutcome, IncompleteRun | None]:
        self._emit(RunStarted(prompt))
        run = self._continuity_run = start()
        if run is not None and self._waker.is_woken():
            run.abort()
        asking = Asking(connection=connection, retries=self._retries, waker=self._waker, emit=self._emit)
        loop = RunLoop(
            asking=asking,
            request=self._request,
            toolbox=self._toolbox,
            history=self._history,
            inbox=self._inbox,
            waker=self._waker,
            emit=self._emit,
            run=run,
        )
        try:
            await loop.to_end(prompt)
            report, incomplete = _settle(run, loop.error)
        except BaseException as error:
            _give_up(run, error)
            raise
        finally:
            self._continuity_run = None
        turn, aborted = loop.turn, loop.is_aborted()
        outcome = SessionOutcome(
            prompt=prompt,
            text="" if turn is None else turn.text,
            stop_reason=StopReason.ABORTED if aborted or turn is None else turn.stop_reason,
            failure=None if turn is None else turn.failure,
            aborted=aborted,
            turn=turn,
            tools_run=dict(loop.tools_run),
            halted=loop.halted,
            report=report,
        )
        return outcome, incomplete

    def _emit(self, event: SessionEvent) -> None:
        if self.on_event is None:
            return
        try:
            self.on_event(event)
        except Exception:
            LOG.exception("on_event of session %s failed at %s", self.name, type(event).__name__)


def _settle(run: Run | None, error: Exception | None) -> tuple[Report | None, IncompleteRun | None]:
    if run is None:
        return None, None
    try:
        return run.settled(error=error), None
    except IncompleteRun as incomplete:
        return incomplete.report, incomplete


def _give_up(run: Run | None, error: BaseException) -> None:
    """The run is cancelled from outside, or something broke that is not the model's."""
    if run is not None:
        run.__exit__(type(error), error, None)
