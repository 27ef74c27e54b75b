"""A run without its way of waiting: everything that async and sync runs share."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Protocol, TypeAlias

import attrs

from continuity_core.engine.budgets import NO_PARENT, Allowance, left_of_ceilings
from continuity_core.engine.chain import SlowCall
from continuity_core.engine.classify import Verdict
from continuity_core.engine.clock import Clock
from continuity_core.engine.engine import Engine
from continuity_core.engine.explain import boundary_details
from continuity_core.engine.hold import HoldOutcome
from continuity_core.engine.outcome import outcome_of, result_of, settled_as
from continuity_core.engine.project import ProjectionResult, anchored, project, without_artefacts
from continuity_core.engine.recorder import LOG, Recorder
from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.session import Session
from continuity_core.engine.settings import Incomplete
from continuity_core.engine.state import NOT_HELD, HeldWait, Outcome, RunState
from continuity_core.engine.waits import HoldRequest, Waits
from continuity_core.model.boundary import Boundary, Mode, Point
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import JSONValue, Omit
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.events import Event, EventKind
from continuity_core.model.evolving import changed
from continuity_core.model.host_facts import HostFacts, InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.masking import shown
from continuity_core.model.proposal import EMPTY_PROPOSAL, PluginFault, Proposal
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.turn import Turn

NO_FACTS = HostFacts()


class RunError(RuntimeError):
    """The host used a run in a way that cannot be meant."""


class Owner(Protocol):
    """What a run needs of the object that started it."""

    clock: Clock
    on_event: Callable[[Event], None] | None

    @property
    def engine(self) -> Engine:
        """The chain and the settings in force now."""
        ...

    def forget(self, run: BaseRun) -> None:
        """The run is over."""
        ...


Steps: TypeAlias = Generator[HoldRequest, HoldOutcome, BoundaryResult]
"""A boundary without its way of waiting: it yields what is to be held and is sent how that went."""


class BaseRun:
    """Everything done for one real user request. Use :class:`Run` or :class:`SyncRun`."""

    def __init__(
        self,
        owner: Owner,
        session: Session,
        *,
        parent: BaseRun | None = None,
        state: RunState | None = None,
        deadline: datetime | None = None,
    ) -> None:
        self._owner = owner
        self._session = session
        self._parent = parent
        self._children: list[BaseRun] = []
        self._deadline = deadline
        self.state = state or RunState(
            run=secrets.token_hex(6),
            session_id=session.id,
            started_at=owner.clock.now(),
            parent=None if parent is None else parent.id,
            session=session.state,
        )
        """All that decides about this run, as one immutable value; ``state.to_json()`` saves it."""
        self._recorder = Recorder(session=session.id, run=self.state.run, on_event=owner.on_event)
        self._waits = Waits(clock=owner.clock, run=self.state.run, emit=self._emit)
        self._turn: Turn | None = None
        self._verdict: Verdict | None = None
        self._host = NO_FACTS
        self._proposal: Proposal = EMPTY_PROPOSAL
        self._not_resumed: Proposal = EMPTY_PROPOSAL
        self._scheduled: tuple[Engine, RunState, Proposal, HeldWait] | None = None
        self._input: InputKind | None = None
        self._aborted = False
        self._outcome = RunOutcome.RUNNING
        self._busy = False
        if parent is not None:
            parent._children.append(self)
        self._emit(
            EventKind.RUN_STARTED,
            {"parent": self.state.parent, "mode": self.mode.value, "restored": state is not None},
        )

    # ---------------------------------------------------------------- what a caller may look at

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
        return None if self._verdict is None else self._verdict.cause.kind

    def report(self) -> Report:
        """The story of the run so far."""
        verdict, state, no_resume = self._verdict, self.state, self._not_resumed.no_resume
        return Report(
            run=self.id,
            session=self.session,
            outcome=RunOutcome.ABORTED if self._aborted else self._outcome,
            cause=self.cause,
            why=None if verdict is None else shown(verdict.cause.why),
            no_resume=None if no_resume is None else shown(no_resume),
            possible_at=self._not_resumed.possible_at,
            turns=state.turns,
            requests=state.requests,
            resumes=state.resumes,
            waits=tuple(self._waits.ended),
            held_seconds=state.held,
            events=tuple(self._recorder.events),
        )

    def status(self) -> Mapping[str, JSONValue]:
        """The state of affairs in a few JSON values: mode, outcome, budgets, and the wait that is held."""
        settings, waiting = self._owner.engine.settings, self._waits.waiting
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

    # ---------------------------------------------------------------- what may happen at any time

    def abort(self) -> None:
        """The user aborts: a wait ends at once and nothing more is requested.

        May be called from any thread; twice is once.
        """
        if self.is_over:
            return
        self._aborted = True
        self.interrupt("abort")
        for child in list(self._children):
            child.abort()
        self._emit(EventKind.ABORTED, {})

    def input_arrived(self, kind: InputKind) -> None:
        """The user said something: call it before the host queues it. Ends a wait; costs nothing.

        Steering belongs to this run. A follow-up starts a run of its own when the host picks it up.
        """
        self._input = kind
        self.interrupt("input")
        self._emit(EventKind.INPUT_ARRIVED, {"input": kind})

    def interrupt(self, reason: str) -> None:
        """End the wait that is held, if one is; ``reason`` stands in the report."""
        self._waits.wake(reason)

    def switched(self, reason: str) -> None:
        """Recovery, or a part of it, was switched on or off: a wait that is held ends."""
        self.interrupt(reason)
        self._emit(EventKind.MODE_CHANGED, {"mode": self.mode.value, "reason": reason})

    def entry_restored(self, entry: EntryRef) -> None:
        """The host, or somebody else, put an entry back that was left out: it may be edited again."""
        edits = self.state.session.edits
        if entry in edits:
            rest = {ref: edit for ref, edit in edits.items() if ref != entry}
            self._become(changed(self.state, session=changed(self.state.session, edits=rest)))

    def unscheduled(self, why: str) -> None:
        """The host could not schedule the resume that it was just asked for: nothing is charged for it."""
        if self._scheduled is None:
            raise RunError(f"no resume of run {self.id} is pending that could be taken back")
        (engine, before, proposal, held), self._scheduled = self._scheduled, None
        self._not_resumed = changed(proposal, resume=None, no_resume=why)
        restored = engine.apply(before, self._not_resumed, Outcome.REFUSED, held)
        self._become(restored, charge_parents=True)
        LOG.warning("run %s: the host did not schedule the resume: %s", self.id, shown(why))

    # ---------------------------------------------------------------- before every request

    def project(self, entries: Sequence[Entry]) -> ProjectionResult:
        """What of ``entries`` is sent in the next request, and how. Call it before every request."""
        self._input = None
        self._scheduled = None
        engine = self._owner.engine
        if engine.settings.mode is Mode.OBSERVE:
            return ProjectionResult(entries=tuple(entries))
        if engine.settings.mode is Mode.OFF:
            return without_artefacts(entries)
        result = project(entries, engine.chain, self.state, self._proposal)
        if self.state.injections:
            sent = [entry.ref for entry in result.entries if not entry.injected]
            self._become(anchored(self.state, sent[-1] if sent else None))
        self._take_note(result.faults, result.slow)
        for dropped in result.dropped:
            self._emit(EventKind.EDIT_REFUSED, Recorder.dropped_details(dropped))
        return result

    # ---------------------------------------------------------------- settling

    def settled(self, outcome: RunOutcome | None = None, *, error: BaseException | None = None) -> Report:
        """The host ended the run; ``outcome`` is worked out from the last turn where it is not given.

        Raises :class:`IncompleteRun` (from ``error``) where the setting ``incomplete`` is ``raise`` and the
        run brought no whole answer. Calling it again changes nothing and gives the report.
        """
        if self._outcome is RunOutcome.RUNNING:
            self._outcome = self._settled_as() if outcome is None else outcome
            for child in list(self._children):
                child.abort()
                child.settled(RunOutcome.ABORTED)
            if self._parent is not None:
                self._parent._children.remove(self)
            self._session.state = self.state.session
            if self._session.active is self:
                self._session.active = None
            self.interrupt("settled")
            self._owner.forget(self)
            self._emit(EventKind.RUN_SETTLED, self._settled_details)
        report = self.report()
        whole = self._outcome in (RunOutcome.COMPLETED, RunOutcome.ABORTED, RunOutcome.RUNNING)
        if not whole and self.mode is Mode.ON:
            LOG.warning("%s", report)
            if self._owner.engine.settings.incomplete is Incomplete.RAISE:
                raise IncompleteRun(report, self._turn) from error
        return report

    def _settled_as(self) -> RunOutcome:
        failed = self._turn is not None and self._turn.failure is not None
        return settled_as(self.cause, aborted=self._aborted, failed=failed)

    def _settled_details(self) -> dict[str, JSONValue]:
        report = attrs.evolve(self.report(), events=())
        details = dict(report.to_dict())
        for key in ("run", "session", "events"):
            del details[key]
        return details

    # ---------------------------------------------------------------- the two boundaries, without the waiting

    def _turn_ended(self, turn: Turn, host: HostFacts) -> Steps:
        self._check_usable("turn_ended")
        self._busy = True
        try:
            host = self._with_own_facts(host)
            engine = self._owner.engine
            verdict = engine.classify(turn, host, self.state, self._owner.clock.now())
            self._turn, self._verdict = turn, verdict
            self._proposal = self._not_resumed = EMPTY_PROPOSAL
            self._scheduled = None
            self._become(engine.note(turn, verdict.cause, self.state))
            self._take_note(verdict.faults, verdict.slow)
            return (yield from self._at(Point.TURN_ENDED, engine, host))
        finally:
            self._busy = False

    def _before_settle(self, host: HostFacts) -> Steps:
        self._check_usable("before_settle")
        if self._turn is None:
            raise RunError("before_settle was called before any turn ended: call turn_ended first")
        self._busy = True
        try:
            return (yield from self._at(Point.BEFORE_SETTLE, self._owner.engine, self._with_own_facts(host)))
        finally:
            self._busy = False

    def _at(self, point: Point, engine: Engine, host: HostFacts) -> Steps:
        assert self._turn is not None
        assert self._verdict is not None
        before, clock = self.state, self._owner.clock
        boundary = engine.boundary(point, self._turn, self._verdict.cause, host, before, clock.now())
        decided = engine.decide_timed(boundary, before, self._allowance())
        self._take_note(decided.proposal.faults, decided.slow)
        if engine.settings.mode is Mode.OBSERVE:
            observed = BoundaryResult(outcome=Outcome.OBSERVED, proposal=decided.proposal)
            self._conclude(boundary, decided.proposal, observed, NOT_HELD, before, engine)
            return BoundaryResult(outcome=Outcome.OBSERVED)
        held = NOT_HELD
        ended_by: str | None = "abort" if self._aborted else None
        if decided.proposal.hold_seconds > 0 and ended_by is None:
            held, ended_by = yield from self._waits.hold(decided.proposal, is_aborted=lambda: self._aborted)
        elif decided.proposal.wait is not None and decided.proposal.resume is not None:
            held = HeldWait(completed=True)
        if self._aborted:
            ended_by = "abort"
        elif ended_by is None and self.mode is not Mode.ON:
            ended_by = "off"
        elif ended_by is None and self._input is not None and decided.proposal.resume is not None:
            ended_by = "input"
        proposal, outcome = outcome_of(decided.proposal, ended_by)
        uncharged = self.state
        self._become(engine.apply(self.state, proposal, outcome, held), charge_parents=True)
        result = result_of(proposal, outcome)
        if result.resume:
            self._scheduled = (engine, uncharged, proposal, held)
        self._conclude(boundary, proposal, result, held, before, engine)
        return result

    def _conclude(
        self,
        boundary: Boundary,
        proposal: Proposal,
        result: BoundaryResult,
        held: HeldWait,
        before: RunState,
        engine: Engine,
    ) -> None:
        self._proposal = proposal
        if result.resume:
            self._not_resumed = EMPTY_PROPOSAL
        elif self._not_resumed.no_resume is None:
            self._not_resumed = proposal
        assert self._verdict is not None
        by, after, mode = self._verdict.plugin, self.state, engine.settings.mode

        def details() -> dict[str, JSONValue]:
            return boundary_details(boundary, proposal, result, held, before, after, mode, by)

        self._emit(EventKind.BOUNDARY, details)

    # ---------------------------------------------------------------- small helpers

    def _with_own_facts(self, host: HostFacts) -> HostFacts:
        """The host's facts, with what this run knows better."""
        changes: dict[str, object] = {}
        if self._aborted and not host.aborted:
            changes["aborted"] = True
        if self._input is not None and host.pending_input is None:
            changes["pending_input"] = self._input
        if self._deadline is not None and (host.deadline is None or self._deadline < host.deadline):
            changes["deadline"] = self._deadline
        return changed(host, **changes) if changes else host

    def _check_usable(self, step: str) -> None:
        if self._outcome is not RunOutcome.RUNNING:
            raise RunError(f"{step} was called after run {self.id} was settled: start a new run")
        if self._busy:
            raise RunError(
                f"{step} was called while another boundary of run {self.id} is being decided: "
                "await one before the next; a sub-agent takes a run of its own (parent=run)"
            )

    def _allowance(self) -> Allowance:
        parent = self._parent
        if parent is None:
            return NO_PARENT
        return left_of_ceilings(parent.state, self._owner.engine.settings, parent._allowance())

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

    def _take_note(self, faults: Sequence[PluginFault], slow: Sequence[SlowCall]) -> None:
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

    def _emit(
        self, kind: EventKind, details: Mapping[str, JSONValue] | Callable[[], Mapping[str, JSONValue]]
    ) -> None:
        engine, left_out = self._owner.engine, self.state.disabled
        self._recorder.emit(
            kind,
            self._owner.clock.now(),
            details,
            tuple(link for link in engine.chain.observe if link.plugin.name not in left_out),
            lambda plugin: engine.view(self.state, plugin, self._owner.clock.now()),
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.settled()
        elif not isinstance(error, Exception):
            self.abort()
            self.settled(RunOutcome.ABORTED)
        elif not isinstance(error, IncompleteRun):
            self.settled(RunOutcome.FAILED, error=error)

    def is_left_out(self, entry: EntryRef) -> bool:
        """Whether the session already leaves this entry out."""
        return isinstance(self.state.session.edits.get(entry), Omit)
