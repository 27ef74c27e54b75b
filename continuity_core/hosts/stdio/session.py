"""One session of a client: its continuity, its run, its history, and what the client is told meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from continuity_core.continuity import Continuity
from continuity_core.engine.run import Run
from continuity_core.hosts.stdio.rpc import Code, RpcError
from continuity_core.hosts.stdio.transcript import Transcript
from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import Event, EventKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report, RunOutcome
from continuity_core.observe.progress import line_of

PROGRESS_SECONDS = 1.0
"""Real seconds between two notices of a wait that is held; they also show that the server is alive."""

Notify = Callable[[str, Mapping[str, JSONValue]], None]


class HostedSession:
    """A session of the client. Only ``turn_ended`` takes time; everything else is done at once."""

    def __init__(self, name: str, notify: Notify, events: frozenset[str] | None) -> None:
        self.name = name
        self.transcript = Transcript()
        self._notify = notify
        self._events = events
        self._continuity: Continuity | None = None
        self._run: Run | None = None
        self._budgets: Mapping[str, JSONValue] | None = None
        self._report: Report | None = None
        self._progress: asyncio.Task[None] | None = None

    def attach(self, continuity: Continuity) -> None:
        """Take the plugins and settings; called once, before anything else."""
        self._continuity = continuity

    @property
    def continuity(self) -> Continuity:
        """The plugins and settings of this session."""
        assert self._continuity is not None
        return self._continuity

    # ---------------------------------------------------------------- runs

    @property
    def run(self) -> Run:
        """The run that goes on. Raises :class:`RpcError` where there is none."""
        if self._run is None:
            raise RpcError(Code.MISUSE, f"session {self.name!r} has no run: send run/started first")
        return self._run

    def start_run(self, *, continues: bool) -> Run:
        """Start a run; one that was never settled is settled first.

        With ``continues`` it goes on with the budgets of the run before: what starts it is no user's request.
        """
        self.settle(None)
        state = self._budgets if continues else None
        self._run = self.continuity.start_run(self.name, state=state)
        return self._run

    def settle(self, outcome: RunOutcome | None) -> Report | None:
        """Settle the run that goes on, if one does. The client has its own result: nothing is raised here."""
        run, self._run = self._run, None
        if run is None:
            return None
        with contextlib.suppress(IncompleteRun):
            run.settled(outcome)
        self._budgets = run.state.to_json()
        self._report = run.report()
        return self._report

    def report(self) -> Report | None:
        """The story of the run that goes on, else of the last one."""
        return self._report if self._run is None else self._run.report()

    def interrupt(self, reason: str) -> None:
        """End the wait that is held, if one is."""
        if self._run is not None:
            self._run.interrupt(reason)

    def close(self) -> None:
        """The client is done with this session."""
        if self._run is not None:
            self._run.abort()
        self.settle(RunOutcome.ABORTED)
        self._stop_progress()

    # ---------------------------------------------------------------- what the client is told

    def on_event(self, event: Event) -> None:
        """Pass on an event that the client wants, and tell it of a wait while it is held."""
        if self._events is None or event.kind.value in self._events:
            self._notify("event", {"event": event.to_dict(), "line": line_of(event)})
        if event.kind is EventKind.WAIT_STARTED:
            self._progress = asyncio.get_running_loop().create_task(self._tell_progress(dict(event.data)))
        elif event.kind is EventKind.WAIT_ENDED:
            self._stop_progress()

    async def _tell_progress(self, wait: Mapping[str, Any]) -> None:
        clock = self.continuity.clock
        start = clock.monotonic()
        while True:
            held = clock.monotonic() - start
            self._notify(
                "wait",
                {
                    "session": self.name,
                    "number": wait["number"],
                    "seconds": wait["seconds"],
                    "held": held,
                    "left": max(0.0, wait["seconds"] - held),
                    "why": wait["why"],
                },
            )
            await asyncio.sleep(PROGRESS_SECONDS)

    def _stop_progress(self) -> None:
        task, self._progress = self._progress, None
        if task is not None:
            task.cancel()
