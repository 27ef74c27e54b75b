"""pydantic-ai as a host: its agent with its own models over the SDKs' clients, streaming and not."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import openai
from pydantic_ai import Agent, CancellationToken, capture_run_messages
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import ToolOutput
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.result import FinalResult
from pydantic_ai.tools import RunContext, Tool
from pydantic_graph import End

from continuity_core.engine.base_run import RunError
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.model.host_facts import InputKind
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

_STOPS = {"stop": "stop", "length": "length", "tool_call": "tool_use", "content_filter": "error"}
_RETRIES: Any = {"output": 0}
"""Native re-asks after an empty answer; like the client's retries they are the host's own, and off here."""


class PydanticAIHost:
    """Plays scenarios on ``Agent.run``; streaming with an event stream handler, which it makes stream."""

    name = "pydantic-ai"
    dialects = ("chat", "responses", "anthropic")

    def __init__(self) -> None:
        self._openai: openai.AsyncOpenAI | None = None
        self._anthropic: anthropic.AsyncAnthropic | None = None

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """There is nothing that it cannot do."""
        return None

    def adds_text(self, text: str) -> bool:
        """Its re-asks are off, and it adds nothing else."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new conversation for each scenario."""
        yield PydanticAISession(self._model(play), play)

    async def aclose(self) -> None:
        """Close the clients."""
        clients = (self._openai, self._anthropic)
        self._openai = self._anthropic = None
        for client in clients:
            if client is not None:
                await client.close()

    def _model(self, play: Play) -> Model:
        options: dict[str, Any] = {"max_retries": play.native_retries}
        if play.mode.dialect == "anthropic":
            if self._anthropic is None:
                # A proxy of the environment is of no use for loopback.
                transport: Any = anthropic.DefaultAsyncHttpxClient(trust_env=False)
                self._anthropic = anthropic.AsyncAnthropic(
                    base_url=play.root_url, api_key=API_KEY, http_client=transport
                )
            timeout: Any = anthropic.Timeout(IDLE_TIMEOUT, read=play.idle_seconds)
            claude = without_delay(self._anthropic.with_options(timeout=timeout, **options))
            return AnthropicModel("scripted", provider=AnthropicProvider(anthropic_client=claude))
        if self._openai is None:
            transport = openai.DefaultAsyncHttpxClient(trust_env=False)
            self._openai = openai.AsyncOpenAI(base_url=play.base_url, api_key=API_KEY, http_client=transport)
        timeout = openai.Timeout(IDLE_TIMEOUT, read=play.idle_seconds)
        gpt = without_delay(self._openai.with_options(timeout=timeout, **options))
        kind = OpenAIResponsesModel if play.mode.dialect == "responses" else OpenAIChatModel
        return kind("scripted", provider=OpenAIProvider(openai_client=gpt))


class _Access(AbstractCapability[Any]):
    """Holds the context of the run that goes on, and ends the loop after some tools, as other code may."""

    id: str | None = "conformance"

    def __init__(self, ending_tools: frozenset[str]) -> None:
        self.ending_tools = ending_tools
        self.ctx: RunContext[Any] | None = None

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        self.ctx = ctx
        try:
            return await handler()
        finally:
            self.ctx = None

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        if self.ending_tools and Agent.is_call_tools_node(node) and Agent.is_model_request_node(result):
            called = {call.tool_name for call in node.model_response.tool_calls}
            if called & self.ending_tools:
                ctx.messages.append(
                    ModelRequest(
                        parts=result.request.parts, run_id=ctx.run_id, timestamp=result.request.timestamp
                    )
                )
                return End(FinalResult(node.model_response.text or ""))
        return result


class PydanticAISession:
    """One conversation while a scenario is played."""

    def __init__(self, model: Model, play: Play) -> None:
        self._play = play
        self._stream = play.mode.stream
        self._history: list[ModelMessage] = []
        self._token = CancellationToken()
        self._access = _Access(frozenset(t.name for t in play.tools if t.ends_run == "unexplained"))
        capabilities: list[AbstractCapability[Any]] = [self._access]
        if play.continuity is not None:
            capabilities.append(ContinuityCapability(continuity=play.continuity))
        self._agent: Agent[None, Any] = Agent(
            model,
            output_type=[str, *(_output(tool) for tool in play.tools if tool.ends_run == "on_purpose")],
            tools=[_tool(tool) for tool in play.tools if tool.ends_run != "on_purpose"],
            capabilities=capabilities,
            model_settings={"max_tokens": play.output_limit},
            retries=_RETRIES,
        )

    async def prompt(self, text: str) -> HostResult:
        """One agent run, which picks up what arrives meanwhile."""
        self._token = CancellationToken()
        with capture_run_messages() as messages:
            try:
                result = await self._agent.run(
                    text,
                    message_history=self._history,
                    cancellation_token=self._token,
                    event_stream_handler=_consume if self._stream else None,
                )
            except RunError:
                raise
            except Exception as error:
                self._history = list(messages)
                aborted = self._token.cancelled
                return HostResult(stop="aborted" if aborted else "error", aborted=aborted, error=_told(error))
        self._history = result.all_messages()
        return HostResult(
            text=result.output if isinstance(result.output, str) else repr(result.output),
            stop=_STOPS.get(result.response.finish_reason or ""),
        )

    async def abort(self) -> None:
        """As whoever holds the token."""
        self._token.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """As anyone who holds the run."""
        assert self._access.ctx is not None
        self._access.ctx.enqueue(text, priority="asap" if kind == "steer" else "when_idle")

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        self._play.switch(on)


def _told(error: Exception) -> str:
    """The error without the body, which may hold ids and times."""
    return f"{type(error).__name__}: {getattr(error, 'message', None) or error}"


async def _consume(ctx: RunContext[Any], events: AsyncIterable[Any]) -> None:
    async for _ in events:
        pass


def _tool(tool: PlayedTool) -> Tool[Any]:
    return Tool.from_schema(tool.call, name=tool.name, description=tool.name, json_schema=dict(tool.schema))


def _output(tool: PlayedTool) -> ToolOutput[str]:
    return ToolOutput(tool.call, name=tool.name, description=tool.name)
