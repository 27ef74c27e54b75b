"""The framework's ``Runner`` with the tool tail: one run of ours, carried through several of its runs."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from agents import Agent, RunConfig, Runner, RunResult, RunResultStreaming, StreamEvent

from continuity_core.continuity import Continuity
from continuity_core.hosts.openai_agents.continuing import Course, add_usage
from continuity_core.hosts.openai_agents.provider import ContinuityProvider
from continuity_core.hosts.openai_agents.runs import AgentRun, AgentRuns
from continuity_core.model.boundary import Mode
from continuity_core.model.host_facts import InputKind
from continuity_core.model.report import Report
from continuity_core.model.turn import Turn


class ContinuityRunner:
    """Runs agents as ``Runner`` does, and goes on where a run would end on a tool's result.

    The arguments are those of :class:`ContinuityProvider`; the ``model_provider`` of a ``run_config`` is
    wrapped. A run that ends on a tool is final where the agent's ``tool_use_behavior`` is a setting, or a
    function that gave a final output; a function that ended the run without one leaves a tail.
    """

    def __init__(
        self,
        *,
        continuity: Continuity | None = None,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        on_report: Callable[[Report], Any] | None = None,
        on_dropped: Callable[[Turn], Any] | None = None,
    ) -> None:
        self.provider = ContinuityProvider(
            continuity=continuity,
            settings=settings,
            plugins=plugins,
            on_report=on_report,
            on_dropped=on_dropped,
        )
        """The provider that is used where the ``run_config`` names none."""
        self.continuity = self.provider.continuity
        """Plugins and settings in force, with the switches."""
        self._runs = AgentRuns.of(self.continuity)
        self._going_on: dict[AgentRun, None] = {}

    async def run(
        self, starting_agent: Agent[Any], input: Any, *, deadline: datetime | None = None, **options: Any
    ) -> RunResult:
        """As ``Runner.run``, with its options. ``deadline`` (aware) is when the caller stops waiting."""
        course = self._course(deadline, options)
        try:
            self._runs.enter(course.agent_run)
            result = await Runner.run(starting_agent, input, **course.options)
            while await course.goes_on_after(result):
                earlier = result
                rest = course.input_after(earlier)
                result = await Runner.run(earlier.last_agent, rest, **course.options_after())
                add_usage(earlier, result)
        except BaseException as error:
            self._runs.left(course.agent_run)
            await self.end(course, error)
            raise
        self._runs.left(course.agent_run)
        await self.end(course, None)
        return result

    def run_sync(
        self, starting_agent: Agent[Any], input: Any, *, deadline: datetime | None = None, **options: Any
    ) -> RunResult:
        """The same in an event loop of its own. Not to be called where one runs."""
        return asyncio.run(self.run(starting_agent, input, deadline=deadline, **options))

    def run_streamed(
        self, starting_agent: Agent[Any], input: Any, *, deadline: datetime | None = None, **options: Any
    ) -> ContinuedStream:
        """As ``Runner.run_streamed``. The run is settled when its events have been consumed."""
        course = self._course(deadline, options)
        return ContinuedStream(self, course, self.start(course, starting_agent, input, course.options))

    def input_arrived(self, kind: InputKind = "follow_up") -> None:
        """The user said something: waits end, and nothing is resumed in the runs that go on.

        The framework takes no input while it runs: give the text to the next run.
        """
        for agent_run in list(self._going_on):
            agent_run.run.input_arrived(kind)

    # ---------------------------------------------------------------- for a stream

    def start(self, course: Course, agent: Agent[Any], input: Any, options: Any) -> RunResultStreaming:
        """Start a streamed run of the runner as a part of ``course``."""
        self._runs.enter(course.agent_run)
        try:
            return Runner.run_streamed(agent, input, **options)
        finally:
            self._runs.left(course.agent_run)

    async def end(self, course: Course, error: BaseException | None) -> None:
        """Settle the run of continuity. Raises :class:`IncompleteRun` where the settings ask for it."""
        self._going_on.pop(course.agent_run, None)
        await course.agent_run.settle(error)

    # ---------------------------------------------------------------- inside

    def _course(self, deadline: datetime | None, options: dict[str, Any]) -> Course:
        name = getattr(options.get("session"), "session_id", None)
        named = self.continuity.mode is Mode.ON and isinstance(name, str)
        agent_run = self._runs.carried(name if named else None, deadline)
        self._going_on[agent_run] = None
        config = self._with_continuity(options.get("run_config"))
        return Course(agent_run=agent_run, options={**options, "run_config": config})

    def _with_continuity(self, given: RunConfig | dict[str, Any] | None) -> RunConfig:
        if given is None:
            return RunConfig(model_provider=self.provider)
        config = RunConfig(**given) if isinstance(given, dict) else given
        if isinstance(config.model_provider, ContinuityProvider):
            return config
        wrapped = ContinuityProvider(config.model_provider, continuity=self.continuity)
        return dataclasses.replace(config, model_provider=wrapped)


class ContinuedStream:
    """A streamed run, and those of the runner's that carry it on."""

    def __init__(self, runner: ContinuityRunner, course: Course, result: RunResultStreaming) -> None:
        self.result = result
        """The framework's own result: that of the last run of the runner."""
        self._runner = runner
        self._course = course
        self._cancelled: str | None = None

    @property
    def final_output(self) -> Any:
        """The final output; ``None`` before the end."""
        return self.result.final_output

    def cancel(self, mode: Literal["immediate", "after_turn"] = "immediate") -> None:
        """Cancel the run as the framework's result does; a wait ends, and no turn is resumed."""
        self._cancelled = mode
        if mode == "after_turn":
            self._course.agent_run.end_after_turn("the caller's cancellation after the turn")
        self.result.cancel(mode)

    async def stream_events(self) -> AsyncIterator[StreamEvent]:
        """The events of all of it. Raises what the framework raises."""
        course = self._course
        try:
            async for event in self.result.stream_events():
                yield event
            while self._cancelled is None and await course.goes_on_after(self.result):
                earlier = self.result
                rest = course.input_after(earlier)
                self.result = self._runner.start(course, earlier.last_agent, rest, course.options_after())
                async for event in self.result.stream_events():
                    yield event
                add_usage(earlier, self.result)
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                # The run is over for its consumer: its task need not go on to the end.
                self.result.cancel()
            await self._runner.end(course, self._end_of(error))
            if self._cancelled != "immediate" or not isinstance(error, Exception):
                raise
        else:
            await self._runner.end(course, self._end_of(None))

    def _end_of(self, error: BaseException | None) -> BaseException | None:
        """What ended the run; after a cancellation the framework ends the stream without an error."""
        return asyncio.CancelledError() if self._cancelled == "immediate" else error
