"""Holding a wait: until its time has come, or until somebody ends it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import attrs

from continuity_core.engine.clock import Clock, Deadline
from continuity_core.engine.waker import Waker

__all__ = ["HoldOutcome", "HoldStart", "Waker", "hold", "hold_sync"]


@attrs.frozen(kw_only=True)
class HoldOutcome:
    """How a wait went."""

    held_seconds: float
    """The wait's whole length if it was held to its end, else how much of it had passed."""
    ended_by: str | None
    """The reason of the wake that ended it early; None if it was held to its end."""


async def hold(clock: Clock, deadline: Deadline, waker: Waker) -> HoldOutcome:
    """Hold the wait. A wake that came before it started ends it at once; a cancellation passes through.

    A wake that is seen when the time has just come counts as the end: an abort is never lost to a tie.
    """
    start = HoldStart.of(clock, deadline)
    return start.outcome(clock, waker, completed=await clock.sleep_until(deadline, waker))


def hold_sync(clock: Clock, deadline: Deadline, waker: Waker) -> HoldOutcome:
    """``hold`` on the caller's thread; ``waker`` is woken from another one or from a signal handler."""
    start = HoldStart.of(clock, deadline)
    return start.outcome(clock, waker, completed=clock.sleep_until_sync(deadline, waker))


class HoldStart(NamedTuple):
    """The moment a wait began: what is left of ``hold`` for a caller that does the waiting itself."""

    length: float
    follows_wall: bool
    wall: datetime
    monotonic: float

    @classmethod
    def of(cls, clock: Clock, deadline: Deadline) -> HoldStart:
        now = clock.now()
        return cls(deadline.length(now), deadline.until is not None, now, clock.monotonic())

    def outcome(self, clock: Clock, waker: Waker, *, completed: bool) -> HoldOutcome:
        """A completed wait counts at its length, without what a scheduler added: budgets are reproducible."""
        if completed:
            return HoldOutcome(held_seconds=self.length, ended_by=None)
        passed = clock.monotonic() - self.monotonic
        if self.follows_wall:
            passed = max(passed, (clock.now() - self.wall).total_seconds())
        return HoldOutcome(held_seconds=min(max(passed, 0.0), self.length), ended_by=waker.reason)
