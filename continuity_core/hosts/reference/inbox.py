"""What the user says while a run goes on."""

from __future__ import annotations

import threading
from collections import deque

import attrs

from continuity_core.model.host_facts import InputKind


@attrs.define(eq=False)
class Inbox:
    """Two queues, filled from any thread. It is open while the session runs."""

    lock: threading.RLock = attrs.field(factory=threading.RLock)
    is_open: bool = False
    _steering: deque[str] = attrs.field(factory=deque)
    _follow_ups: deque[str] = attrs.field(factory=deque)

    @property
    def pending(self) -> InputKind | None:
        """The kind of what is picked up next."""
        if self._steering:
            return "steer"
        return "follow_up" if self._follow_ups else None

    def put(self, kind: InputKind, text: str) -> None:
        """Queue what the user said."""
        (self._steering if kind == "steer" else self._follow_ups).append(text)

    def take_steering(self) -> list[str]:
        """Everything that steers the run that goes on."""
        taken = []
        while self._steering:
            taken.append(self._steering.popleft())
        return taken

    def take_next_or_close(self) -> str | None:
        """The next follow-up, else close. Steering that came too late for its run counts as a follow-up."""
        with self.lock:
            for queue in (self._steering, self._follow_ups):
                if queue:
                    return queue.popleft()
            self.is_open = False
            return None

    def close(self) -> tuple[str, ...]:
        """Close, and give back what was not picked up."""
        with self.lock:
            self.is_open = False
            left = (*self._steering, *self._follow_ups)
            self._steering.clear()
            self._follow_ups.clear()
            return left
