"""The child process of a play: the server that hosts use, with settings and waits from the driver.

``python -P -m continuity_core.testing.conformance.hosts.pi.child FILE``; the file holds the driver's address.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from continuity_core.continuity import Continuity
from continuity_core.engine.alarm import LoopAlarm, ring
from continuity_core.engine.clock import Clock, Deadline
from continuity_core.engine.waker import Waker
from continuity_core.hosts.stdio import serve_stdio
from continuity_core.hosts.stdio.fields import Fields
from continuity_core.model.events import Event


class Link:
    """The connection to the driver: one JSON object a line, both ways."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._lock = threading.Lock()
        self._input = self._socket.makefile("rb")

    def read(self) -> dict[str, Any] | None:
        """The next message; ``None`` at the end."""
        line = self._input.readline()
        return json.loads(line) if line else None

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; a driver that has gone needs none."""
        with self._lock:
            try:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
            except OSError:
                return


class DriverClock:
    """The driver holds the waits; wall time is what it was told last."""

    def __init__(self, link: Link, now: datetime) -> None:
        self._link = link
        self._now = now
        self._monotonic = 0.0
        self._waits = 0
        self._over: dict[int, dict[str, Any]] = {}
        self._alarms: dict[int, LoopAlarm] = {}

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def wait_over(self, message: dict[str, Any]) -> None:
        """The driver says how a wait went. Called from the link's thread."""
        self._over[message["over"]] = message
        alarm = self._alarms.get(message["over"])
        if alarm is not None:
            ring((alarm,))

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        self._waits += 1
        number = self._waits
        self._link.send(
            {
                "wait": number,
                "seconds": deadline.seconds,
                "until": None if deadline.until is None else deadline.until.isoformat(),
            }
        )
        told = False
        while number not in self._over:
            alarm = self._alarms[number] = LoopAlarm()
            if not told:
                waker.attach(alarm)
            try:
                if number not in self._over:
                    await alarm.wait()
            finally:
                waker.detach(alarm)
            if waker.is_woken() and not told:
                told = True
                self._link.send({"wake": number, "reason": waker.reason})
        over = self._over.pop(number)
        self._now, self._monotonic = datetime.fromisoformat(over["now"]), over["monotonic"]
        return bool(over["held"]) and not waker.is_woken()

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        raise NotImplementedError("the server's runs are asynchronous")


def main(file: str) -> None:
    """Serve the play that the driver tells of."""
    link = Link(Path(file).read_text(encoding="utf-8"))
    play = link.read()
    if play is None:
        sys.exit("the driver closed the connection before it told the play")
    clock = DriverClock(link, datetime.fromisoformat(play["now"]))

    def read_link() -> None:
        while (message := link.read()) is not None:
            clock.wait_over(message)

    def load(fields: Fields, on_event: Callable[[Event], None], clock: Clock) -> Continuity:
        def on_both(event: Event) -> None:
            on_event(event)
            link.send({"event": event.to_dict()})

        return Continuity.from_settings(play["settings"], installed=False, clock=clock, on_event=on_both)

    threading.Thread(target=read_link, daemon=True).start()
    serve_stdio(clock=clock, load=load)


if __name__ == "__main__":
    main(sys.argv[1])
