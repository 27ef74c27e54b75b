"""LangChain's agents as a host: the integrations' own clients, streaming and not."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio.to_thread
import attrs
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.hosts.langchain.reading import stop_of
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play, PlayedTool

_DEFAULT_TIMEOUT = 60.0
"""Seconds; longer than any scenario may take, so that only ``idle_timeout`` itself makes a stream dead."""
_KEY = "any"
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
        timeout = _DEFAULT_TIMEOUT if play.idle_timeout is None else play.idle_timeout
        if play.mode.dialect == "anthropic":
            model = ChatAnthropic(
                model_name="scripted",
                base_url=play.root_url,
                api_key=_KEY,
                max_tokens_to_sample=play.output_limit,
                max_retries=play.native_retries,
                timeout=timeout,
                stop=None,
            )
            _without_delay(model._async_client)
            _without_delay(model._client)
            return model
        openai = ChatOpenAI(
            model="scripted",
            base_url=play.base_url,
            api_key=_KEY,
            max_completion_tokens=play.output_limit,
            max_retries=play.native_retries,
            timeout=timeout,
            stream_usage=True,
            stream_chunk_timeout=None,  # While it waits for a chunk it holds a cancellation back.
            use_responses_api=play.mode.dialect == "responses",
            http_async_client=self._async_client,
            http_client=self._client,
        )
        _without_delay(openai.root_async_client)
        _without_delay(openai.root_client)
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


class LangChainSession:
    """One thread of one agent."""

    def __init__(self, play: Play, model: BaseChatModel) -> None:
        self._mode = play.mode
        self._thread = secrets.token_hex(6)
        self._continuity = play.continuity
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
        self._follow_ups: list[str] = []
        self._task: asyncio.Task[HostResult] | None = None
        self._aborted = False

    @property
    def _config(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": self._thread}}

    async def prompt(self, text: str) -> HostResult:
        """One invocation, and those of follow-ups that the application queued meanwhile."""
        self._aborted = False
        result = await self._invoke(text)
        while self._follow_ups and not self._aborted:
            result = await self._invoke(self._follow_ups.pop(0))
        return result

    async def abort(self) -> None:
        """Cancel the invocation, as an application does."""
        self._aborted = True
        if self._task is not None:
            self._task.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """Queue a follow-up in the application, which tells the run of it."""
        run = None if self._middleware is None else self._middleware.run_of(self._thread)
        if run is not None:
            run.input_arrived(kind)
        self._follow_ups.append(text)

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        if self._continuity is not None:
            if on:
                self._continuity.enable()
            else:
                self._continuity.disable()

    async def _invoke(self, text: str) -> HostResult:
        self._task = asyncio.create_task(self._result_of(text))
        try:
            return await self._task
        except asyncio.CancelledError:
            if not self._aborted:
                raise
            return HostResult(aborted=True)
        finally:
            self._task = None

    async def _result_of(self, text: str) -> HostResult:
        try:
            return _result(await self._run({"messages": [{"role": "user", "content": text}]}))
        except IncompleteRun as incomplete:
            turn = incomplete.partial
            return HostResult(
                text=None if turn is None else turn.text,
                stop=None if turn is None else turn.stop_reason.value,
                error=str(incomplete),
            )
        except Exception as error:
            return HostResult(error=f"{type(error).__name__}: {error}")

    async def _run(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self._mode.stream:
            state: dict[str, Any] = await self._agent.ainvoke(given, self._config)
            return state
        last: dict[str, Any] = {}
        async for kind, chunk in self._agent.astream(given, self._config, stream_mode=["messages", "values"]):
            if kind == "values":
                last = chunk
        return last


class LangChainSyncSession(LangChainSession):
    """One thread of one synchronous agent."""

    async def abort(self) -> None:
        """End the run's wait: the invocation comes back with what it has."""
        self._aborted = True
        run = None if self._middleware is None else self._middleware.run_of(self._thread)
        if run is not None:
            run.abort()

    async def _invoke(self, text: str) -> HostResult:
        result = await super()._invoke(text)
        return attrs.evolve(result, aborted=self._aborted)

    async def _run(self, given: dict[str, Any]) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self._run_sync, given)

    def _run_sync(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self._mode.stream:
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
    async def call(**arguments: Any) -> str:
        return tool.run(**arguments)

    return StructuredTool.from_function(
        func=tool.run,
        coroutine=call,
        name=tool.name,
        description=tool.name,
        args_schema={"type": "object", "properties": {}, "additionalProperties": True},
        return_direct=tool.ends_run == "on_purpose",
    )


def _without_delay(client: Any) -> None:
    """Let the SDK's own retries come at once; a client that cannot be told so waits as it does."""
    with suppress(AttributeError):
        client._calculate_retry_timeout = lambda *args, **named: 0.0
