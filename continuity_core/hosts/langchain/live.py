"""The runs that go on in one middleware, by what LangGraph tells of an invocation."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import attrs

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import BaseRun, RunError
from continuity_core.engine.run import Run, SyncRun
from continuity_core.engine.state import RunState
from continuity_core.hosts.langchain.collisions import warn_of_outer_retries
from continuity_core.hosts.langchain.projecting import Reader
from continuity_core.model.decisions import JSONValue
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.turn import Turn

KEPT_RUNS = 10_000
"""Runs that were interrupted, or whose invocation ended without our hooks; the oldest go first."""
KEPT_REPORTS = 256
KEPT_STATES = 1_000
"""States of runs that failed, for an invocation that goes on with them."""

Kind: TypeAlias = type[Run] | type[SyncRun]
Place: TypeAlias = tuple[str | None, str]
"""Thread, and the graph's own checkpoint namespace: empty but for a graph inside another one."""


@attrs.define(kw_only=True, eq=False)
class Live:
    """A run that goes on, and what this host has to remember of it."""

    run: Run | SyncRun
    place: Place
    control: object | None = None
    """LangGraph's object for an invocation and the graphs that it invokes."""
    reader: Reader = attrs.field(factory=Reader)
    busy: bool = False
    """A model call of it goes on."""
    waiting_for_tools: tuple[str | None, Turn] | None = None
    """A turn whose calls the host executes, and the id of its message."""
    noted: str | None = None
    """The message of the last turn whose tools ran and that continuity was told of."""
    end: str | None = None
    """Why no further request is to be made."""
    end_tries: int = 0
    """How often the graph was told so and asked again."""
    tail: int | None = None
    """How many turns there were when the run was resumed after its end."""
    direct_tools: frozenset[str] = frozenset()
    """Tools whose result is the run's, as the last request had them."""


@attrs.frozen(eq=False)
class Failed:
    """What is kept of a run whose error went to the caller: no checkpoint has it."""

    state: Mapping[str, JSONValue]
    control: object | None
    noted: str | None


@attrs.frozen(kw_only=True)
class Invocation:
    """What LangGraph tells of the invocation that a hook belongs to."""

    thread: str | None = None
    namespace: str = ""
    control: object | None = None

    @property
    def drained(self) -> bool:
        """Whether a shutdown was asked for: the graph stops after this step."""
        return bool(getattr(self.control, "drain_requested", False))

    @property
    def place(self) -> Place:
        """Where the run belongs."""
        return self.thread, self.namespace

    @property
    def session(self) -> str | None:
        """The session's name for continuity; ``None`` where nothing outlives the invocation."""
        if self.thread is None:
            return None
        return f"langchain:{self.thread}:{self.namespace}" if self.namespace else f"langchain:{self.thread}"

    @classmethod
    def of(cls, runtime: Any) -> Invocation:
        """Read a hook's runtime; outside a graph there is nothing to read."""
        info = getattr(runtime, "execution_info", None)
        namespace = "" if info is None else info.checkpoint_ns.rpartition("|")[0]
        return cls(
            thread=None if info is None else info.thread_id,
            namespace=namespace,
            control=getattr(runtime, "control", None),
        )


class _Everyone:
    """Runs of every middleware, by LangGraph's control object: a sub-agent's parent may be another's run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_control: dict[int, list[Live]] = {}

    def add(self, live: Live) -> None:
        if live.control is not None:
            with self._lock:
                self._by_control.setdefault(id(live.control), []).append(live)

    def remove(self, live: Live) -> None:
        with self._lock:
            lives = self._by_control.get(id(live.control), [])
            if live in lives:
                lives.remove(live)
            if not lives:
                self._by_control.pop(id(live.control), None)

    def parent_of(self, invocation: Invocation) -> BaseRun | None:
        """The run of the nearest graph around this one, in the same invocation."""
        if invocation.control is None or not invocation.namespace:
            return None
        with self._lock:
            lives = list(self._by_control.get(id(invocation.control), ()))
        inside = f"{invocation.namespace}|"
        around = [
            live
            for live in lives
            if live.control is invocation.control
            and not live.run.is_over
            and live.place[1] != invocation.namespace
            and inside.startswith(f"{live.place[1]}|" if live.place[1] else "")
        ]
        return max(around, key=lambda live: len(live.place[1])).run if around else None


_EVERYONE = _Everyone()


class Lives:
    """The runs of one middleware. May be used from any thread."""

    def __init__(self, continuity: Continuity) -> None:
        self._continuity = continuity
        self._lock = threading.RLock()
        self._lives: OrderedDict[str, Live] = OrderedDict()
        self._failed: OrderedDict[str, Failed] = OrderedDict()
        self._reports: OrderedDict[Place, Report] = OrderedDict()
        self._known: OrderedDict[str, None] = OrderedDict()

    # ---------------------------------------------------------------- beginning

    def begin(self, kind: Kind, invocation: Invocation, saved: Mapping[str, Any] | None) -> Live:
        """A real user request: the thread's earlier run, where one was left, is over."""
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
            failed = self._failed.pop(name, None)
        if failed is not None and failed.control is invocation.control is not None:
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
        parent = _EVERYONE.parent_of(invocation)
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
        live = Live(run=run, place=invocation.place, control=invocation.control)
        with self._lock:
            self._lives[run.id] = live
            if invocation.session is not None:
                _remember(self._known, invocation.session, None, KEPT_RUNS)
            idle = [known for known in self._lives.values() if not known.busy]
            left_over = idle[: max(0, len(self._lives) - KEPT_RUNS)]
        _EVERYONE.add(live)
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
                _remember(self._failed, run.id, failed, KEPT_STATES)
        _EVERYONE.remove(live)
        try:
            run.settled(outcome, error=error)
        finally:
            with self._lock:
                _remember(self._reports, live.place, run.report(), KEPT_REPORTS)

    def give_up(self, live: Live, error: Exception) -> None:
        """Something broke that is not the model's; nothing happens where the run is settled."""
        with self._lock:
            if self._lives.get(live.run.id) is not live:
                return
        with suppress(IncompleteRun):
            self.settle(live, RunOutcome.FAILED, error=error)

    # ---------------------------------------------------------------- looking

    def run_of(self, thread: str | None) -> Run | SyncRun | None:
        """The thread's run that goes on; the one begun last without a thread."""
        with self._lock:
            found = [
                live.run for live in self._lives.values() if thread is None or live.place == (thread, "")
            ]
        return found[-1] if found else None

    def report_of(self, thread: str | None) -> Report | None:
        """The report of the thread's run that ended last; of the last of all without a thread."""
        with self._lock:
            places = [
                report for place, report in self._reports.items() if thread is None or place == (thread, "")
            ]
        return places[-1] if places else None


def _remember(store: OrderedDict[Any, Any], key: Any, value: Any, limit: int) -> None:
    store[key] = value
    store.move_to_end(key)
    while len(store) > limit:
        store.popitem(last=False)
