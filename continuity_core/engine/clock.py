"""Time as the engine sees it: wall time, monotonic time, and sleeping until a deadline or a wake."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Protocol

import anyio.lowlevel
import attrs

from continuity_core.engine.alarm import Alarm, LoopAlarm, ThreadAlarm
from continuity_core.engine.ticker import SHARED_TICKER, Ticker
from continuity_core.engine.waker import Waker


@attrs.frozen(kw_only=True)
class Deadline:
    """When a wait ends: ``seconds`` after its start, or at the instant ``until``; exactly one of them.

    Our own backoff is relative and runs on monotonic time. What a provider stated is an instant and follows
    wall time, so that it also passes while the computer is suspended.
    """

    seconds: float | None = None
    """Finite and at least 0."""
    until: datetime | None = None
    """An aware instant; one in the past is due at once."""

    def __attrs_post_init__(self) -> None:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("Deadline takes exactly one of seconds and until")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"Deadline.seconds must be a finite number >= 0, not {self.seconds!r}")
        if self.until is not None and self.until.tzinfo is None:
            raise ValueError("Deadline.until must carry a time zone")

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds=seconds)

    @classmethod
    def at(cls, until: datetime) -> Deadline:
        return cls(until=until)

    def length(self, now: datetime) -> float:
        """Seconds that the wait takes if it starts at ``now``, at least 0."""
        if self.until is not None:
            return max(0.0, (self.until - now).total_seconds())
        assert self.seconds is not None
        return self.seconds


def longest_on_monotonic(length: float) -> float:
    """Monotonic seconds after which a wait to an instant ends, whatever the wall clock says meanwhile.

    A wall clock that is set back would otherwise prolong the wait by as much. The slack of 2 s or 0.1 %
    is what an ordinary correction takes: time servers slew a clock by at most 500 ppm.
    """
    return length + max(2.0, length * 0.001)


class Clock(Protocol):
    """What the engine needs of time."""

    def now(self) -> datetime:
        """Wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, from an arbitrary start."""
        ...

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        """True when the time has come, False when ``waker`` was woken before the return.

        Always a checkpoint. A cancellation passes through at once and leaves nothing behind.
        """
        ...

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        """The same on the caller's thread."""
        ...


@attrs.frozen(kw_only=True, eq=False)
class SystemClock:
    """The real time. All sleepers share one thread that rings them."""

    ticker: Ticker = SHARED_TICKER

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.ticker.wall(), UTC)

    def monotonic(self) -> float:
        return self.ticker.monotonic()

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        if deadline.length(self.now()) == 0:
            await anyio.lowlevel.checkpoint()
            return not waker.is_woken()
        alarm = LoopAlarm()
        try:
            self._set_alarm(alarm, deadline)
            waker.attach(alarm)
            await alarm.wait()
        finally:
            waker.detach(alarm)
            self.ticker.discard(alarm)
        return not waker.is_woken()

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        if deadline.length(self.now()) == 0:
            return not waker.is_woken()
        alarm = ThreadAlarm()
        try:
            self._set_alarm(alarm, deadline)
            waker.attach(alarm)
            alarm.wait()
        finally:
            waker.detach(alarm)
            self.ticker.discard(alarm)
        return not waker.is_woken()

    def _set_alarm(self, alarm: Alarm, deadline: Deadline) -> None:
        length = deadline.length(self.now())
        if deadline.until is None:
            self.ticker.add(alarm, due=self.monotonic() + length)
        else:
            due = self.monotonic() + longest_on_monotonic(length)
            self.ticker.add(alarm, due=due, until=deadline.until.timestamp())


SYSTEM_CLOCK = SystemClock()
"""The default of everything that takes a clock."""
