"""Clocks that take the waiting out of tests and demonstrations."""

from __future__ import annotations

import heapq
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import anyio.lowlevel
import attrs

from continuity_core.engine.alarm import Alarm, LoopAlarm, ThreadAlarm, ring
from continuity_core.engine.clock import Deadline, SystemClock, longest_on_monotonic
from continuity_core.engine.ticker import Ticker
from continuity_core.engine.waker import Waker

DEFAULT_START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

_CHECKPOINTS = 10
"""Of one scheduler round: enough for an action to pass through a few tasks of a host."""
_THREAD_ROUND = 0.002
"""Real seconds of the round that a synchronous holder gives to other threads."""
_RESOLUTION = 1e-6
"""Seconds; what ``datetime`` resolves. A wait with less left has come."""


@attrs.define(kw_only=True)
class RecordedWait:
    """One wait that began on a ``VirtualClock``. While it goes on, it is neither held nor ended."""

    seconds: float
    """Its length at its start."""
    until: datetime | None
    """The instant it was asked to last to, if it was not a relative one."""
    held: bool = False
    """It was held to its end."""
    ended_by: str | None = None
    """The reason of the wake that ended it early; ``cancelled`` if its task was cancelled."""


OnWait: TypeAlias = Callable[[int, RecordedWait], Awaitable[object] | None]
"""Called when a wait begins, with its number from 1; a coroutine that it returns is awaited by the holder."""


@attrs.define(eq=False)
class _Sleeper:
    record: RecordedWait
    alarm: Alarm | None = None
    """Set while it is parked; None while it takes its round."""
    gone: bool = False


class VirtualClock:
    """A clock that stands still until it is moved; for asyncio, trio and threads, also mixed.

    With ``auto_advance``, a wait gives the other tasks one scheduler round in which they may end it, and then
    the clock jumps to the earliest deadline. Without, ``advance`` moves it. Waits end in the order of their
    deadlines, one after the other. Wall time moves with each wait held to its end, never with an ended one.
    """

    def __init__(
        self,
        start: datetime = DEFAULT_START,
        *,
        auto_advance: bool = True,
        on_wait: OnWait | None = None,
    ) -> None:
        if start.tzinfo is None:
            raise ValueError("the start of a VirtualClock must carry a time zone")
        self.auto_advance = auto_advance
        self.on_wait = on_wait
        self.waits: list[RecordedWait] = []
        """Every wait, in the order of beginning."""
        self._lock = threading.Lock()
        self._changes = 0
        self._wall = start.astimezone(UTC)
        self._monotonic = 0.0
        self._by_monotonic: list[tuple[float, int, _Sleeper]] = []
        self._by_wall: list[tuple[datetime, int, _Sleeper]] = []

    def now(self) -> datetime:
        return self._wall

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass on both clocks."""
        self._move(seconds, seconds)

    def suspend(self, seconds: float) -> None:
        """Let ``seconds`` pass on the wall clock only, as while a computer sleeps."""
        self._move(seconds, 0.0)

    def set_wall(self, instant: datetime) -> None:
        """Set the wall clock forwards or back; monotonic time stays."""
        if instant.tzinfo is None:
            raise ValueError("set_wall takes an instant with a time zone")
        with self._lock:
            self._wall = instant.astimezone(UTC)
        self._ring_next()

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        await anyio.lowlevel.checkpoint()
        if waker.is_woken():
            return False
        number, sleeper = self._begin(deadline)
        try:
            called = self.on_wait(number, sleeper.record) if self.on_wait is not None else None
            if inspect.isawaitable(called):
                await called
            while True:
                await self._give_round(waker)
                alarm = LoopAlarm()
                if waker.is_woken() or self._passes(sleeper, alarm):
                    return self._record_end(sleeper, waker)
                waker.attach(alarm)
                try:
                    await alarm.wait()
                finally:
                    waker.detach(alarm)
        except BaseException:
            sleeper.record.ended_by = "cancelled"
            raise
        finally:
            self._leave(sleeper)

    async def _give_round(self, waker: Waker) -> None:
        """A wait that begins or ends meanwhile starts the round anew: its task has just run.

        There is a checkpoint also where the wait has been ended: the task may have been cancelled as well.
        """
        left = needed = _CHECKPOINTS if self.auto_advance else 1
        changes = self._changes
        while left:
            await anyio.lowlevel.checkpoint()
            if waker.is_woken():
                return
            left = left - 1 if changes == self._changes else needed
            changes = self._changes

    def _give_round_to_threads(self, alarm: ThreadAlarm) -> None:
        changes = None
        while changes != self._changes:
            changes = self._changes
            if alarm.wait(timeout=_THREAD_ROUND):
                return

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        if waker.is_woken():
            return False
        number, sleeper = self._begin(deadline)
        try:
            if self.on_wait is not None and self.on_wait(number, sleeper.record) is not None:
                raise TypeError("on_wait must return None when the wait is a synchronous one")
            while True:
                alarm = ThreadAlarm()
                waker.attach(alarm)
                try:
                    if self.auto_advance:
                        self._give_round_to_threads(alarm)
                    if waker.is_woken() or self._passes(sleeper, alarm):
                        return self._record_end(sleeper, waker)
                    alarm.wait()
                finally:
                    waker.detach(alarm)
        except BaseException:
            sleeper.record.ended_by = "cancelled"
            raise
        finally:
            self._leave(sleeper)

    def _begin(self, deadline: Deadline) -> tuple[int, _Sleeper]:
        with self._lock:
            length = deadline.length(self._wall)
            sleeper = _Sleeper(RecordedWait(seconds=length, until=deadline.until))
            self.waits.append(sleeper.record)
            self._changes += 1
            number = len(self.waits)
            bound = length
            if deadline.until is not None:
                bound = longest_on_monotonic(length)
                heapq.heappush(self._by_wall, (deadline.until, number, sleeper))
            heapq.heappush(self._by_monotonic, (self._monotonic + bound, number, sleeper))
        return number, sleeper

    def _passes(self, sleeper: _Sleeper, alarm: Alarm) -> bool:
        """Whether the sleeper's time has come, or can come now by a jump; else it is parked on ``alarm``."""
        with self._lock:
            left, first = self._earliest()
            if first is sleeper and (self.auto_advance or left <= _RESOLUTION):
                self._jump(max(left, 0.0))
                return True
            sleeper.alarm = alarm
            return False

    def _record_end(self, sleeper: _Sleeper, waker: Waker) -> bool:
        sleeper.record.ended_by = waker.reason
        sleeper.record.held = sleeper.record.ended_by is None
        return sleeper.record.held

    def _leave(self, sleeper: _Sleeper) -> None:
        with self._lock:
            sleeper.gone = True
            self._changes += 1
        self._ring_next()

    def _move(self, wall_seconds: float, monotonic_seconds: float) -> None:
        if not 0 <= wall_seconds < float("inf"):
            raise ValueError(f"time passes by a finite number of seconds >= 0, not {wall_seconds!r}")
        with self._lock:
            self._wall += timedelta(seconds=wall_seconds)
            self._monotonic += monotonic_seconds
        self._ring_next()

    def _jump(self, seconds: float) -> None:
        self._wall += timedelta(seconds=seconds)
        self._monotonic += seconds

    def _ring_next(self) -> None:
        """Let the earliest sleeper look at the clock, if it is parked and there is something for it to do."""
        with self._lock:
            left, first = self._earliest()
            if first is None or not (self.auto_advance or left <= _RESOLUTION):
                return
            alarm, first.alarm = first.alarm, None
        if alarm is not None:
            ring((alarm,))

    def _earliest(self) -> tuple[float, _Sleeper | None]:
        """The sleeper with the least time left, and that time in seconds (below 0 if it is overdue)."""
        while self._by_monotonic and self._by_monotonic[0][2].gone:
            heapq.heappop(self._by_monotonic)
        while self._by_wall and self._by_wall[0][2].gone:
            heapq.heappop(self._by_wall)
        candidates: list[tuple[float, int, _Sleeper]] = []
        if self._by_monotonic:
            due, number, sleeper = self._by_monotonic[0]
            candidates.append((due - self._monotonic, number, sleeper))
        if self._by_wall:
            until, number, sleeper = self._by_wall[0]
            candidates.append(((until - self._wall).total_seconds(), number, sleeper))
        if not candidates:
            return 0.0, None
        left, _, first = min(candidates, key=lambda candidate: candidate[:2])
        return left, first


class ScaledClock:
    """Real time, ``factor`` times as fast: a wait of 600 s takes ``600 / factor`` s and counts as 600 s."""

    def __init__(self, factor: float) -> None:
        if not 0 < factor < float("inf"):
            raise ValueError(f"the factor of a ScaledClock must be a finite number > 0, not {factor!r}")
        origin = time.time()
        self._clock = SystemClock(
            ticker=Ticker(
                wall=lambda: origin + (time.time() - origin) * factor,
                monotonic=lambda: time.monotonic() * factor,
                rate=factor,
            )
        )

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        return await self._clock.sleep_until(deadline, waker)

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        return self._clock.sleep_until_sync(deadline, waker)
