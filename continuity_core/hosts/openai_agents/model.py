"""The model that recovers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from agents import ModelResponse, OpenAIChatCompletionsModel, OpenAIResponsesModel
from agents.models._run_context import get_model_run_owner
from agents.models.interface import Model
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest

from continuity_core.continuity import Continuity
from continuity_core.hosts.adapting import continuity_of
from continuity_core.hosts.openai_agents import retrying
from continuity_core.hosts.openai_agents.attempts import Attempt, StreamedAttempt, WholeAttempt
from continuity_core.hosts.openai_agents.driving import ModelTurn
from continuity_core.hosts.openai_agents.listening import make_heard
from continuity_core.hosts.openai_agents.request import Request
from continuity_core.hosts.openai_agents.runs import AgentRun, AgentRuns
from continuity_core.hosts.openai_agents.warning import UNHEARD
from continuity_core.model.boundary import Mode

_FRAMEWORKS_OWN = (OpenAIChatCompletionsModel, OpenAIResponsesModel)


class ContinuityModel(Model):
    """``model`` with continuity: ``Agent(model=ContinuityModel(model))``.

    ``continuity`` is a :class:`Continuity` to share; without it one is loaded, ``settings`` (the keys of
    ``[tool.continuity]``) and ``plugins`` being added as by :meth:`Continuity.load`. Models that share a
    ``continuity`` share the runs, so that a hand-over to another model stays the same run.
    """

    def __init__(
        self,
        model: Model,
        *,
        continuity: Continuity | None = None,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
    ) -> None:
        if isinstance(model, ContinuityModel):
            raise TypeError("the model has continuity already: give the model that it wraps")
        self.continuity = continuity_of(continuity, settings=settings, plugins=plugins)
        """Plugins and settings in force, with the switches."""
        self.wrapped = model
        """The framework's own model."""
        self._runs = AgentRuns.of(self.continuity)
        if not make_heard(model) and isinstance(model, _FRAMEWORKS_OWN):
            self._runs.warnings.tell(UNHEARD)

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    # ---------------------------------------------------------------- asking

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """Ask the model, as often as continuity says."""
        request = Request.of(given, named)
        if self._is_left_alone(request):
            return await self.wrapped.get_response(**request.arguments)
        agent_run, is_alone = self._agent_run()
        try:
            return await self._ask(ModelTurn(agent_run, request))
        finally:
            if is_alone:
                await agent_run.settle(sys.exception())

    async def _ask(self, turn: ModelTurn) -> ModelResponse:
        attempt = WholeAttempt()
        try:
            await turn.begin()
            while True:
                attempt = WholeAttempt()
                await attempt.make(partial(self._fetch, turn.next_request(), attempt, turn.agent_run))
                if await turn.stands(attempt):
                    return turn.response_of(attempt)
        except asyncio.CancelledError:
            await turn.cancelled(attempt)
            raise

    async def _fetch(self, request: Request, attempt: Attempt, agent_run: AgentRun) -> ModelResponse:
        if agent_run.is_on:
            return await retrying.get_response(self.wrapped, request, partial(_count, attempt))
        return await self.wrapped.get_response(**request.arguments)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncGenerator[Any, None]:
        """Ask the model, as often as continuity says; a :class:`TurnResumed` stands between attempts."""
        request = Request.of(given, named)
        if self._is_left_alone(request):
            alone: Any = self.wrapped.stream_response(**request.arguments)
            async with aclosing(alone):
                async for event in alone:
                    yield event
            return
        agent_run, is_alone = self._agent_run()
        try:
            async with aclosing(self._stream(ModelTurn(agent_run, request))) as events:
                async for event in events:
                    yield event
        finally:
            if is_alone:
                await agent_run.settle(sys.exception())

    async def _stream(self, turn: ModelTurn) -> AsyncGenerator[Any, None]:
        attempt = StreamedAttempt()
        is_decided = False
        try:
            await turn.begin()
            while not is_decided:
                attempt = StreamedAttempt()
                start = partial(self._start, turn.next_request(), attempt, turn.agent_run)
                async with aclosing(attempt.events(start)) as events:
                    async for event in events:
                        yield event
                is_decided = await turn.stands(attempt)
                if not is_decided:
                    yield turn.resumed
            for event in turn.events_of(attempt):
                yield event
            turn.raise_error_of(attempt)
        except (asyncio.CancelledError, GeneratorExit):
            if not is_decided:
                await turn.cancelled(attempt)
            raise

    def _start(self, request: Request, attempt: Attempt, agent_run: AgentRun) -> Any:
        if agent_run.is_on:
            return retrying.stream_response(self.wrapped, request, partial(_count, attempt))
        return self.wrapped.stream_response(**request.arguments)

    # ---------------------------------------------------------------- what the runner asks besides

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """The model's own advice, but for an error after which continuity has decided."""
        if self._runs.has_given_up(get_model_run_owner(), request.error):
            return retrying.NOT_AGAIN
        return self.wrapped.get_retry_advice(request)

    async def close(self) -> None:
        """Release what the model holds."""
        await self.wrapped.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        """Called by the runner at the end of each of its runs, however it ends."""
        error = sys.exception()
        await self.wrapped._cleanup_on_run_end(owner)
        await self._runs.owner_ended(owner, error)

    # ---------------------------------------------------------------- inside

    def _is_left_alone(self, request: Request) -> bool:
        """Whether nothing can be recovered here."""
        if self.continuity.mode is Mode.ON:
            self._runs.warnings.look_at(request)
        elif self._runs.is_over(get_model_run_owner()):
            return True
        return request.is_held_by_server or request.is_unsafe_to_repeat

    def _agent_run(self) -> tuple[AgentRun, bool]:
        owner = get_model_run_owner()
        return (self._runs.alone(), True) if owner is None else (self._runs.of_owner(owner), False)


def _count(attempt: Attempt) -> None:
    attempt.requests += 1
