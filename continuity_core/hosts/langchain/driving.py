"""The steps of a hook, the same for synchronous and asynchronous agents, and the two ways to do them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeAlias

import attrs
from langchain.agents.middleware import ModelRequest

from continuity_core.engine.run import Run, SyncRun
from continuity_core.hosts.langchain.listening import LISTENER, Listener
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.turn import Turn


@attrs.frozen(eq=False)
class Ask:
    """Call the model; answered with its response."""

    request: ModelRequest[Any]
    listener: Listener


@attrs.frozen(eq=False)
class TurnEnded:
    """Tell continuity of a turn, and hold its wait; answered with the result of the boundary."""

    turn: Turn
    facts: HostFacts


@attrs.frozen(eq=False)
class BeforeSettle:
    """Ask continuity once more before the run ends; answered with the result of the boundary."""

    facts: HostFacts


Step: TypeAlias = Ask | TurnEnded | BeforeSettle
Steps: TypeAlias = Generator[Step, Any, Any]


async def drive(steps: Steps, run: Run, handler: Callable[[Any], Awaitable[Any]] | None = None) -> Any:
    """Do the steps in an event loop, and give what comes of them."""

    async def do(step: Step) -> Any:
        if isinstance(step, TurnEnded):
            return await run.turn_ended(step.turn, step.facts)
        if isinstance(step, BeforeSettle):
            return await run.before_settle(step.facts)
        assert handler is not None
        token = LISTENER.set(step.listener)
        try:
            return await handler(step.request)
        finally:
            LISTENER.reset(token)

    try:
        step = next(steps)
        while True:
            try:
                answer = await do(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        return stop.value


def drive_sync(steps: Steps, run: SyncRun, handler: Callable[[Any], Any] | None = None) -> Any:
    """Do the steps on this thread, and give what comes of them."""

    def do(step: Step) -> Any:
        if isinstance(step, TurnEnded):
            return run.turn_ended(step.turn, step.facts)
        if isinstance(step, BeforeSettle):
            return run.before_settle(step.facts)
        assert handler is not None
        token = LISTENER.set(step.listener)
        try:
            return handler(step.request)
        finally:
            LISTENER.reset(token)

    try:
        step = next(steps)
        while True:
            try:
                answer = do(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        return stop.value
