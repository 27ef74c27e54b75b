"""The runs that go on in one middleware: beginning, restoring, ending, looking."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import RunError
from continuity_core.engine.run import Run, SyncRun
from continuity_core.engine.state import RunState
from continuity_core.hosts.adapting import Newest
from continuity_core.hosts.langchain.collisions import warn_of_outer_retries
from continuity_core.hosts.langchain.live import EVERYONE, Failed, Invocation, Kind, Live, Place
from continuity_core.model.decisions import JSONValue
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report, RunOutcome

KEPT_RUNS = 10_000
"""Runs that were interrupted, or whose invocation ended without our hooks; the oldest go first."""
KEPT_REPORTS = 256
KEPT_STATES = 1_000
"""States of runs that failed, for an invocation that goes on with them."""

T = TypeVar("T")


class Lives:
    """The runs of one middleware. May be used from any thread."""

    def __init__(self, continuity: Continuity) -> None:
        self._continuity = continuity
        self._lock = threading.RLock()
        self._lives: OrderedDict[str, Live] = OrderedDict()
        self._failed: Newest[str, Failed] = Newest(KEPT_STATES)
        self._reports: Newest[Place, Report] = Newest(KEPT_REPORTS)
        self._known: Newest[str, None] = Newest(KEPT_RUNS)

    # ---------------------------------------------------------------- beginning

    def begin(self, kind: Kind, invocation: Invocation, saved: Mapping[str, Any] | None) -> Live:
        """A real user request: the thread's earlier run, where one was left, is over."""
        self._settle_left()
        with self._lock:
            for earlier in [live for live in self._lives.values() if live.place == invocation.place]:
                if invocation.namespace == "" and invocation.thread is not None:
                    self._replace(earlier)
        run = self._start(kind, invocation, self._fresh_state(invocation, saved))
        return self._added(run, invocation)

    def of(self, kind: Kind, invocation: Invocation, saved: Mapping[str, Any] | None) -> Live:
        """The run that the graph's state belongs to: the one at hand, else restored, else a new one."""
        if not saved or "run" not in saved:
            return self.begin(kind, invocation, None)
        name = str(saved["run"])
        with self._lock:
            live = self._lives.get(name)
            if live is not None and isinstance(live.run, kind) and not live.busy:
                return live
            failed = self._failed.pop(name)
        if failed is not None and failed.is_of(invocation):
            warn_of_outer_retries(self._continuity.mode)
        state = saved.get("state") if failed is None else failed.state
        if live is not None and not live.busy:
            # Begun by a synchronous hook and gone on by an asynchronous one, or the reverse.
            state = live.run.state.to_json()
            self.settle(live, RunOutcome.ABORTED)
        run = self._start(kind, invocation, state)
        restored = self._added(run, invocation)
        restored.noted = None if failed is None else failed.noted
        if live is not None:
            restored.waiting_for_tools, restored.noted, restored.end = (
                live.waiting_for_tools,
                live.noted,
                live.end,
            )
        return restored

    def _replace(self, earlier: Live) -> None:
        """Nothing more is to be requested for it; where it is at work it ends by itself."""
        earlier.run.abort()
        if not earlier.busy:
            self.settle(earlier, RunOutcome.ABORTED)

    def _start(
        self, kind: Kind, invocation: Invocation, state: Mapping[str, JSONValue] | None
    ) -> Run | SyncRun:
        parent = EVERYONE.parent_of(invocation)
        start = self._continuity.start_run if kind is Run else self._continuity.start_sync_run
        try:
            return start(invocation.session, parent=parent, state=state)
        except (RunError, ValueError):
            # The session is busy or of another name, or its state is damaged: never worse than without us.
            return start(None, parent=None if parent is None or parent.is_over else parent)

    def _fresh_state(
        self, invocation: Invocation, saved: Mapping[str, Any] | None
    ) -> Mapping[str, JSONValue] | None:
        """A new run's state with what its session had in another process; ``None``: nothing is to be kept."""
        session = invocation.session
        if session is None or not saved or session in self._known:
            return None
        try:
            kept = RunState.from_json(saved["state"]).session
        except (KeyError, ValueError):
            return None
        if not kept.edits and not kept.windows:
            return None
        state = RunState(
            run=secrets.token_hex(6),
            session_id=session,
            started_at=self._continuity.clock.now(),
            session=kept,
        )
        return state.to_json()

    def _added(self, run: Run | SyncRun, invocation: Invocation) -> Live:
        live = Live(run=run, place=invocation.place)
        with self._lock:
            self._lives[run.id] = live
            if invocation.session is not None:
                self._known.put(invocation.session, None)
            idle = [known for known in self._lives.values() if not known.busy]
            left_over = idle[: max(0, len(self._lives) - KEPT_RUNS)]
        EVERYONE.add(live, invocation.control)
        for old in left_over:
            self.settle(old, RunOutcome.ABORTED)
        return live

    # ---------------------------------------------------------------- ending

    def settle(
        self, live: Live, outcome: RunOutcome | None = None, *, error: BaseException | None = None
    ) -> None:
        """The run is over. Raises :class:`IncompleteRun` where the settings ask for it."""
        run = live.run
        with self._lock:
            if self._lives.get(run.id) is live:
                del self._lives[run.id]
            if error is not None:
                failed = Failed(run.state.to_json(), live.control, live.noted)
                self._failed.put(run.id, failed)
        EVERYONE.remove(live)
        try:
            run.settled(outcome, error=error)
        finally:
            with self._lock:
                self._reports.put(live.place, run.report())

    def give_up(self, live: Live, error: Exception) -> None:
        """Something broke that is not the model's; nothing happens where the run is settled."""
        with self._lock:
            if self._lives.get(live.run.id) is not live:
                return
        with suppress(IncompleteRun):
            self.settle(live, RunOutcome.FAILED, error=error)

    def _settle_left(self) -> None:
        """Runs without a thread, with which nothing can go on, whose invocation ended without our hooks."""
        with self._lock:
            left = [
                live
                for live in self._lives.values()
                if live.place[0] is None and live.control is not None and live.control.is_left
            ]
        for live in left:
            self.settle(live, RunOutcome.ABORTED)

    # ---------------------------------------------------------------- looking

    def run_of(self, thread: str | None) -> Run | SyncRun | None:
        """The thread's run that goes on, not a sub-agent's; the one begun last without a thread."""
        self._settle_left()
        with self._lock:
            return _outermost([(live.place, live.run) for live in self._lives.values()], thread)

    def report_of(self, thread: str | None) -> Report | None:
        """The report of the thread's run that ended last; of the last of all without a thread."""
        self._settle_left()
        with self._lock:
            return _outermost(self._reports.items(), thread)


def _outermost(found: Sequence[tuple[Place, T]], thread: str | None) -> T | None:
    """The last one of the thread's outermost graph that has any."""
    of_thread = [(place, value) for place, value in found if thread in (None, place[0])]
    if thread is not None and of_thread:
        depth = min(_depth(place) for place, _ in of_thread)
        of_thread = [(place, value) for place, value in of_thread if _depth(place) == depth]
    return of_thread[-1][1] if of_thread else None


def _depth(place: Place) -> int:
    return len(place[1].split("|")) if place[1] else 0
