"""LangChain's agents as a host: the integrations' own clients, streaming and not."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from continuity_core.engine.run import Run, SyncRun
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.hosts.langchain.reading import stop_of
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.testing.conformance.application import ApplicationSession
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play, PlayedTool
from continuity_core.testing.conformance.sdk_clients import API_KEY, without_delay

_NO_STEERING = (
    "an invocation reads its input once: LangGraph has no queue for what the user says while it runs"
)


class LangChainHost:
    """Plays scenarios on ``create_agent``, asynchronously, with an in-memory checkpointer."""

    name = "langchain"
    dialects: tuple[str, ...] = ("chat", "responses", "anthropic")

    def __init__(self) -> None:
        # A proxy of the environment is of no use for loopback, and making a client is slow.
        self._async_client: Any = DefaultAsyncHttpxClient(trust_env=False)
        self._client: Any = DefaultHttpxClient(trust_env=False)

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """What LangChain does not have."""
        return CANNOT.get(feature)

    def adds_text(self, text: str) -> bool:
        """It adds none."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new agent and thread for each scenario."""
        yield LangChainSession(play, self._model(play))

    async def aclose(self) -> None:
        """Close the clients."""
        await self._async_client.aclose()
        self._client.close()

    def _model(self, play: Play) -> BaseChatModel:
        if play.mode.dialect == "anthropic":
            model = ChatAnthropic(
                model_name="scripted",
                base_url=play.root_url,
                api_key=API_KEY,
                max_tokens_to_sample=play.output_limit,
                max_retries=play.native_retries,
                timeout=play.idle_seconds,
                stop=None,
            )
            without_delay(model._async_client)
            without_delay(model._client)
            return model
        openai = ChatOpenAI(
            model="scripted",
            base_url=play.base_url,
            api_key=API_KEY,
            max_completion_tokens=play.output_limit,
            max_retries=play.native_retries,
            timeout=play.idle_seconds,
            stream_usage=True,
            stream_chunk_timeout=None,  # While it waits for a chunk it holds a cancellation back.
            use_responses_api=play.mode.dialect == "responses",
            http_async_client=self._async_client,
            http_client=self._client,
        )
        without_delay(openai.root_async_client)
        without_delay(openai.root_client)
        return openai


CANNOT: Mapping[Feature, str] = {
    Feature.STEER: _NO_STEERING,
    Feature.STEER_DURING_WAIT: _NO_STEERING,
}
"""The capability table of ``ainvoke`` and ``astream``."""

CANNOT_SYNC: Mapping[Feature, str] = {
    **CANNOT,
    Feature.ABORT: "nothing ends a synchronous invocation from outside while it reads a response",
}
"""The capability table of ``invoke`` and ``stream``."""


class LangChainSyncHost(LangChainHost):
    """The same with synchronous agents, each invocation on a thread of its own."""

    name = "langchain-sync"

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """What synchronous agents do not have."""
        return CANNOT_SYNC.get(feature)

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new agent and thread for each scenario."""
        yield LangChainSyncSession(play, self._model(play))


class LangChainSession(ApplicationSession):
    """One thread of one agent."""

    def __init__(self, play: Play, model: BaseChatModel) -> None:
        super().__init__(play)
        self._thread = secrets.token_hex(6)
        self._middleware = (
            None if play.continuity is None else ContinuityMiddleware(continuity=play.continuity)
        )
        own = [] if self._middleware is None else [self._middleware]
        ending = {tool.name for tool in play.tools if tool.ends_run == "unexplained"}
        self._agent = create_agent(
            model,
            [_tool(tool) for tool in play.tools],
            middleware=[*own, EndsAfterTool(ending)] if ending else own,
            checkpointer=InMemorySaver(),
        )

    async def run(self, text: str) -> HostResult:
        """One invocation."""
        try:
            return _result(await self._invoke({"messages": [{"role": "user", "content": text}]}))
        except IncompleteRun as incomplete:
            turn = incomplete.partial
            return HostResult(
                text=None if turn is None else turn.text,
                stop=None if turn is None else turn.stop_reason.value,
                error=str(incomplete),
            )
        except Exception as error:
            return HostResult(stop="error", error=f"{type(error).__name__}: {error}")

    def tell(self, kind: InputKind) -> None:
        """The middleware knows the thread's run."""
        run = self._running()
        if run is not None:
            run.input_arrived(kind)

    def _running(self) -> Run | SyncRun | None:
        return None if self._middleware is None else self._middleware.run_of(self._thread)

    @property
    def _config(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": self._thread}}

    async def _invoke(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self.play.mode.stream:
            state: dict[str, Any] = await self._agent.ainvoke(given, self._config)
            return state
        last: dict[str, Any] = {}
        async for kind, chunk in self._agent.astream(given, self._config, stream_mode=["messages", "values"]):
            if kind == "values":
                last = chunk
        return last


class LangChainSyncSession(LangChainSession):
    """One thread of one synchronous agent."""

    def stop(self) -> None:
        """End the run's wait: the invocation comes back with what it has."""
        run = self._running()
        if run is not None:
            run.abort()

    async def _invoke(self, given: dict[str, Any]) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self._invoke_on_this_thread, given)

    def _invoke_on_this_thread(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self.play.mode.stream:
            state: dict[str, Any] = self._agent.invoke(given, self._config)
            return state
        last: dict[str, Any] = {}
        for kind, chunk in self._agent.stream(given, self._config, stream_mode=["messages", "values"]):
            if kind == "values":
                last = chunk
        return last


class EndsAfterTool(AgentMiddleware[Any, Any, Any]):
    """A middleware that ends the loop after some tools without saying why, once for each result."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names = names
        self._ended: set[str | None] = set()

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the loop where such a tool's result is the last message."""
        last = state["messages"][-1]
        if isinstance(last, ToolMessage) and last.name in self._names and last.id not in self._ended:
            self._ended.add(last.id)
            return {"jump_to": "end"}
        return None


def _result(state: dict[str, Any]) -> HostResult:
    message = state["messages"][-1]
    if isinstance(message, AIMessage):
        word, stop = stop_of(message)
        return HostResult(text=str(message.text), stop=None if word is None else stop.reason.value)
    return HostResult(text=str(message.text))


def _tool(tool: PlayedTool) -> BaseTool:
    return StructuredTool.from_function(
        func=tool.run,
        coroutine=tool.call,
        name=tool.name,
        description=tool.name,
        args_schema=dict(tool.schema),
        return_direct=tool.ends_run == "on_purpose",
    )
