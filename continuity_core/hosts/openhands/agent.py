"""The agent of a conversation while it runs: each step is taken by the agent itself, and looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openhands.sdk.agent import AgentBase
from openhands.sdk.context.condenser import NoOpCondenser

from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.run import Run, SyncRun
from continuity_core.hosts.openhands.calls import WatchedModel
from continuity_core.hosts.openhands.driver import Ask, Asking, RunDriver
from continuity_core.hosts.openhands.lock import released
from continuity_core.hosts.openhands.projection import ProjectingCondenser
from continuity_core.hosts.openhands.stand_in import StandIn
from continuity_core.hosts.openhands.steps import Step
from continuity_core.model.boundary import Point


class WatchedAgent(StandIn):
    """Stands for ``conversation.agent``; everything but ``step`` and ``astep`` is the agent's own.

    It is never part of the conversation's state, so nothing of it is ever persisted.
    """

    def __init__(self, agent: Any, driver: RunDriver) -> None:
        super().__init__(agent)
        self._continuity_driver = driver

    @property
    def continuity_agent(self) -> Any:
        """The agent that it stands for now."""
        return self._continuity_own

    @classmethod
    def model_validate(cls, *arguments: Any, **options: Any) -> Any:
        """As of every agent: the data say of which kind it is. A fork asks the class of what it forks."""
        return AgentBase.model_validate(*arguments, **options)

    def step(self, conversation: Any, on_event: Any, on_token: Any = None) -> None:
        """One step of the loop, and what continuity says to it; waits are held on this thread."""
        with self._continuity_step(conversation, on_event) as (driver, step, agent):
            run = driver.run
            assert isinstance(run, SyncRun)
            error: Exception | None = None
            try:
                agent.step(conversation, on_event=step.take_event, on_token=on_token)
            except Exception as raised:
                error = raised
            except BaseException as raised:
                if (ask := driver.cut_short(step, raised)) is not None:
                    run.turn_ended(ask.turn, ask.host)
                raise
            deciding = driver.after_step(step, error)
            ask = next(deciding, None)
            while ask is not None:
                with released(driver.state):
                    if ask.point is Point.TURN_ENDED:
                        result = run.turn_ended(ask.turn, ask.host)
                    else:
                        result = run.before_settle(ask.host)
                    driver.senders.let_finish()
                ask = _answered(deciding, result)
            if error is not None and not step.goes_on:
                raise error

    async def astep(self, conversation: Any, on_event: Any, on_token: Any = None) -> None:
        """The same for ``arun``; an interruption ends a wait."""
        with self._continuity_step(conversation, on_event) as (driver, step, agent):
            run = driver.run
            assert isinstance(run, Run)
            error: Exception | None = None
            try:
                await agent.astep(conversation, on_event=step.take_event, on_token=on_token)
            except Exception as raised:
                error = raised
            except BaseException as raised:
                if (ask := driver.cut_short(step, raised)) is not None:
                    await run.turn_ended(ask.turn, ask.host)
                raise
            deciding = driver.after_step(step, error)
            ask = next(deciding, None)
            while ask is not None:
                with released(driver.state):
                    if ask.point is Point.TURN_ENDED:
                        result = await run.turn_ended(ask.turn, ask.host)
                    else:
                        result = await run.before_settle(ask.host)
                    driver.senders.let_finish()
                    if run.aborted:
                        # An interruption that is on its way must end this run, not what its caller does next.
                        await asyncio.sleep(0)
                ask = _answered(deciding, result)
            if error is not None and not step.goes_on:
                raise error

    @contextmanager
    def _continuity_step(self, conversation: Any, on_event: Any) -> Iterator[tuple[RunDriver, Step, Any]]:
        """The step, and a copy of the agent with which it is taken."""
        driver, agent = self._continuity_driver, self._continuity_own
        changes: dict[str, Any] = {"llm": WatchedModel(agent.llm, driver.endings, driver.begin_call)}
        if driver.recovers:
            condenser = agent.condenser or NoOpCondenser()
            changes["condenser"] = ProjectingCondenser(condenser, driver.project)
        watched = agent.model_copy(update=changes)
        # What the agent keeps for itself from step to step is one thing for both.
        object.__setattr__(watched, "__pydantic_private__", agent.__pydantic_private__)
        try:
            yield driver, driver.begin_step(on_event), watched
        finally:
            if conversation.agent is not self:  # A tool has switched the model, or loaded a plugin.
                self._continuity_own = conversation.agent
                conversation.agent = self


def _answered(deciding: Asking, result: BoundaryResult) -> Ask | None:
    """The next boundary, or ``None`` where everything is decided."""
    try:
        return deciding.send(result)
    except StopIteration:
        return None
