"""The waits of a run: the one that is held, how it is ended, and those that are over."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from continuity_core.engine.alarm import Alarm
from continuity_core.engine.clock import Deadline
from continuity_core.engine.hold import HoldOutcome
from continuity_core.engine.recorder import LOG
from continuity_core.engine.waker import Waker
from continuity_core.model.decisions import JSONValue
from continuity_core.model.masking import shown
from continuity_core.model.proposal import Proposal
from continuity_core.model.report import RecordedWait


@attrs.frozen
class HeldNow:
    """A wait that the async or sync run holds."""

    number: int
    """From 1 in the run."""
    deadline: Deadline
    waker: Waker
    seconds: float
    started_at: datetime
    said: str
    """Why, in the words of whoever asked for it."""

    @property
    def why(self) -> str:
        """Why, as it may be shown."""
        return shown(self.said)

    def recorded(self, outcome: HoldOutcome) -> RecordedWait:
        """The wait as a report shows it."""
        return RecordedWait(
            seconds=self.seconds,
            why=self.why,
            started_at=self.started_at,
            held=outcome.held_seconds,
            ended_by=outcome.ended_by,
        )

    def start_details(self) -> dict[str, JSONValue]:
        """The keys of a ``wait_started`` event."""
        return {"number": self.number, "seconds": self.seconds, "why": self.why}

    def announce(self, run: str) -> None:
        """Tell the log until when the run waits, and how to end it."""
        if not LOG.isEnabledFor(logging.WARNING):
            return
        end = (self.started_at + timedelta(seconds=self.seconds)).astimezone()
        LOG.warning(
            "run %s waits %.0f s, until %s (%s); run.abort(), continuity.disable() or new input ends it",
            run,
            self.seconds,
            end.strftime("%Y-%m-%d %H:%M:%S %Z"),
            self.why,
        )


@attrs.frozen
class EndedWait:
    """A wait that is over, and how it went."""

    wait: HeldNow
    outcome: HoldOutcome

    def details(self) -> dict[str, JSONValue]:
        """The keys of a ``wait_ended`` event."""
        return {
            "number": self.wait.number,
            "seconds": self.wait.seconds,
            "held_seconds": self.outcome.held_seconds,
            "ended_by": self.outcome.ended_by,
        }


@attrs.define(eq=False)
class Waits:
    """The waits of one run, one at a time."""

    ended: list[EndedWait] = attrs.field(factory=list)
    now: HeldNow | None = None
    """The wait that is held now."""

    def mark(self, reason: str) -> Sequence[Alarm]:
        """End the wait that is held, if one is, once the alarms that are given back have rung."""
        now = self.now
        return () if now is None else now.waker.mark(reason)

    def begin(self, proposal: Proposal, at: datetime) -> HeldNow:
        """The proposal's wait, which the run holds from now on."""
        seconds, until = proposal.hold_seconds, proposal.hold_until
        self.now = HeldNow(
            len(self.ended) + 1,
            Deadline.after(seconds) if until is None else Deadline.at(until),
            Waker(),
            seconds,
            at,
            "" if proposal.wait is None else proposal.wait.decision.why,
        )
        return self.now

    def end(self, outcome: HoldOutcome) -> EndedWait:
        """The wait that was held is over."""
        assert self.now is not None
        ended = EndedWait(self.now, outcome)
        self.ended.append(ended)
        self.now = None
        return ended
