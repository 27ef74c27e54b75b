"""The real clients and frameworks, each as a player of one task, for ``over_http.py``.

A player is given the task, and returns the text that its caller would get; it raises what the caller would
meet. Every wrapper stands alone: the SDK's own retries are off but in the row that is about them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import httpx2
from fault_model import CAP_TOKENS
from http_provider import OTHER_PROVIDER, Play, Slept
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.retries import AsyncHTTPX2TenacityTransport, RetryConfig, wait_retry_after
from pydantic_ai.usage import UsageLimits
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from continuity_core import Continuity
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.hosts.reference import AgentSession, Tool
from continuity_core.hosts.reference import OpenAIChatModel as SessionModel

Player: TypeAlias = Callable[[Play], Awaitable[str]]
QUESTION = "Do it"
STEPS = ("step", "last_step")
MOST_TURNS = 200
"""Far beyond every task: no framework's own limit ends one."""


def client(base_url: str, *, retries: int = 0, transport: Any = None) -> AsyncOpenAI:
    """The SDK, without a proxy."""
    return AsyncOpenAI(
        base_url=base_url,
        api_key="any",
        max_retries=retries,
        http_client=DefaultAsyncHttpxClient(trust_env=False, transport=transport),
    )


# ---------------------------------------------------------------- a plain loop over the SDK

TOOLS: list[Any] = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in STEPS]


async def ask(sdk: AsyncOpenAI, messages: list[Any]) -> tuple[dict[str, Any], str | None]:
    """One streamed turn: the assistant's message, and its stop word."""
    text, calls, stop = "", dict[int, dict[str, Any]](), None
    stream = await sdk.chat.completions.create(
        model="m", messages=messages, tools=TOOLS, max_tokens=CAP_TOKENS, stream=True
    )
    async for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            stop = choice.finish_reason or stop
            for delta in choice.delta.tool_calls or ():
                call = calls.setdefault(
                    delta.index,
                    {"id": delta.id, "type": "function", "function": {"name": "", "arguments": ""}},
                )
                assert delta.function is not None
                call["function"]["name"] += delta.function.name or ""
                call["function"]["arguments"] += delta.function.arguments or ""
    message = {"role": "assistant", "content": text}
    return (message | {"tool_calls": list(calls.values())} if calls else message), stop


def plain(sdk: AsyncOpenAI, attempts: Callable[[], Any] | None = None) -> Player:
    """A loop as in a first tutorial: it runs what is called, and ends at the stop word or without a call."""

    async def play(task: Play) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        while True:
            if attempts is None:
                message, stop = await ask(sdk, messages)
            else:
                message, stop = await attempts()(ask, sdk, messages)
            messages.append(message)
            for call in message.get("tool_calls", ()):
                result = task.step(**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            if stop == "stop" or "tool_calls" not in message:
                return str(message["content"])

    return play


def five_attempts(slept: Slept) -> Callable[[], AsyncRetrying]:
    """Tenacity around the call, as its documentation shows it."""
    return lambda: AsyncRetrying(
        stop=stop_after_attempt(5), wait=wait_exponential(max=60), sleep=slept.sleep, reraise=True
    )


# ---------------------------------------------------------------- LangChain


def langchain(base_url: str, *middleware: Any) -> Player:
    """Its agent, streaming from the model."""
    model = ChatOpenAI(
        model="m",
        base_url=base_url,
        api_key=SecretStr("any"),
        max_retries=0,
        streaming=True,
        max_completion_tokens=CAP_TOKENS,
    )

    async def play(task: Play) -> str:
        async def step(path: str = "") -> str:
            """Do a step."""
            return task.step(path)

        tools = [tool(name)(step) for name in STEPS]
        agent = create_agent(model, tools, middleware=middleware)
        question: Any = {"messages": [{"role": "user", "content": QUESTION}]}
        result = await agent.ainvoke(question, {"recursion_limit": 10 * MOST_TURNS})
        return str(result["messages"][-1].text)

    return play


# ---------------------------------------------------------------- pydantic-ai


def pydantic_model(sdk: AsyncOpenAI, name: str = "m") -> OpenAIChatModel:
    """Its model over the SDK."""
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=sdk))


def pydantic_ai(model: Any, *capabilities: Any) -> Player:
    """Its agent, streaming from the model."""

    async def play(task: Play) -> str:
        agent = Agent(model, capabilities=capabilities, model_settings={"max_tokens": CAP_TOKENS})
        for name in STEPS:
            agent.tool_plain(name=name)(task.step)

        async def read(context: Any, events: Any) -> None:
            async for _ in events:
                pass

        limits = UsageLimits(request_limit=MOST_TURNS)
        return (await agent.run(QUESTION, event_stream_handler=read, usage_limits=limits)).output

    return play


def retrying_transport(slept: Slept) -> AsyncHTTPX2TenacityTransport:
    """As the documentation of its retries begins."""

    def check(response: httpx2.Response) -> None:
        if response.status_code in (429, 502, 503, 504):
            response.raise_for_status()

    return AsyncHTTPX2TenacityTransport(
        RetryConfig(
            retry=retry_if_exception_type((httpx2.HTTPStatusError, ConnectionError)),
            wait=wait_retry_after(fallback_strategy=wait_exponential(multiplier=1, max=60), max_wait=300),
            stop=stop_after_attempt(5),
            reraise=True,
            sleep=slept.sleep,
        ),
        validate_response=check,
    )


# ---------------------------------------------------------------- continuity


def session(sdk: AsyncOpenAI, continuity: Continuity) -> Player:
    """A plain session of ours over the SDK."""
    model = SessionModel(name="m", client=sdk, max_output_tokens=CAP_TOKENS)

    async def play(task: Play) -> str:
        def step(path: str = "") -> str:
            """Do a step."""
            return task.step(path)

        tools = [
            Tool(name="step", function=step),
            Tool(name="last_step", function=step, ends_run="unexplained"),
        ]
        one = AgentSession(model, tools=tools, continuity=continuity)
        task.abort = one.abort
        outcome = await one.run(QUESTION)
        if outcome.failure is not None:
            raise RuntimeError(outcome.failure.message)
        if outcome.aborted:
            raise RuntimeError("aborted")
        return outcome.text

    return play


def players(base_url: str, slept: Slept, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Player]:
    """Every row; ``settings`` are those of continuity by row."""
    bare = client(base_url)
    by_row = {
        name: Continuity.from_settings(given, installed=False, clock=slept.clock)
        for name, given in settings.items()
    }
    ours = next(iter(by_row.values()))
    return {
        "no recovery": plain(bare),
        "the SDK's retries (2)": plain(client(base_url, retries=2)),
        "tenacity, 5 attempts": plain(bare, five_attempts(slept)),
        "LangChain ModelRetryMiddleware": langchain(base_url, ModelRetryMiddleware()),
        "pydantic-ai, retrying transport": pydantic_ai(
            pydantic_model(client(base_url, transport=retrying_transport(slept)))
        ),
        "pydantic-ai FallbackModel": pydantic_ai(
            FallbackModel(pydantic_model(bare), pydantic_model(bare, OTHER_PROVIDER))
        ),
        **{name: session(bare, continuity) for name, continuity in by_row.items()},
        "continuity in LangChain": langchain(base_url, ContinuityMiddleware(continuity=ours)),
        "continuity in pydantic-ai": pydantic_ai(pydantic_model(bare), ContinuityCapability(continuity=ours)),
    }
