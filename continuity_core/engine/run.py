"""Runs as a host drives them: one that waits in an event loop, one that waits on the caller's thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from continuity_core.engine.attempts import AsyncAttempts, SyncAttempts
from continuity_core.engine.base_run import CANCELLED, NO_FACTS, BaseRun
from continuity_core.engine.hold import HoldStart, hold_sync
from continuity_core.engine.results import BoundaryResult
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.turn import Turn


class Run(BaseRun):
    """A run whose waits are held in the caller's event loop (asyncio or trio)."""

    __slots__ = ()

    async def turn_ended(self, turn: Turn, host: HostFacts = NO_FACTS) -> BoundaryResult:
        """A turn ended: decide, and hold the wait. Call it after every turn, also a failed one.

        Raises :class:`RunError` where the run was settled or another boundary is being decided.
        """
        self._claim("turn_ended")
        try:
            step = self._turn_ended(turn, host)
            if step.wait is not None:
                # As `hold` does, without a coroutine more for every run that waits.
                clock, deadline, waker = self._owner.clock, step.wait.deadline, step.wait.waker
                start, outcome = HoldStart.of(clock, deadline), CANCELLED
                try:
                    completed = await clock.sleep_until(deadline, waker)
                    outcome = start.outcome(clock, waker, completed=completed)
                finally:
                    self._end_wait(step, outcome)
            return self._concluded(step)
        finally:
            self._busy = False

    async def before_settle(self, host: HostFacts = NO_FACTS) -> BoundaryResult:
        """The host would end the run now: decide about the turn that ended last. Never waits."""
        return self._before_settle(host)

    def attempts(self, messages: Sequence[Any], host: HostFacts = NO_FACTS) -> AsyncAttempts:
        """Iterate over attempts at one model turn, until it is good or the budgets are spent."""
        return AsyncAttempts(self, messages, host)

    def __enter__(self) -> Self:
        return self


class SyncRun(BaseRun):
    """A run whose waits are held on the caller's thread; another thread or a signal handler may end them."""

    __slots__ = ()

    def turn_ended(self, turn: Turn, host: HostFacts = NO_FACTS) -> BoundaryResult:
        """A turn ended: decide, and hold the wait. Call it after every turn, also a failed one.

        Raises :class:`RunError` where the run was settled or another boundary is being decided.
        """
        self._claim("turn_ended")
        try:
            step = self._turn_ended(turn, host)
            if step.wait is not None:
                outcome = CANCELLED
                try:
                    outcome = hold_sync(self._owner.clock, step.wait.deadline, step.wait.waker)
                finally:
                    self._end_wait(step, outcome)
            return self._concluded(step)
        finally:
            self._busy = False

    def before_settle(self, host: HostFacts = NO_FACTS) -> BoundaryResult:
        """The host would end the run now: decide about the turn that ended last. Never waits."""
        return self._before_settle(host)

    def attempts(self, messages: Sequence[Any], host: HostFacts = NO_FACTS) -> SyncAttempts:
        """Iterate over attempts at one model turn, until it is good or the budgets are spent."""
        return SyncAttempts(self, messages, host)

    def __enter__(self) -> Self:
        return self
