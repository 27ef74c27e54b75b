"""Watching only, switching off, aborting: from inside and from outside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_agents import QUESTION, CountedTool, StandingClock, answer, calling, thread
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import RunControl

from continuity_core import Continuity, Mode, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]
BROKEN = {"text": "p", "cut": "rst"}


@pytest.mark.parametrize("mode", ["observe", "off"])
async def test_while_it_only_watches_the_framework_does_what_it_does_alone(
    server: FaultServer, model: MakeModel, load: Load, mode: str
) -> None:
    script = [calling('{"path": "CUT"}', stop="length"), {"text": "cut", "stop": "length"}]
    seen = []
    for middleware in ([], [ContinuityMiddleware(continuity=load({"mode": mode}))]):
        server.play(script)
        step = CountedTool()
        state = await create_agent(model(), [step.tool()], middleware=middleware).ainvoke(QUESTION)
        described = [
            (message.type, message.text, [call["args"] for call in getattr(message, "tool_calls", [])])
            for message in state["messages"]
        ]
        seen.append((described, step.given, len(server.requests)))
    assert seen[0] == seen[1]
    assert seen[0][1] == [{"path": "CUT"}], "the framework runs the truncated call"


async def test_what_would_have_been_done_is_reported_while_it_only_watches(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}])
    middleware = ContinuityMiddleware(continuity=load({"mode": "observe"}))
    await create_agent(model(), [], middleware=[middleware]).ainvoke(QUESTION)
    report = middleware.report_of()
    assert report is not None
    assert "length-resume" in str([event.data for event in report.events])


async def held(clock: StandingClock, agent: Any) -> asyncio.Task[Any]:
    task = asyncio.create_task(agent.ainvoke(QUESTION, thread()))
    await clock.wait_begun()
    return task


async def test_cancelling_the_invocation_ends_the_wait_and_the_run(
    server: FaultServer, model: MakeModel
) -> None:
    server.play([BROKEN, {"text": "done"}])
    clock = StandingClock()
    middleware = ContinuityMiddleware(continuity=Continuity.from_settings(None, clock=clock))
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    task = await held(clock, agent)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    report = middleware.report_of("T")
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert clock.waits[0].ended_by == "cancelled"
    assert len(server.requests) == 1
    assert answer(await agent.ainvoke({"messages": "Again"}, thread())) == "done"


@pytest.mark.parametrize("how", ["abort", "disable", "observe", "input"])
async def test_what_ends_a_wait_gives_the_caller_the_error_at_once(
    server: FaultServer, model: MakeModel, how: str
) -> None:
    server.play([BROKEN, {"text": "done"}])
    clock = StandingClock()
    continuity = Continuity.from_settings(None, clock=clock)
    middleware = ContinuityMiddleware(continuity=continuity)
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    task = await held(clock, agent)
    run = middleware.run_of("T")
    assert run is not None
    if how == "abort":
        run.abort()
    elif how == "input":
        run.input_arrived("follow_up")
    elif how == "disable":
        continuity.disable()
    else:
        continuity.mode = Mode.OBSERVE
    with pytest.raises(openai.APIConnectionError):
        await task
    assert len(server.requests) == 1


async def test_a_synchronous_wait_is_ended_from_another_thread(server: FaultServer, model: MakeModel) -> None:
    server.play([BROKEN, {"text": "done"}])
    clock = StandingClock()
    middleware = ContinuityMiddleware(continuity=Continuity.from_settings(None, clock=clock))
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    raised: list[BaseException] = []

    def invoke() -> None:
        try:
            agent.invoke(QUESTION, thread())
        except Exception as error:
            raised.append(error)

    worker = threading.Thread(target=invoke)
    worker.start()
    await clock.wait_begun()
    run = middleware.run_of("T")
    assert run is not None
    run.abort()
    await asyncio.to_thread(worker.join, 5)
    assert len(raised) == 1
    report = middleware.report_of("T")
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED


async def test_an_abort_while_a_tool_runs_lets_nothing_more_be_requested(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}"), {"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load())
    step = CountedTool()
    tool = step.tool()

    async def abort(**arguments: Any) -> str:
        run = middleware.run_of()
        assert run is not None
        run.abort()
        return "aborted"

    tool.coroutine = abort
    state = await create_agent(model(), [tool], middleware=[middleware]).ainvoke(QUESTION)
    assert (answer(state), len(server.requests)) == ("aborted", 1)
    report = middleware.report_of()
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED


async def test_a_call_of_a_turn_that_was_aborted_meanwhile_is_not_executed(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}", text="I look it up."), {"text": "done"}])
    hold = server.hold(1)
    middleware, step = ContinuityMiddleware(continuity=load()), CountedTool()
    agent = create_agent(model(), [step.tool()], middleware=[middleware])
    task = asyncio.create_task(agent.ainvoke(QUESTION))
    await hold.reached()
    run = middleware.run_of()
    assert run is not None
    run.abort()
    hold.release()
    await task
    assert (step.times, len(server.requests)) == (0, 1)


async def test_a_shutdown_that_was_asked_for_prevents_a_wait(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([BROKEN, {"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    hold, control = server.hold(1), RunControl()
    task = asyncio.create_task(agent.ainvoke(QUESTION, thread(), control=control))
    await hold.reached()
    control.request_drain()
    hold.release()
    with pytest.raises(openai.APIConnectionError):
        await task
    assert clock.waits == []
    assert answer(await agent.ainvoke(None, thread())) == "done"


async def test_a_run_that_was_cancelled_in_a_tool_does_not_block_its_thread(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}"), {"text": "done"}])
    middleware, tool = ContinuityMiddleware(continuity=load()), CountedTool().tool()
    begun = asyncio.Event()

    async def hang(**arguments: Any) -> str:
        begun.set()
        await asyncio.sleep(60)
        return "never"

    tool.coroutine = hang
    agent = create_agent(model(), [tool], middleware=[middleware], checkpointer=InMemorySaver())
    task = asyncio.create_task(agent.ainvoke(QUESTION, thread()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    left = middleware.run_of("T")
    assert left is not None
    state = await agent.ainvoke({"messages": "Again"}, thread())
    assert answer(state) == "done"
    assert left.report().outcome is RunOutcome.ABORTED
