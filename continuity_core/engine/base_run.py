"""A run without its way of waiting: everything that async and sync runs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from types import TracebackType

import attrs

from continuity_core.engine.alarm import Alarm, ring
from continuity_core.engine.engine import Engine
from continuity_core.engine.hold import HoldOutcome
from continuity_core.engine.outcome import outcome_of, result_of, settled_as
from continuity_core.engine.project import ProjectionResult, Seen, anchored, project, without_artefacts
from continuity_core.engine.recorder import LOG, Recorder
from continuity_core.engine.results import NOTHING, BoundaryResult
from continuity_core.engine.run_record import Owner, RunRecord
from continuity_core.engine.session import Session
from continuity_core.engine.settings import Incomplete
from continuity_core.engine.state import HeldWait, Outcome, RunState
from continuity_core.engine.step import Step
from continuity_core.model.boundary import Mode, Point, RunView
from continuity_core.model.decisions import JSONValue
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.events import EventKind
from continuity_core.model.evolving import changed
from continuity_core.model.host_facts import HostFacts, InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.masking import shown
from continuity_core.model.proposal import EMPTY_PROPOSAL, Proposal
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.turn import Turn

NO_FACTS = HostFacts()

CANCELLED = HoldOutcome(held_seconds=0.0, ended_by="cancelled")
"""How a wait went whose task was cancelled, or whose thread was interrupted."""

_OBSERVED = BoundaryResult(outcome=Outcome.OBSERVED)
_NO_WAIT_NEEDED = HeldWait(completed=True)


class RunError(RuntimeError):
    """The host used a run in a way that cannot be meant."""


class BaseRun(RunRecord):
    """Everything done for one real user request. Use :class:`Run` or :class:`SyncRun`."""

    __slots__ = ("_busy", "_children", "_cut_off", "_input", "_proposal", "_scheduled")

    def __init__(
        self,
        owner: Owner,
        session: Session,
        *,
        parent: BaseRun | None = None,
        state: RunState | None = None,
        deadline: datetime | None = None,
    ) -> None:
        super().__init__(owner, session, parent=parent, state=state, deadline=deadline)
        self._children: list[BaseRun] = []
        self._proposal: Proposal = EMPTY_PROPOSAL
        self._scheduled: tuple[Step, RunState] | None = None
        """The step whose resume the host was just asked for, and the state before it was charged."""
        self._input: InputKind | None = None
        self._busy = False
        self._cut_off = False
        """A plugin ended the run behind the last turn, and the host had not ended it on purpose."""
        if parent is not None:
            parent._children.append(self)
        self._tell_start(restored=state is not None)

    # ---------------------------------------------------------------- what may happen at any time

    def abort(self) -> None:
        """The user aborts: a wait ends at once and nothing more is requested.

        May be called from any thread; twice is once.
        """
        abort_together((self,))

    def _mark_aborted(self, alarms: list[Alarm], aborted: list[BaseRun]) -> None:
        """Abort this run and those under it, but for ringing and telling: add to what is left to do."""
        if self.is_over:
            return
        self._aborted = True
        alarms.extend(self._waits.mark("abort"))
        for child in list(self._children):
            child._mark_aborted(alarms, aborted)
        aborted.append(self)

    def input_arrived(self, kind: InputKind) -> None:
        """The user said something: call it before the host queues it. Ends a wait; costs nothing.

        Steering belongs to this run. A follow-up starts a run of its own when the host picks it up.
        """
        self._input = kind
        self.interrupt("input")
        self._emit(EventKind.INPUT_ARRIVED, {"input": kind})

    def interrupt(self, reason: str) -> None:
        """End the wait that is held, if one is; ``reason`` stands in the report."""
        ring(self._waits.mark(reason))

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
        (step, before), self._scheduled = self._scheduled, None
        self._not_resumed = changed(step.proposal, resume=None, no_resume=why)
        restored = step.engine.apply(before, self._not_resumed, Outcome.REFUSED, step.held)
        self._become(restored, charge_parents=True)
        LOG.warning("run %s: the host did not schedule the resume: %s", self.id, shown(why))

    # ---------------------------------------------------------------- before every request

    def project(self, entries: Sequence[Entry]) -> ProjectionResult:
        """What of ``entries`` is sent in the next request, and how. Call it before every request.

        Entries that are the same objects as in the session's last request, from the first one on, are not
        looked at again where nobody edited them.
        """
        self._input = None
        self._scheduled = None
        engine = self._owner.engine
        if engine.settings.mode is Mode.OBSERVE:
            return ProjectionResult(entries=tuple(entries))
        if engine.settings.mode is Mode.OFF:
            return without_artefacts(entries)
        seen = self._session.seen = self._session.seen or Seen()
        result = project(entries, engine.chain, self.state, self._proposal, seen)
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
            if isinstance(self._parent, BaseRun):
                self._parent._children.remove(self)
            self._session.state = self.state.session
            if self._session.active is self:
                self._session.active = None
            self.interrupt("settled")
            if not self._owner.forget(self):
                self._session.seen = None
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
        not_resumed = self._cut_off or self._not_resumed.no_resume is not None
        return settled_as(self.cause, aborted=self._aborted, failed=failed, not_resumed=not_resumed)

    def _settled_details(self) -> dict[str, JSONValue]:
        report = attrs.evolve(self.report(), events=())
        details = dict(report.to_dict())
        for key in ("run", "session", "events"):
            del details[key]
        return details

    # ---------------------------------------------------------------- the two boundaries, without the waiting

    def _claim(self, step: str) -> None:
        """Start a boundary; whoever does frees ``_busy`` at its end."""
        if self._outcome is not RunOutcome.RUNNING:
            raise RunError(f"{step} was called after run {self.id} was settled: start a new run")
        if self._busy:
            raise RunError(
                f"{step} was called while another boundary of run {self.id} is being decided: "
                "await one before the next; a sub-agent takes a run of its own (parent=run)"
            )
        self._busy = True

    def _turn_ended(self, turn: Turn, host: HostFacts) -> Step:
        """Decide; where the step has a wait it is to be held before the step is concluded."""
        host = self._with_own_facts(host)
        engine, now = self._owner.engine, self._owner.clock.now()
        verdict = engine.classify(turn, host, self.state, now)
        self._turn, self._cause, self._classified_by = turn, verdict.cause, verdict.plugin
        self._proposal = self._not_resumed = EMPTY_PROPOSAL
        self._scheduled = None
        self._become(engine.note(turn, verdict.cause, self.state))
        self._take_note(verdict.faults, verdict.slow)
        step = self._decided(Point.TURN_ENDED, engine, host, now, verdict.view)
        if self._aborted:
            step.ended_by = "abort"
        elif step.proposal.hold_seconds > 0 and engine.settings.mode is Mode.ON:
            self._begin_wait(step)
        return step

    def _before_settle(self, host: HostFacts) -> BoundaryResult:
        self._claim("before_settle")
        try:
            if self._turn is None:
                raise RunError("before_settle was called before any turn ended: call turn_ended first")
            host = self._with_own_facts(host)
            engine, now = self._owner.engine, self._owner.clock.now()
            return self._concluded(self._decided(Point.BEFORE_SETTLE, engine, host, now))
        finally:
            self._busy = False

    def _decided(
        self, point: Point, engine: Engine, host: HostFacts, now: datetime, view: RunView | None = None
    ) -> Step:
        assert self._turn is not None
        assert self._cause is not None
        boundary = engine.boundary(point, self._turn, self._cause, host, self.state, now, view)
        decided = engine.decide_timed(boundary, self.state, self._allowance())
        self._take_note(decided.proposal.faults, decided.slow)
        halt = decided.proposal.halt
        ends = halt is not None and halt.decision.end_run and engine.settings.mode is Mode.ON
        self._cut_off = ends and not boundary.ended_on_purpose
        return Step(
            engine=engine,
            point=point,
            turn=self._turn,
            number=self.state.turns,
            cause=self._cause,
            classified_by=self._classified_by,
            now=now,
            proposal=decided.proposal,
            resumes=self.state.resumes,
            spent=self.state.spent,
        )

    def _begin_wait(self, step: Step) -> None:
        self._session.seen = None  # Many may wait for long: the entries are looked at anew afterwards.
        step.wait = wait = self._waits.begin(step.proposal, step.now)
        ended = self._what_ended(step) or (None if self._owner.engine is step.engine else "off")
        if ended is not None:  # By another thread, before there was a wait that it could have ended.
            wait.waker.wake(ended)
        wait.announce(self.id)
        self._emit(EventKind.WAIT_STARTED, wait.start_details)

    def _end_wait(self, step: Step, outcome: HoldOutcome) -> None:
        step.held = HeldWait(seconds=outcome.held_seconds, completed=outcome.ended_by is None)
        step.ended_by = outcome.ended_by
        self._emit(EventKind.WAIT_ENDED, self._waits.end(outcome).details)

    def _concluded(self, step: Step) -> BoundaryResult:
        """What comes of the step, now that its wait is over."""
        if step.engine.settings.mode is Mode.OBSERVE:
            step.outcome, result = Outcome.OBSERVED, _OBSERVED
        else:
            result = self._carried_out(step)
        self._proposal = step.proposal
        if result.resume:
            self._not_resumed = EMPTY_PROPOSAL
        elif self._not_resumed.no_resume is None:
            self._not_resumed = step.proposal
        self._emit(EventKind.BOUNDARY, step.details, step.now if step.wait is None else None)
        return result

    def _carried_out(self, step: Step) -> BoundaryResult:
        """Pay for what the step proposes, as far as it stands."""
        proposal = step.proposal
        if proposal is EMPTY_PROPOSAL:
            return NOTHING
        undisturbed = step.wait is None and step.ended_by is None
        if undisturbed and proposal.wait is not None and proposal.resume is not None:
            step.held = _NO_WAIT_NEEDED
        step.proposal, step.outcome = outcome_of(proposal, self._what_ended(step))
        before = self.state
        after = step.engine.apply(before, step.proposal, step.outcome, step.held)
        if after is not before:
            self._become(after, charge_parents=True)
            step.resumes, step.spent = after.resumes, after.spent
        result = result_of(step.proposal, step.outcome)
        if result.resume:
            self._scheduled = (step, before)
        return result

    def _what_ended(self, step: Step) -> str | None:
        """What came between the decision and what it asks for."""
        if self._aborted:
            return "abort"
        if step.ended_by is not None:
            return step.ended_by
        if self.mode is not Mode.ON:
            return "off"
        return "input" if self._input is not None and step.proposal.resume is not None else None

    def _with_own_facts(self, host: HostFacts) -> HostFacts:
        """The host's facts, with what this run knows better."""
        if not self._aborted and self._input is None and self._deadline is None:
            return host
        changes: dict[str, object] = {}
        if self._aborted and not host.aborted:
            changes["aborted"] = True
        if self._input is not None and host.pending_input is None:
            changes["pending_input"] = self._input
        if self._deadline is not None and (host.deadline is None or self._deadline < host.deadline):
            changes["deadline"] = self._deadline
        return changed(host, **changes) if changes else host

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


def abort_together(runs: Iterable[BaseRun]) -> None:
    """Abort these runs: those that wait in the same event loop are woken by one call into it."""
    alarms: list[Alarm] = []
    aborted: list[BaseRun] = []
    for run in runs:
        run._mark_aborted(alarms, aborted)
    ring(alarms)
    for run in aborted:
        run._emit(EventKind.ABORTED, {})


def switch_together(runs: Sequence[BaseRun], reason: str) -> None:
    """Tell these runs that recovery, or a part of it, was switched on or off: a wait that is held ends."""
    ring([alarm for run in runs for alarm in run._waits.mark(reason)])
    for run in runs:
        run._emit(EventKind.MODE_CHANGED, {"mode": run.mode.value, "reason": reason})
