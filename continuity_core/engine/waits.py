"""The waits of a run: the one that is held, how it is ended, and those that are over."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from datetime import timedelta

import attrs

from continuity_core.engine.clock import Clock, Deadline
from continuity_core.engine.hold import HoldOutcome
from continuity_core.engine.recorder import LOG
from continuity_core.engine.state import HeldWait
from continuity_core.engine.waker import Waker
from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import EventKind
from continuity_core.model.masking import shown
from continuity_core.model.proposal import Proposal
from continuity_core.model.report import RecordedWait


@attrs.frozen(kw_only=True)
class HoldRequest:
    """A wait that the async or sync run is to hold."""

    deadline: Deadline
    waker: Waker


@attrs.define(kw_only=True, eq=False)
class Waits:
    """The waits of one run, one at a time."""

    clock: Clock
    run: str
    emit: Callable[[EventKind, Mapping[str, JSONValue]], None]
    ended: list[RecordedWait] = attrs.field(factory=list)
    waiting: RecordedWait | None = None
    """The wait that is held now."""
    _waker: Waker | None = None

    def wake(self, reason: str) -> None:
        """End the wait that is held, if one is."""
        waker = self._waker
        if waker is not None:
            waker.wake(reason)

    def hold(
        self, proposal: Proposal, *, is_aborted: Callable[[], bool]
    ) -> Generator[HoldRequest, HoldOutcome, tuple[HeldWait, str | None]]:
        """Have the proposal's wait held; gives how it went, and what ended it early."""
        seconds, until = proposal.hold_seconds, proposal.hold_until
        why = "" if proposal.wait is None else shown(proposal.wait.decision.why)
        deadline = Deadline.after(seconds) if until is None else Deadline.at(until)
        waiting = self.waiting = RecordedWait(seconds=seconds, why=why, started_at=self.clock.now(), held=0.0)
        self._waker = waker = Waker()
        if is_aborted():  # An abort from another thread may have come before there was a waker to wake.
            waker.wake("abort")
        number = len(self.ended) + 1
        self._announce(waiting)
        self.emit(EventKind.WAIT_STARTED, {"number": number, "seconds": seconds, "why": why})
        outcome = HoldOutcome(held_seconds=0.0, ended_by="cancelled")
        try:
            outcome = yield HoldRequest(deadline=deadline, waker=waker)
        finally:
            self.waiting = self._waker = None
            held, ended_by = outcome.held_seconds, outcome.ended_by
            self.ended.append(attrs.evolve(waiting, held=held, ended_by=ended_by))
            self.emit(
                EventKind.WAIT_ENDED,
                {"number": number, "seconds": seconds, "held_seconds": held, "ended_by": ended_by},
            )
        return HeldWait(seconds=outcome.held_seconds, completed=outcome.ended_by is None), outcome.ended_by

    def _announce(self, wait: RecordedWait) -> None:
        end = (wait.started_at + timedelta(seconds=wait.seconds)).astimezone()
        LOG.warning(
            "run %s waits %.0f s, until %s (%s); run.abort(), continuity.disable() or new input ends it",
            self.run,
            wait.seconds,
            end.strftime("%Y-%m-%d %H:%M:%S %Z"),
            wait.why,
        )
