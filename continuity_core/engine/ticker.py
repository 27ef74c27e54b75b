"""One thread that rings the alarms of all waits of the process when their time has come."""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable

from continuity_core.engine.alarm import Alarm, ring

LOOK_EVERY = 1.0
"""Real seconds between two looks at the wall clock while a wait to an instant is pending."""
_LONGEST_SLEEP = 3600.0
"""Real seconds; the lock under the condition takes no timeout beyond ``threading.TIMEOUT_MAX``."""

_Heap = list[tuple[float, int, Alarm]]


class Ticker:
    """Alarms in order of their time. Its daemon thread lives only while an alarm is pending.

    Monotonic time stands still while a computer is suspended, and no timer that Python offers follows wall
    time; so the thread looks at the wall clock once in ``look_every`` seconds while an alarm depends on it,
    however many there are.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        rate: float = 1.0,
        look_every: float = LOOK_EVERY,
    ) -> None:
        """``rate`` is how many of the clocks' seconds pass in a real one."""
        self.wall = wall
        self.monotonic = monotonic
        self._rate = rate
        self._look_every = look_every
        self._forget()

    def _forget(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None
        self._numbers = itertools.count()
        self._pending: set[Alarm] = set()
        self._by_monotonic: _Heap = []
        self._by_wall: _Heap = []

    def forget_after_fork(self) -> None:
        """Start anew in a forked child, where neither the thread nor the waiters exist."""
        self._forget()

    @property
    def pending(self) -> int:
        """How many alarms wait for their time."""
        return len(self._pending)

    def add(self, alarm: Alarm, *, due: float, until: float | None = None) -> None:
        """Ring it at ``due`` on the monotonic clock or at ``until`` on the wall clock, whichever is first."""
        with self._condition:
            self._ensure_thread()
            number = next(self._numbers)
            self._pending.add(alarm)
            entry = (due, number, alarm)
            heapq.heappush(self._by_monotonic, entry)
            first = self._by_monotonic[0] is entry
            if until is not None:
                entry = (until, number, alarm)
                heapq.heappush(self._by_wall, entry)
                first = first or self._by_wall[0] is entry
            if first:
                self._condition.notify()

    def discard(self, alarm: Alarm) -> None:
        """Forget ``alarm``; it need not be pending."""
        with self._condition:
            if alarm not in self._pending:
                return
            self._pending.discard(alarm)
            if not self._pending:
                self._condition.notify()
            self._by_monotonic = self._without_leftovers(self._by_monotonic)
            self._by_wall = self._without_leftovers(self._by_wall)

    def _without_leftovers(self, heap: _Heap) -> _Heap:
        """Entries of forgotten alarms stay until they are half of the heap, so that forgetting is cheap."""
        if len(heap) <= 2 * len(self._pending):
            return heap
        kept = [entry for entry in heap if entry[2] in self._pending]
        heapq.heapify(kept)
        return kept

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="continuity-ticker", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                due = self._take_due(self._by_monotonic, self.monotonic())
                if self._by_wall:
                    due += self._take_due(self._by_wall, self.wall())
                if not due:
                    if not self._pending:
                        self._by_monotonic, self._by_wall = [], []
                        self._thread = None
                        return
                    self._condition.wait(self._seconds_to_next_look())
                    continue
            ring(due)

    def _take_due(self, heap: _Heap, now: float) -> list[Alarm]:
        due: list[Alarm] = []
        while heap and (heap[0][0] <= now or heap[0][2] not in self._pending):
            alarm = heapq.heappop(heap)[2]
            if alarm in self._pending:
                self._pending.discard(alarm)
                due.append(alarm)
        return due

    def _seconds_to_next_look(self) -> float:
        seconds = _LONGEST_SLEEP
        if self._by_monotonic:
            seconds = min(seconds, (self._by_monotonic[0][0] - self.monotonic()) / self._rate)
        if self._by_wall:
            seconds = min(seconds, self._look_every, (self._by_wall[0][0] - self.wall()) / self._rate)
        return max(seconds, 0.0)


SHARED_TICKER = Ticker()
"""The one of the process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SHARED_TICKER.forget_after_fork)
