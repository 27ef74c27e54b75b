"""The driver's end of the connection with a play's child: it holds the waits and passes the events on."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import anyio
import anyio.abc
import attrs
from anyio.streams.buffered import BufferedByteReceiveStream

from continuity_core.engine.clock import Deadline
from continuity_core.engine.waker import Waker
from continuity_core.model.events import Event, EventKind
from continuity_core.testing.conformance.host import Play

WAKE_SECONDS = 2.0
"""Real seconds that an action during a wait has to reach the child and to end the wait."""
START_SECONDS = 5.0
"""Real seconds in which the child tells of a run that Pi has ended already."""
_LINE_LIMIT = 16 * 1024 * 1024


@attrs.define(eq=False)
class ChildLink:
    """The link of the play that goes on. Settings go to the child, waits and events come from it."""

    play: Play
    tasks: anyio.abc.TaskGroup
    wakers: dict[int, Waker] = attrs.field(factory=dict)
    """Of the waits that are held."""
    woken: anyio.Event = attrs.field(factory=anyio.Event)
    """Set when a wait was woken; replaced each time."""
    running: set[str] = attrs.field(factory=set)
    """Runs that are not settled yet."""
    ended: int = 0
    """Runs that are settled."""
    settled: anyio.Event = attrs.field(factory=anyio.Event)
    """Set when a run was settled; replaced each time."""

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        """Talk with a child until it closes."""
        lines = BufferedByteReceiveStream(stream)
        lock = anyio.Lock()
        held: dict[int, Waker] = {}
        async with stream:
            await _send(
                stream, lock, {"settings": dict(self.play.settings or {}), "now": self.play.now.isoformat()}
            )
            while True:
                try:
                    line = await lines.receive_until(b"\n", _LINE_LIMIT)
                except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    break
                message = json.loads(line)
                if "wait" in message:
                    held[message["wait"]] = Waker()
                    self.tasks.start_soon(self._hold, message, held[message["wait"]], stream, lock)
                else:
                    self._take(message)
        for waker in held.values():
            waker.wake("the child ended")

    def _take(self, message: dict[str, Any]) -> None:
        if "event" in message:
            self._take_event(message["event"])
        else:
            waker = self.wakers.get(message["wake"])
            if waker is not None:
                waker.wake(message["reason"])
            self.woken.set()
            self.woken = anyio.Event()

    def _take_event(self, data: dict[str, Any]) -> None:
        kind = EventKind(data.pop("kind"))
        at, session, run = datetime.fromisoformat(data.pop("at")), data.pop("session"), data.pop("run")
        if kind is EventKind.RUN_STARTED:
            self.running.add(run)
        self.play.on_event(Event(kind=kind, at=at, session=session, run=run, details=data))
        if kind is EventKind.RUN_SETTLED:
            self.running.discard(run)
            self.ended += 1
            self.settled.set()
            self.settled = anyio.Event()

    async def _hold(
        self, wait: dict[str, Any], waker: Waker, stream: anyio.abc.ByteStream, lock: anyio.Lock
    ) -> None:
        number, clock = wait["wait"], self.play.clock
        self.wakers[number] = waker
        until = wait["until"]
        deadline = (
            Deadline.after(wait["seconds"]) if until is None else Deadline.at(datetime.fromisoformat(until))
        )
        try:
            held = await clock.sleep_until(deadline, waker)
        finally:
            del self.wakers[number]
        over = {"over": number, "held": held, "now": clock.now().isoformat(), "monotonic": clock.monotonic()}
        await _send(stream, lock, over)

    async def action_done(self) -> None:
        """Give what was just done the time to reach the child, where a wait is held that it may end."""
        if not self.wakers or any(waker.is_woken() for waker in self.wakers.values()):
            return
        with anyio.move_on_after(WAKE_SECONDS):
            await self.woken.wait()

    async def all_settled(self, ended: int) -> None:
        """Wait until the child told the end of every run; it comes another way than Pi's own.

        ``ended`` is how many had ended before: of a run that is short the start may not be told yet.
        """
        with anyio.move_on_after(START_SECONDS):
            while self.ended == ended:
                await self.settled.wait()
        while self.running:
            await self.settled.wait()


async def _send(stream: anyio.abc.ByteStream, lock: anyio.Lock, message: dict[str, Any]) -> None:
    async with lock:
        try:
            await stream.send(json.dumps(message).encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
