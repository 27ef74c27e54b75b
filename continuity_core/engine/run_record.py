"""What a run knows of itself and tells: its state, its events, its waits, its report."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from continuity_core.engine.budgets import NO_PARENT, Allowance, left_of_ceilings
from continuity_core.engine.chain import SlowCall
from continuity_core.engine.clock import Clock
from continuity_core.engine.engine import Engine
from continuity_core.engine.recorder import Details, Recorder
from continuity_core.engine.session import Session
from continuity_core.engine.state import RunState
from continuity_core.engine.waits import Waits
from continuity_core.model.boundary import Mode
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.decisions import JSONValue, Omit
from continuity_core.model.entries import EntryRef
from continuity_core.model.events import Event, EventKind
from continuity_core.model.evolving import changed
from continuity_core.model.masking import shown
from continuity_core.model.proposal import EMPTY_PROPOSAL, PluginFault, Proposal
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.turn import Turn

if TYPE_CHECKING:
    from continuity_core.engine.base_run import BaseRun


class Owner(Protocol):
    """What a run needs of the object that started it."""

    clock: Clock
    on_event: Callable[[Event], None] | None

    @property
    def engine(self) -> Engine:
        """The chain and the settings in force now."""
        ...

    def forget(self, run: BaseRun) -> bool:
        """The run is over; whether its session is kept for another one."""
        ...


class RunRecord:
    """A run as it may be looked at; what it does is in :class:`BaseRun`."""

    __slots__ = (
        "__weakref__",
        "_aborted",
        "_cause",
        "_classified_by",
        "_deadline",
        "_not_resumed",
        "_outcome",
        "_owner",
        "_parent",
        "_recorder",
        "_session",
        "_turn",
        "_waits",
        "state",
    )

    state: RunState
    """All that decides about this run, as one immutable value; ``state.to_json()`` saves it."""

    def __init__(
        self,
        owner: Owner,
        session: Session,
        *,
        parent: RunRecord | None = None,
        state: RunState | None = None,
        deadline: datetime | None = None,
    ) -> None:
        self._owner = owner
        self._session = session
        self._parent = parent
        self._deadline = deadline
        self.state = state or RunState(
            run=secrets.token_hex(6),
            session_id=session.id,
            started_at=owner.clock.now(),
            parent=None if parent is None else parent.id,
            session=session.state,
        )
        self._recorder = Recorder(session.id, self.state.run, owner.on_event)
        self._waits = Waits()
        self._turn: Turn | None = None
        self._cause: Cause | None = None
        self._classified_by: str | None = None
        self._not_resumed: Proposal = EMPTY_PROPOSAL
        self._aborted = False
        self._outcome = RunOutcome.RUNNING

    def _tell_start(self, *, restored: bool) -> None:
        above = self.state.parent
        details: Details = (
            _STARTED_ALONE[self.mode, restored]
            if above is None
            else _start_details(above, self.mode, restored)
        )
        self._emit(EventKind.RUN_STARTED, details, self.state.started_at if not restored else None)

    @property
    def id(self) -> str:
        """Identity of the run."""
        return self.state.run

    @property
    def session(self) -> str:
        """Identity of the session."""
        return self._session.id

    @property
    def mode(self) -> Mode:
        """What continuity does at the boundaries of this run now."""
        return self._owner.engine.settings.mode

    @property
    def aborted(self) -> bool:
        """Whether the user aborted; nothing more is to be requested then."""
        return self._aborted

    @property
    def is_over(self) -> bool:
        """Whether it was settled or aborted."""
        return self._aborted or self._outcome is not RunOutcome.RUNNING

    @property
    def last_turn(self) -> Turn | None:
        """The turn that ended last."""
        return self._turn

    @property
    def cause(self) -> CauseKind | None:
        """What the last turn was."""
        return None if self._cause is None else self._cause.kind

    def is_left_out(self, entry: EntryRef) -> bool:
        """Whether the session already leaves this entry out."""
        return isinstance(self.state.session.edits.get(entry), Omit)

    def report(self) -> Report:
        """The story of the run so far."""
        cause, state, no_resume = self._cause, self.state, self._not_resumed.no_resume
        return Report(
            run=self.id,
            session=self.session,
            outcome=RunOutcome.ABORTED if self._aborted else self._outcome,
            cause=self.cause,
            why=None if cause is None else shown(cause.why),
            no_resume=None if no_resume is None else shown(no_resume),
            possible_at=self._not_resumed.possible_at,
            turns=state.turns,
            requests=state.requests,
            resumes=state.resumes,
            waits=tuple(ended.wait.recorded(ended.outcome) for ended in self._waits.ended),
            held_seconds=state.held,
            events=self._recorder.kept(),
        )

    def status(self) -> Mapping[str, JSONValue]:
        """The state of affairs in a few JSON values: mode, outcome, budgets, and the wait that is held."""
        settings, waiting = self._owner.engine.settings, self._waits.now
        return {
            "run": self.id,
            "session": self.session,
            "mode": self.mode.value,
            "outcome": (RunOutcome.ABORTED if self._aborted else self._outcome).value,
            "turns": self.state.turns,
            "resumes": self.state.resumes,
            "resumes_left": None
            if settings.max_resumes is None
            else max(0, settings.max_resumes - self.state.charged),
            "spent": dict(self.state.spent),
            "held_seconds": self.state.held,
            "halted": self.state.halted and shown(self.state.halted),
            "waiting": waiting
            and {
                "seconds": waiting.seconds,
                "since": waiting.started_at.isoformat(),
                "why": waiting.why,
            },
        }

    # ---------------------------------------------------------------- the state, and who pays for it

    def _become(self, state: RunState, *, charge_parents: bool = False) -> None:
        """Take on a new state, and charge the runs above for what it cost against the ceilings."""
        before = self.state
        self.state = state
        self._session.state = state.session
        if charge_parents and self._parent is not None:
            self._parent._charge_for_child(state.resumes - before.resumes, state.held - before.held)

    def _charge_for_child(self, resumes: int, held: float) -> None:
        if resumes or held:
            self.state = changed(
                self.state, resumes=self.state.resumes + resumes, held=self.state.held + held
            )
            if self._parent is not None:
                self._parent._charge_for_child(resumes, held)

    def _allowance(self) -> Allowance:
        parent = self._parent
        if parent is None:
            return NO_PARENT
        return left_of_ceilings(parent.state, self._owner.engine.settings, parent._allowance())

    # ---------------------------------------------------------------- events

    def _take_note(self, faults: Sequence[PluginFault], slow: Sequence[SlowCall]) -> None:
        """Record the mistakes of plugins, and leave those out whose results are of a wrong kind."""
        if not (faults or slow):
            return
        for fault in faults:
            self._recorder.log_fault(fault)
            self._emit(EventKind.PLUGIN_FAULT, Recorder.fault_details(fault))
        disabled = {fault.plugin for fault in faults if fault.disables}
        if not disabled <= self.state.disabled:
            self._become(changed(self.state, disabled=self.state.disabled | disabled))
        for call in slow:
            self._recorder.log_slow(call)
            self._emit(
                EventKind.PLUGIN_SLOW, {"plugin": call.plugin, "hook": call.hook, "seconds": call.seconds}
            )

    def _emit(self, kind: EventKind, details: Details, at: datetime | None = None) -> None:
        """Record an event of now, or of the moment ``at``."""
        at = at or self._owner.clock.now()
        event = self._recorder.record(kind, at, details)
        observers = self._owner.engine.chain.observe
        if observers:
            engine = self._owner.engine
            self._recorder.show(
                event, observers, self.state.disabled, lambda plugin: engine.view(self.state, plugin, at)
            )


def _start_details(parent: str | None, mode: Mode, restored: bool) -> dict[str, JSONValue]:
    """The keys of a ``run_started`` event."""
    return {"parent": parent, "mode": mode.value, "restored": restored}


_STARTED_ALONE: Mapping[tuple[Mode, bool], Details] = {
    (mode, restored): partial(_start_details, None, mode, restored)
    for mode in Mode
    for restored in (False, True)
}
"""Most runs start alike: many that wait at the same time share these."""
