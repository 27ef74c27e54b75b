"""Runs side by side, and runs that somebody leaves or cancels, share and leave nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from host_fixtures import side_by_side
from pydantic_ai import Agent, CancellationToken, capture_run_messages
from pydantic_ai.exceptions import (
    RunCancelled,
)
from pydantic_ai.tools import RunContext
from pydantic_ai_scripts import CALL, CUT, DONE, LENGTH

from continuity_core import Continuity, RunOutcome
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

# ---------------------------------------------------------------- side by side


async def test_runs_side_by_side_with_one_capability_do_not_mix(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, capabilities=[capability])

    async def one(number: int) -> Any:
        return await agent.run(f"question {number}", conversation_id=f"c{number}")

    server.play([{"text": f"half {n}", "stop": "length"} for n in range(6)] + [DONE] * 6)
    results = await side_by_side(server, *(one(number) for number in range(6)))
    assert [result.output for result in results] == ["done"] * 6
    reports = [capability.report(result.run_id) for result in results]
    assert [report.resumes for report in reports if report is not None] == [1] * 6
    for request in server.requests[6:]:
        assert not request.mentions("half")
        assert len({n for n in range(6) if request.mentions(f"question {n}")}) == 1


async def test_sub_agents_called_side_by_side_are_runs_of_their_own(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    inner = Agent(model, capabilities=[capability])
    outer = Agent(model, capabilities=[capability])

    @outer.tool_plain
    async def ask(name: str) -> str:
        return (await inner.run(f"inner {name}")).output

    calls = [{"name": "ask", "arguments": json.dumps({"name": name})} for name in ("A", "B")]
    server.play([{"tool_calls": calls}, LENGTH, LENGTH, DONE, DONE, DONE])
    result = await outer.run("outer")
    assert result.output == "done"
    assert not server.requests[-1].mentions("half")


# ---------------------------------------------------------------- consumers that leave


async def test_a_stream_of_events_that_is_left_ends_the_run(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    server.play([{"text": "a long answer in pieces", "hang": True}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    async with agent.run_stream_events("x") as events:
        async for event in events:
            if event.event_kind == "part_start":
                break
    assert continuity.status()["runs"] == []
    assert len(server.requests) == 1


async def test_a_stream_of_events_that_is_left_in_a_wait_requests_nothing_more(
    server: FaultServer, model: Any
) -> None:
    waiting = asyncio.Event()
    clock = VirtualClock(auto_advance=False, on_wait=lambda number, wait: waiting.set())
    continuity = Continuity.from_settings(clock=clock)
    server.play([CUT, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])

    async def consume() -> None:
        async with agent.run_stream_events("x") as events:
            async for _ in events:
                pass

    task = asyncio.create_task(consume())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert continuity.status()["runs"] == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("how", ["token", "task"])
async def test_a_run_that_is_cancelled_in_a_tool_is_over_and_the_next_is_clean(
    server: FaultServer, model: Any, load: Callable[..., Continuity], how: str
) -> None:
    continuity = load()
    capability = ContinuityCapability(continuity=continuity)
    agent = Agent(model, capabilities=[capability])
    token = CancellationToken()
    inside = asyncio.Event()

    @agent.tool_plain
    async def step() -> str:
        inside.set()
        await asyncio.sleep(60)
        return "RESULT"

    server.play([{**CALL, "text": "I shall step"}, DONE])
    with capture_run_messages() as messages:
        task = asyncio.create_task(agent.run("x", cancellation_token=token))
        await inside.wait()
        if how == "token":
            token.cancel()
        else:
            task.cancel()
        with pytest.raises((RunCancelled, asyncio.CancelledError)):
            await task
    assert continuity.status()["runs"] == []
    report = capability.report(messages[-1].run_id or "")
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert (await agent.run("go on", message_history=list(messages))).output == "done"


async def test_calls_behind_which_a_wait_was_cancelled_do_not_stand_in_the_next_runs_way(
    server: FaultServer, model: Any
) -> None:
    waiting = asyncio.Event()
    clock = VirtualClock(auto_advance=False, on_wait=lambda number, wait: waiting.set())
    continuity = Continuity.from_settings(clock=clock)
    server.play([{**CALL, "text": "BROKEN", "cut": "no_finish"}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])

    @agent.tool_plain
    def step() -> str:
        raise AssertionError("the call is never executed")

    async def consume() -> None:
        async with agent.run_stream_events("First") as events:
            async for _ in events:
                pass

    with capture_run_messages() as messages:
        task = asyncio.create_task(consume())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await agent.run("Second", message_history=list(messages))).output == "done"
    assert not server.requests[-1].mentions("BROKEN")
    assert server.requests[-1].user_texts == ("First", "Second")


@pytest.mark.parametrize("priority", ["asap", "when_idle"])
@pytest.mark.parametrize("first", [CALL, CUT])
async def test_what_was_said_before_a_plugin_ended_the_run_is_a_run_of_its_own(
    server: FaultServer,
    model: Any,
    load: Callable[..., Continuity],
    first: dict[str, Any],
    priority: Literal["asap", "when_idle"],
) -> None:
    server.play([first, DONE])
    limits = {"plugins": {"run-limits": {"max_requests": 1}}}
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load(limits))])

    @agent.tool_plain
    def step() -> str:
        return "RESULT"

    to_say = ["And then"]

    async def say(ctx: RunContext[None], events: Any) -> None:
        if to_say:
            ctx.enqueue(to_say.pop(), priority=priority)
        async for _ in events:
            pass

    assert (await agent.run("First", event_stream_handler=say)).output == "done"
    assert server.requests[-1].user_texts == ("First", "And then")
    assert server.requests[-1].mentions("RESULT") is (first is CALL)


@pytest.mark.parametrize(("priority", "resumes"), [("asap", 1), ("when_idle", 2)])
async def test_steering_behind_an_answer_belongs_to_the_run_and_its_budgets(
    server: FaultServer,
    model: Any,
    load: Callable[..., Continuity],
    priority: Literal["asap", "when_idle"],
    resumes: int,
) -> None:
    server.play([LENGTH, DONE, LENGTH, DONE])
    continuity = load({"max_resumes": 1})
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    heard = 0

    async def say(ctx: RunContext[None], events: Any) -> None:
        nonlocal heard
        heard += 1
        if heard == 2:
            ctx.enqueue("And then", priority=priority)
        async for _ in events:
            pass

    await agent.run("First", event_stream_handler=say)
    assert len(server.requests) == 2 + resumes


async def test_a_run_that_is_cancelled_in_a_stream_is_over_and_the_next_is_clean(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    token = CancellationToken()

    async def consume(ctx: RunContext[None], events: Any) -> None:
        async for event in events:
            if event.event_kind == "part_start":
                token.cancel()

    server.play([{"text": "BROKEN by the user", "hang": True}, DONE])
    with pytest.raises(RunCancelled) as cancelled:
        await agent.run("x", cancellation_token=token, event_stream_handler=consume)
    assert continuity.status()["runs"] == []
    history = cancelled.value.all_messages()
    assert (await agent.run("go on", message_history=history)).output == "done"
    assert not server.requests[-1].mentions("BROKEN")
