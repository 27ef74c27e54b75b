"""openJiuwen as a host: its ReAct agent with its own clients, streaming and not."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from openjiuwen.core.foundation.llm import AssistantMessage
from openjiuwen.core.foundation.llm.model_clients.anthropic_model_client import AnthropicModelClient
from openjiuwen.core.foundation.llm.model_clients.openai_model_client import OpenAIModelClient
from openjiuwen.core.foundation.llm.schema.config import ModelClientConfig, ModelRequestConfig
from openjiuwen.core.foundation.tool import LocalFunction, ToolCard
from openjiuwen.core.runner import Runner
from openjiuwen.core.single_agent import AgentCard
from openjiuwen.core.single_agent.agents.react_agent import ReActAgent, ReActAgentConfig
from openjiuwen.core.single_agent.rail.base import AgentCallbackContext, AgentRail
from openjiuwen.harness.rails.model_anomaly_detection_rail import ModelAnomalyDetectionRail

from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.hosts.openjiuwen.reading import turn_of
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play, PlayedTool

_PROVIDERS = {"chat": "OpenAI", "anthropic": "Anthropic"}
_DEFAULT_IDLE_TIMEOUT = 60.0
"""Seconds; longer than any scenario may take, so that only ``idle_timeout`` itself makes a stream dead."""
_MANY = 100
"""Iterations; more than any scenario takes."""
_NUMBERS = itertools.count()
_MARK = "[STEERING] "
"""What the agent writes before the user's words where they steer a run."""
_SECONDS = re.compile(r"elapsed=[0-9.]+s")
"""Measured times in the texts of errors are others each time."""
_ONE_INPUT = (
    "a ReAct agent takes input while it runs by its steering queue alone: there is no queue for after the run"
)
CANNOT: Mapping[Feature, str] = {
    Feature.FOLLOW_UP: _ONE_INPUT,
    Feature.FOLLOW_UP_DURING_WAIT: _ONE_INPUT,
    Feature.CUT_CALL_AS_RESULT: (
        "the agent asks the model again by itself after every call, also after one that was not executed"
    ),
}
"""The capability table: what the host has not, and why."""
CANNOT_STREAMED_ANTHROPIC: Mapping[Feature, str] = {
    Feature.ABORT: (
        "on Python 3.11 the framework's client takes no cancellation before the answer's first byte, "
        "with and without continuity"
    ),
}
"""What it has not in a stream of Anthropic Messages."""


class OpenJiuwenHost:
    """Plays scenarios on ``ReActAgent.invoke``, or on its ``stream``."""

    name = "openjiuwen"
    dialects = ("chat", "anthropic")

    def __init__(self) -> None:
        logging.disable(logging.ERROR)

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """See ``CANNOT``."""
        reason = CANNOT.get(feature)
        if reason is None and mode.stream and mode.dialect == "anthropic" and sys.version_info < (3, 12):
            reason = CANNOT_STREAMED_ANTHROPIC.get(feature)
        return reason

    def adds_text(self, text: str) -> bool:
        """It adds none."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new agent for each scenario: rails and tools are kept by its id."""
        session = OpenJiuwenSession(play)
        await session.start()
        try:
            yield session
        finally:
            await session.close()

    async def aclose(self) -> None:
        """Close the clients, which the framework keeps for the life of the process."""
        await OpenAIModelClient.aclose()
        await AnthropicModelClient.aclose()
        logging.disable(logging.NOTSET)


class _Observer(AgentRail):
    """What the caller would see of the last answer, and the ends that the scenario's tools ask for."""

    priority = -20_000

    def __init__(self, tools: Mapping[str, PlayedTool]) -> None:
        self.stop: str | None = None
        self._tools = tools
        self._told: str | None = None

    async def before_model_call(self, ctx: AgentCallbackContext) -> None:
        self._told = self.stop = None
        ctx.extra.setdefault("_stream_chunk_inspectors", []).append(self._hear)

    async def _hear(self, ctx: AgentCallbackContext, chunk: Any) -> None:
        self._told = chunk.provider_metadata.get("stop_reason") or self._told

    async def after_model_call(self, ctx: AgentCallbackContext) -> None:
        message = ctx.inputs.response
        if ctx.exception is None and isinstance(message, AssistantMessage):
            told = self._told or message.provider_metadata.get("stop_reason")
            stream = bool(ctx.extra.get("_streaming"))
            self.stop = turn_of(message, told=told, stream=stream, entry=None).stop_reason.value

    async def after_tool_call(self, ctx: AgentCallbackContext) -> None:
        tool = self._tools.get(ctx.inputs.tool_name)
        if tool is not None and tool.ends_run is not None and ctx.inputs.tool_result is not None:
            ctx.request_force_finish({"output": "", "result_type": "answer"})


class _RetriesAtOnce(ModelAnomalyDetectionRail):
    """The framework's own retries, as soon as they are decided on."""

    def _request_transient_retry(self, ctx: AgentCallbackContext, decision: Any) -> None:
        super()._request_transient_retry(ctx, dataclasses.replace(decision, retry_after_seconds=None))


class OpenJiuwenSession:
    """One agent and one conversation while a scenario is played."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._continuity = play.continuity
        self._id = f"conformance-{next(_NUMBERS)}"
        self._agent = ReActAgent(AgentCard(id=self._id, name=self._id, description="conformance"))
        self._agent.configure(_config(play))
        self._observer = _Observer({tool.name: tool for tool in play.tools})
        self._session: Any = None
        self._steering: asyncio.Queue[str] = asyncio.Queue()
        self._given: set[str] = set()
        self._task: asyncio.Task[Any] | None = None

    async def start(self) -> None:
        """Register what the scenario has."""
        for tool in self._play.tools:
            card = ToolCard(
                id=f"{self._id}-{tool.name}",
                name=tool.name,
                description=tool.name,
                input_params={"type": "object", "properties": {}, "additionalProperties": True},
            )
            Runner.resource_mgr.add_tool(LocalFunction(card, _asynchronous(tool)))
            self._agent.ability_manager.add(card)
        retries = _RetriesAtOnce(
            max_retries=0,
            transient_max_retries=self._play.native_retries,
            transient_base_delay_seconds=0,
        )
        await self._agent.register_rail(retries)
        await self._agent.register_rail(self._observer)
        self._agent.context_engine.register_window_mutator(self._in_users_words)
        if self._continuity is not None:
            ending = [tool.name for tool in self._play.tools if tool.ends_run == "on_purpose"]
            await self._agent.register_rail(ContinuityRail(continuity=self._continuity, ending_tools=ending))

    async def prompt(self, text: str) -> HostResult:
        """Invoke the agent in the one conversation; what an aborted run left in its queue goes with it."""
        self._steering = asyncio.Queue()
        self._task = asyncio.create_task(self._invoke(text))
        try:
            result = await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if not self._task.cancelled():
                raise
            return HostResult(stop="aborted", aborted=True)
        except IncompleteRun as error:
            return HostResult(stop="error", error=str(error))
        except Exception as error:
            return HostResult(stop="error", error=_SECONDS.sub("elapsed=…", " ".join(str(error).split())))
        if result.get("result_type") == "error":
            return HostResult(stop="error", error=str(result.get("output")))
        return HostResult(text=str(result.get("output") or ""), stop=self._observer.stop)

    async def _invoke(self, text: str) -> Any:
        inputs = {"query": text, "conversation_id": self._id, "_steering_queue": self._steering}
        if not self._play.mode.stream:
            return await self._agent.invoke(inputs)
        last: Any = {"output": "", "result_type": "answer"}
        async for chunk in self._agent.stream(inputs):
            if chunk.type == "answer":
                last = chunk.payload
        return last

    async def abort(self) -> None:
        """As whoever awaits the agent."""
        if self._task is not None:
            self._task.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """As whoever holds the queue."""
        self._given.add(text)
        self._steering.put_nowait(text)

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        if self._continuity is not None:
            if on:
                self._continuity.enable()
            else:
                self._continuity.disable()

    async def _in_users_words(self, context: Any, window: Any) -> Any:
        """A scenario compares the user's own words: the agent marks steering, and joins what came at once."""
        messages: list[Any] = []
        for message in window.context_messages:
            if message.role == "user" and str(message.content).startswith(_MARK):
                words = str(message.content).removeprefix(_MARK)
                parts = words.split("\n") if self._given.issuperset(words.split("\n")) else [words]
                messages += [message.model_copy(update={"content": part}) for part in parts]
            else:
                messages.append(message)
        window.context_messages = messages
        return window

    async def close(self) -> None:
        """Forget the agent's rails, tools and conversation."""
        await self._agent.agent_callback_manager.clear()
        for tool in self._play.tools:
            Runner.resource_mgr.remove_tool(f"{self._id}-{tool.name}")
        await self._agent.clear_session(self._id)


def _config(play: Play) -> ReActAgentConfig:
    anthropic = play.mode.dialect == "anthropic"
    idle = _DEFAULT_IDLE_TIMEOUT if play.idle_timeout is None else play.idle_timeout
    return ReActAgentConfig(
        max_iterations=_MANY,
        model_name="scripted",
        model_client_config=ModelClientConfig(
            client_provider=_PROVIDERS[play.mode.dialect],
            api_key="any",
            api_base=play.root_url if anthropic else play.base_url,
            verify_ssl=False,
            stream_first_chunk_timeout=idle,
            stream_idle_timeout=idle,
        ),
        model_config_obj=ModelRequestConfig(model="scripted", max_tokens=play.output_limit),
    )


def _asynchronous(tool: PlayedTool) -> Any:
    async def call(**arguments: Any) -> str:
        return tool.run(**arguments)

    return call
