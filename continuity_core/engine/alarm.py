"""Alarms: what a waiting task or thread sleeps on, and how others ring it from anywhere."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel

if TYPE_CHECKING:
    import asyncio


class LoopAlarm:
    """Made and awaited by one task; anyone may ``ring`` it, from any thread.

    It belongs to the event loop that runs where it is made (asyncio or trio). On asyncio it is a bare future:
    an event carries a queue of waiters that alone is half as large as a sleeping task.
    """

    __slots__ = ("_sleep", "loop")

    def __init__(self) -> None:
        self.loop: Any = anyio.lowlevel.current_token().native_token
        self._sleep: asyncio.Future[None] | anyio.Event = (
            self.loop.create_future() if hasattr(self.loop, "create_future") else anyio.Event()
        )

    def wait(self) -> Awaitable[None]:
        """Await it once. It returns when the alarm has rung; a cancellation passes through."""
        return self._sleep.wait() if isinstance(self._sleep, anyio.Event) else self._sleep

    def set(self) -> None:
        """Only on the alarm's own loop; elsewhere ``ring`` it."""
        if isinstance(self._sleep, anyio.Event):
            self._sleep.set()
        elif not self._sleep.done():
            self._sleep.set_result(None)


# Where a lock without a timeout cannot be interrupted by Ctrl-C, it is taken in slices of this many seconds.
_SLICE = 0.5 if sys.platform == "win32" else threading.TIMEOUT_MAX


class ThreadAlarm:
    """The alarm of a synchronous caller: its thread blocks, another thread or a signal handler rings.

    A bare lock and not a ``threading.Event``, whose ``set`` can deadlock in a signal handler.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it has rung, or for ``timeout`` seconds; true if it has rung. One call sees a ring."""
        if timeout is not None:
            return self._lock.acquire(timeout=timeout)
        while not self._lock.acquire(timeout=_SLICE):
            pass
        return True

    def set(self) -> None:
        """Ring it; another ring before the first was seen changes nothing."""
        with contextlib.suppress(RuntimeError):
            self._lock.release()


Alarm: TypeAlias = LoopAlarm | ThreadAlarm


def ring(alarms: Iterable[Alarm]) -> None:
    """Ring all of them, with one call into each event loop. Never blocks; safe in a signal handler.

    Alarms of a loop that has ended are passed over: nobody sleeps on them.
    """
    by_loop: dict[Any, list[LoopAlarm]] = {}
    for alarm in alarms:
        if isinstance(alarm, ThreadAlarm):
            alarm.set()
        else:
            by_loop.setdefault(alarm.loop, []).append(alarm)
    for loop, ringing in by_loop.items():
        _call_soon(loop, _set_all, ringing)


def _set_all(alarms: list[LoopAlarm]) -> None:
    for alarm in alarms:
        alarm.set()


def _call_soon(loop: Any, function: Callable[[list[LoopAlarm]], None], alarms: list[LoopAlarm]) -> None:
    """Call into the loop without waiting, which ``anyio.from_thread`` cannot, and from its own thread too.

    A closed loop raises RuntimeError (trio's RunFinishedError is one).
    """
    call_soon = loop.run_sync_soon if hasattr(loop, "run_sync_soon") else loop.call_soon_threadsafe
    with contextlib.suppress(RuntimeError):
        call_soon(function, alarms)
