"""Invocations that end without a word to any middleware: nothing of theirs stays."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_agents import QUESTION, CountedTool, StandingClock, answer, calling
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphRecursionError

from continuity_core import CauseKind, Continuity, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]
OVERLOADED = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}


def failing_tool() -> Any:
    tool = CountedTool().tool()

    async def fail(**arguments: Any) -> str:
        raise ConnectionResetError("the tool's own connection")

    tool.coroutine = fail
    return tool


class Refusing(AgentMiddleware[Any, Any, Any]):
    """Fails before a model is asked for the second time."""

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        if len(state["messages"]) > 1:
            raise PermissionError("no more")


async def left_on(stream: AsyncIterator[Any], node: str) -> None:
    async for update in stream:
        if node in update:
            break
    await stream.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (lambda agent: agent.ainvoke(QUESTION), ConnectionResetError),
        (lambda agent: agent.ainvoke(QUESTION, {"recursion_limit": 2}), GraphRecursionError),
        (lambda agent: left_on(agent.astream(QUESTION, stream_mode="updates"), "model"), None),
    ],
)
async def test_a_run_without_a_thread_is_settled_when_its_invocation_is_gone(
    server: FaultServer,
    model: MakeModel,
    load: Load,
    end: Callable[[Any], Awaitable[Any]],
    error: type[Exception] | None,
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [failing_tool()], middleware=[middleware])
    server.play([calling("{}")])
    if error is None:
        await end(agent)
    else:
        with pytest.raises(error):
            await end(agent)
        gc.collect()  # An error and the frames that it came through hold each other.
    report = middleware.report_of()
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert middleware.run_of() is None
    assert middleware.continuity.status()["runs"] == []


async def test_what_is_left_goes_when_the_next_run_begins(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [CountedTool().tool()], middleware=[middleware, Refusing()])
    server.play([calling("{}"), {"text": "done"}])
    with pytest.raises(PermissionError):
        await agent.ainvoke(QUESTION)
    assert len(middleware.continuity.status()["runs"]) == 1
    gc.collect()
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert middleware.continuity.status()["runs"] == []


async def test_a_run_that_goes_on_is_not_taken_for_one_that_was_left(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    begun, go_on = asyncio.Event(), asyncio.Event()
    tool = CountedTool().tool()

    async def pause(**arguments: Any) -> str:
        begun.set()
        await go_on.wait()
        return "RESULT"

    tool.coroutine = pause
    agent = create_agent(model(), [tool], middleware=[middleware])
    server.play([calling("{}"), {"text": "second"}, {"text": "half", "stop": "length"}, {"text": "first"}])
    first = asyncio.create_task(agent.ainvoke(QUESTION))
    await begun.wait()
    assert answer(await agent.ainvoke(QUESTION)) == "second"
    run = middleware.run_of()
    go_on.set()
    assert answer(await first) == "first"
    assert run is not None
    assert (run.report().outcome, run.report().resumes) == (RunOutcome.COMPLETED, 1)


async def test_a_consumer_that_leaves_in_a_token_ends_the_run(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(stream_chunk_timeout=None), [], middleware=[middleware])
    server.play([{"text": "a long answer in pieces", "hang": True}])
    stream = agent.astream(QUESTION, stream_mode="messages")
    async for _ in stream:
        break
    await stream.aclose()
    assert middleware.continuity.status()["runs"] == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("said", [{}, {"text": "a long answer in pieces"}])
async def test_a_turn_that_a_cancellation_cut_short_is_on_record(
    server: FaultServer, model: MakeModel, load: Load, said: dict[str, str]
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(streaming=True, stream_chunk_timeout=None), [], middleware=[middleware])
    server.play([{**said, "hang": True}])
    hold = server.hold(1)
    task = asyncio.create_task(agent.ainvoke(QUESTION))
    await hold.reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    report = middleware.report_of()
    assert report is not None
    assert (report.outcome, report.cause, report.turns) == (RunOutcome.ABORTED, CauseKind.CANCELLED, 1)


async def test_a_consumer_that_leaves_in_a_wait_ends_it(server: FaultServer, model: MakeModel) -> None:
    clock = StandingClock()
    middleware = ContinuityMiddleware(continuity=Continuity.from_settings(clock=clock))
    agent = create_agent(model(), [], middleware=[middleware])
    server.play([OVERLOADED, {"text": "done"}])

    async def consume() -> None:
        async for _ in agent.astream(QUESTION, stream_mode="messages"):
            pass

    task = asyncio.create_task(consume())
    await clock.wait_begun()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert middleware.continuity.status()["runs"] == []
    assert len(server.requests) == 1


def test_a_synchronous_stream_that_is_left_leaves_nothing(load: Load) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    with FaultServer.in_thread([calling("{}")]) as server:
        model = ChatOpenAI(model="scripted", base_url=server.base_url, api_key="any", max_retries=0)
        agent = create_agent(model, [CountedTool().tool()], middleware=[middleware])
        stream = agent.stream(QUESTION, stream_mode="updates")
        for update in stream:
            if "model" in update:
                break
        stream.close()
        del stream
    report = middleware.report_of()
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert middleware.continuity.status()["runs"] == []
