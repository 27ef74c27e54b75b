"""OpenAI Agents as a host: its runner with its own models over the SDK's client, streaming and not."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    MultiProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    StopAtTools,
    ToolsToFinalOutputResult,
)
from agents.model_settings import ModelSettings
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

from continuity_core.hosts.openai_agents import ContinuityProvider, ContinuityRunner
from continuity_core.model.cause import CauseKind
from continuity_core.model.host_facts import InputKind
from continuity_core.model.report import Report
from continuity_core.testing.conformance.application import ApplicationSession
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import (
    IDLE_TIMEOUT,
    HostResult,
    HostSession,
    Mode,
    Play,
    PlayedTool,
)
from continuity_core.testing.conformance.sdk_clients import API_KEY, without_delay

_STOPS = {
    CauseKind.FINAL: "stop",
    CauseKind.EMPTY: "stop",
    CauseKind.LENGTH: "length",
    CauseKind.TOOL_CALLS: "tool_use",
}

_NO_STEERING = (
    "the runner reads its input once, at the start of a run, and has no queue for what the user says while "
    "it goes on; the next run takes it"
)
_RAISES = (
    "the framework raises ModelBehaviorError for an incomplete response of the Responses API and returns "
    "nothing of it"
)
CANNOT: dict[Feature, str] = {
    Feature.STEER: _NO_STEERING,
    Feature.STEER_DURING_WAIT: _NO_STEERING,
}
"""The capability table."""
CANNOT_WITH_RESPONSES: dict[Feature, str] = {Feature.LENGTH_AS_RESULT: _RAISES}
"""What it does not have besides, in the dialect ``responses``."""


class OpenAIAgentsHost:
    """Plays scenarios on the runner, with a session in memory and the framework's default provider."""

    name = "openai-agents"
    dialects: tuple[str, ...] = ("chat", "responses")

    def __init__(self) -> None:
        # A proxy of the environment is of no use for loopback, and making a client is slow.
        self._transport: Any = DefaultAsyncHttpxClient(trust_env=False)

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """What the framework does not have."""
        also = CANNOT_WITH_RESPONSES if mode.dialect == "responses" else {}
        return CANNOT.get(feature) or also.get(feature)

    def adds_text(self, text: str) -> bool:
        """It adds none."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new agent and session for each scenario."""
        client = AsyncOpenAI(
            base_url=play.base_url,
            api_key=API_KEY,
            max_retries=play.native_retries,
            timeout=Timeout(IDLE_TIMEOUT, read=play.idle_seconds),
            http_client=self._transport,
        )
        yield OpenAIAgentsSession(play, without_delay(client), self._runner_of(play))

    def _runner_of(self, play: Play) -> ContinuityRunner | None:
        return None if play.continuity is None else ContinuityRunner(continuity=play.continuity)

    async def aclose(self) -> None:
        """Close the client."""
        await self._transport.aclose()


_ENDED = (
    "the framework's runner has come to its end by then, and a model is not asked: ContinuityRunner goes on"
)
_NOT_TOLD = "a model does not learn of what the user said: ContinuityRunner.input_arrived tells of it"
CANNOT_WITH_PROVIDER: dict[Feature, str] = {
    Feature.UNEXPLAINED_END: _ENDED,
    Feature.FOLLOW_UP: _NOT_TOLD,
    Feature.FOLLOW_UP_DURING_WAIT: _NOT_TOLD,
}
"""What is not there besides where the framework's own runner is used with the provider."""


class OpenAIAgentsProviderHost(OpenAIAgentsHost):
    """The same with the framework's own runner: ``RunConfig(model_provider=ContinuityProvider())``."""

    name = "openai-agents-provider"

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """What the framework does not have, and what a model alone cannot do."""
        return super().cannot(feature, mode) or CANNOT_WITH_PROVIDER.get(feature)

    def _runner_of(self, play: Play) -> ContinuityRunner | None:
        return None


class OpenAIAgentsSession(ApplicationSession):
    """One session of one agent. Without ``runner`` it is run by the framework's own."""

    def __init__(self, play: Play, client: AsyncOpenAI, runner: ContinuityRunner | None) -> None:
        super().__init__(play)
        self._observes = play.settings is not None and play.settings.get("mode") == "observe"
        self._runner = runner
        self._agent = Agent(
            name="agent",
            model="scripted",
            model_settings=ModelSettings(max_tokens=play.output_limit, include_usage=True),
            tools=[_tool(tool) for tool in play.tools],
            tool_use_behavior=_behaviour(play.tools),
        )
        provider: Any = MultiProvider(
            openai_client=client, openai_use_responses=play.mode.dialect == "responses"
        )
        if play.continuity is not None:
            provider = ContinuityProvider(provider, continuity=play.continuity, on_report=self._reported)
        self._options: dict[str, Any] = {
            "session": SQLiteSession(secrets.token_hex(6)),
            "run_config": RunConfig(model_provider=provider, tracing_disabled=True),
            "max_turns": None,
        }
        self._result: Any = None
        self._report: Report | None = None

    async def run(self, text: str) -> HostResult:
        """One run of the runner."""
        self._report = None
        try:
            output = await (self._streamed(text) if self.play.mode.stream else self._whole(text))
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            # The error of a response that was cut at the cap names the cap.
            stop = "length" if self._stop == "length" else "error"
            return HostResult(stop=stop, error=told)
        finally:
            self._result = None
        if self.aborted:
            return HostResult(stop="aborted")
        return HostResult(text=str(output), stop=self._stop)

    def stop(self) -> None:
        """Cancel the run as its result lets anyone do, or its task."""
        if self._result is not None:
            self._result.cancel()
        else:
            super().stop()

    def tell(self, kind: InputKind) -> None:
        """The runner knows its runs."""
        if self._runner is not None:
            self._runner.input_arrived(kind)

    # ---------------------------------------------------------------- inside

    async def _whole(self, text: str) -> Any:
        runner: Any = self._runner or Runner
        return (await runner.run(self._agent, text, **self._options)).final_output

    async def _streamed(self, text: str) -> Any:
        runner: Any = self._runner or Runner
        self._result = result = runner.run_streamed(self._agent, text, **self._options)
        async for _ in result.stream_events():
            pass
        return result.final_output

    @property
    def _stop(self) -> str | None:
        """What the caller is told by continuity's report; a result of the framework has no stop reason."""
        if self._observes or self._report is None or self._report.cause is None:
            return None
        return _STOPS.get(self._report.cause, "error")

    def _reported(self, report: Report) -> None:
        self._report = report


def _tool(played: PlayedTool) -> FunctionTool:
    async def invoke(context: Any, arguments: str) -> str:
        return played.run(**json.loads(arguments or "{}"))

    return FunctionTool(
        name=played.name,
        description="",
        params_json_schema=dict(played.schema),
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _behaviour(tools: tuple[PlayedTool, ...]) -> Any:
    """A setting where tools end the run on purpose; a function without an output where they just end it."""
    on_purpose = [tool.name for tool in tools if tool.ends_run == "on_purpose"]
    unexplained = [tool.name for tool in tools if tool.ends_run == "unexplained"]
    if not unexplained:
        return StopAtTools(stop_at_tool_names=on_purpose) if on_purpose else "run_llm_again"

    def ends(context: Any, results: list[Any]) -> ToolsToFinalOutputResult:
        called = {result.tool.name: result.output for result in results}
        meant = next((called[name] for name in on_purpose if name in called), None)
        return ToolsToFinalOutputResult(
            is_final_output=not called.keys().isdisjoint([*on_purpose, *unexplained]), final_output=meant
        )

    return ends
