"""Doing what the user does in a scenario, at its moment."""

from __future__ import annotations

import threading
from collections.abc import Awaitable

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel
import attrs

from continuity_core.model.events import Event, EventKind
from continuity_core.testing.clocks import RecordedWait
from continuity_core.testing.conformance.host import HostSession
from continuity_core.testing.conformance.scenario import Action, ActionKind, During, Scenario
from continuity_core.testing.fault_server import FaultServer, Hold

CLIENT_GONE_SECONDS = 5.0
"""Real seconds that a host has to close its connection after an abort."""


@attrs.define(kw_only=True, eq=False)
class Director:
    """The actions of one play; watches that nothing is requested after an abort."""

    scenario: Scenario
    server: FaultServer
    during: tuple[During, ...] = ("response", "wait")
    """The moments at which actions are done."""
    problems: list[str] = attrs.field(factory=list)
    session: HostSession | None = None
    _fired: list[Action] = attrs.field(factory=list)
    _requests_at_abort: int | None = None
    _thread: int = attrs.field(factory=threading.get_ident)
    _loop: anyio.lowlevel.EventLoopToken | None = None

    # ---------------------------------------------------------------- at a response

    def watch_responses(self, session: HostSession, tasks: anyio.abc.TaskGroup) -> None:
        """Hold back the responses at which something is done; call it before the first prompt."""
        self.session = session
        self._loop = anyio.lowlevel.current_token()
        if "response" not in self.during:
            return
        for number, actions in self.scenario.actions_at("response").items():
            if number <= len(self.scenario.responses):
                tasks.start_soon(self._at_response, self.server.hold(number), actions)

    async def _at_response(self, hold: Hold, actions: tuple[Action, ...]) -> None:
        await hold.reached()
        await self._do_all(actions)
        if any(action.do is ActionKind.ABORT for action in actions):
            with anyio.move_on_after(CLIENT_GONE_SECONDS):
                await hold.over()
            if not hold.is_over:
                self.problems.append(f"the host kept reading response {hold.number} after the abort")
        hold.release()

    # ---------------------------------------------------------------- at a wait

    def on_wait(self, number: int, record: RecordedWait) -> Awaitable[None] | None:
        """What the clock calls when a wait begins, in the holder's task or thread."""
        actions = self.scenario.actions_at("wait").get(number, ())
        if not actions or "wait" not in self.during:
            return None
        if threading.get_ident() == self._thread:
            return self._do_all(actions)
        # The thread may be one that the host started by itself.
        anyio.from_thread.run(self._do_all, actions, token=self._loop)
        return None

    # ---------------------------------------------------------------- doing it

    async def _do_all(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            self._fired.append(action)
            try:
                await self._do(action)
            except Exception as error:
                self.problems.append(f"{action} raised {type(error).__name__}: {error}")

    async def _do(self, action: Action) -> None:
        assert self.session is not None
        match action.do:
            case ActionKind.ABORT:
                self._requests_at_abort = len(self.server.requests)
                await self.session.abort()
            case ActionKind.INPUT:
                assert action.kind is not None
                await self.session.give_input(action.kind, action.text)
            case _:
                await self.session.switch(action.do is ActionKind.ON)

    # ---------------------------------------------------------------- what must hold

    def on_event(self, event: Event) -> None:
        """An event of continuity: a new run may send requests again."""
        if event.kind is EventKind.RUN_STARTED and event.data.get("parent") is None:
            self.run_ended()

    def run_ended(self) -> None:
        """The run is over, or another one begins: look whether it sent a request after its abort."""
        before, self._requests_at_abort = self._requests_at_abort, None
        if before is not None and len(self.server.requests) > before:
            self.problems.append(f"request {before + 1} was sent after the abort of its run")

    @property
    def not_fired(self) -> tuple[Action, ...]:
        """The actions that found no moment."""
        return tuple(action for action in self.scenario.actions if action not in self._fired)
