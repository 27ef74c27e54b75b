"""The handle by which others end a wait."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from continuity_core.engine.alarm import Alarm, ring


class Waker:
    """Ends the waits that are held with it: the one going on, and every later one at once.

    One waker serves one boundary: a wake is never taken back. ``wake`` may be called from the same event
    loop, from any other thread and from a signal handler. No lock is taken: a waiter first enters itself and
    then looks for a reason, a wake first leaves its reason and then looks for waiters.
    """

    __slots__ = ("_alarms", "_reasons")

    def __init__(self) -> None:
        self._reasons: list[str] = []
        self._alarms: list[Alarm] = []

    @property
    def reason(self) -> str | None:
        """The reason of the first wake, or None before it."""
        return self._reasons[0] if self._reasons else None

    def is_woken(self) -> bool:
        return bool(self._reasons)

    def wake(self, reason: str) -> bool:
        """End the wait; true if this was the first wake. Later ones change nothing."""
        if self._reasons:
            return False
        ring(self.mark(reason))
        return True

    def mark(self, reason: str) -> Sequence[Alarm]:
        """Leave the reason, and give back the alarms that the caller has to ring.

        For whoever wakes many at once: one ``ring`` of them all is one call into their event loop.
        """
        if self._reasons:
            return ()
        self._reasons.append(reason)
        return list(self._alarms)

    def attach(self, alarm: Alarm) -> None:
        """Ring ``alarm`` when woken, which may be at once. Called by clocks."""
        self._alarms.append(alarm)
        if self._reasons:
            ring((alarm,))

    def detach(self, alarm: Alarm) -> None:
        """Forget ``alarm``; it need not be attached. Called by clocks."""
        with contextlib.suppress(ValueError):
            self._alarms.remove(alarm)
