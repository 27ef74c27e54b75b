"""A run over several invocations: checkpoints, another process, the next request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_agents import QUESTION, CountedTool, StandingClock, answer, calling, texts, thread
from langgraph.checkpoint.memory import InMemorySaver

from continuity_core import (
    Boundary,
    Continuity,
    Decision,
    Omit,
    Proposal,
    RunOutcome,
    hookimpl,
)
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]
BROKEN = {"text": "p", "cut": "rst"}
ONE_RETRY = {"plugins": {"stream-recovery": {"retries": 1}}}


def run_of(middleware: ContinuityMiddleware) -> str:
    report = middleware.report_of("T")
    assert report is not None
    return report.run


async def test_an_invocation_that_goes_on_after_a_failure_is_the_same_run(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}"), BROKEN, BROKEN, BROKEN, {"text": "done"}])
    step, middleware = CountedTool(), ContinuityMiddleware(continuity=load(ONE_RETRY))
    agent = create_agent(model(), [step.tool()], middleware=[middleware], checkpointer=InMemorySaver())
    with pytest.raises(openai.APIConnectionError):
        await agent.ainvoke(QUESTION, thread())
    first = run_of(middleware)
    with pytest.raises(openai.APIConnectionError):
        await agent.ainvoke(None, thread())
    assert len(server.requests) == 4, "the budget was spent before, and nothing filled it again"
    assert answer(await agent.ainvoke(None, thread())) == "done"
    assert run_of(middleware) == first
    assert step.times == 1


async def test_the_next_request_is_another_run_with_budgets_of_its_own(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([BROKEN, BROKEN, BROKEN, {"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load(ONE_RETRY))
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    with pytest.raises(openai.APIConnectionError):
        await agent.ainvoke(QUESTION, thread())
    first = run_of(middleware)
    assert answer(await agent.ainvoke({"messages": "Try again"}, thread())) == "done"
    assert run_of(middleware) != first
    assert [wait.seconds for wait in clock.waits] == [5.0, 5.0]


async def test_another_process_goes_on_with_the_run_that_the_checkpoint_has(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    saver, step = InMemorySaver(), CountedTool()

    def agent(middleware: ContinuityMiddleware) -> Any:
        return create_agent(
            model(),
            [step.tool()],
            middleware=[middleware],
            checkpointer=saver,
            interrupt_before=["tools"],
        )

    server.play([{"text": "CUT", "stop": "length"}, calling("{}"), {"text": "CUT", "stop": "length"}])
    first = ContinuityMiddleware(continuity=load({"max_resumes": 1}))
    await agent(first).ainvoke(QUESTION, thread())
    begun = first.run_of("T")
    assert begun is not None
    second = ContinuityMiddleware(continuity=load({"max_resumes": 1}))
    state = await agent(second).ainvoke(None, thread())
    assert answer(state) == "CUT", "its one resume was spent in the first process"
    report = second.report_of("T")
    assert report is not None
    assert (report.run, report.turns, report.resumes) == (begun.id, 3, 1)


class LeavesOut:
    """Leaves the answer of a final turn out of later requests."""

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> list[Decision] | None:
        if boundary.turn.text != "SECRET" or boundary.turn.entry is None:
            return None
        return [Omit(boundary.turn.entry, "secret")]


async def test_edits_of_a_session_are_kept_for_another_process(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    saver = InMemorySaver()
    server.play([{"text": "SECRET"}, {"text": "done"}])
    for question in ("Finish the task", "And now?"):
        middleware = ContinuityMiddleware(continuity=load(plugins=[LeavesOut()]))
        agent = create_agent(model(), [], middleware=[middleware], checkpointer=saver)
        state = await agent.ainvoke({"messages": question}, thread())
    assert texts(server.requests[1]) == ["Finish the task", "And now?"]
    assert [message.text for message in state["messages"]] == [
        "Finish the task",
        "SECRET",
        "And now?",
        "done",
    ]


async def test_a_run_that_a_synchronous_invocation_began_goes_on_in_an_asynchronous_one(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}, calling("{}"), {"text": "CUT", "stop": "length"}])
    middleware = ContinuityMiddleware(continuity=load({"max_resumes": 1}))
    agent = create_agent(
        model(),
        [CountedTool().tool()],
        middleware=[middleware],
        checkpointer=InMemorySaver(),
        interrupt_before=["tools"],
    )
    await asyncio.to_thread(agent.invoke, QUESTION, thread())
    begun = middleware.run_of("T")
    assert begun is not None
    await agent.ainvoke(None, thread())
    report = middleware.report_of("T")
    assert report is not None
    assert (report.run, report.resumes, report.turns) == (begun.id, 1, 3)


async def test_a_new_request_on_a_thread_takes_over_from_a_run_that_waits(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([BROKEN, {"text": "done"}])
    clock = StandingClock()
    continuity = Continuity.from_settings(None, clock=clock)
    middleware = ContinuityMiddleware(continuity=continuity)
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    waiting = asyncio.create_task(agent.ainvoke(QUESTION, thread()))
    await clock.wait_begun()
    state = await agent.ainvoke({"messages": "Do this instead"}, thread())
    assert answer(state) == "done"
    with pytest.raises(openai.APIConnectionError):
        await waiting
    assert clock.waits[0].ended_by == "abort"
    assert len(server.requests) == 2


async def test_threads_do_not_know_of_each_other(server: FaultServer, model: MakeModel, load: Load) -> None:
    server.play([{"text": "a"}, {"text": "b"}])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    await asyncio.gather(agent.ainvoke(QUESTION, thread("A")), agent.ainvoke(QUESTION, thread("B")))
    reports = [middleware.report_of(name) for name in ("A", "B")]
    assert all(report is not None and report.outcome is RunOutcome.COMPLETED for report in reports)
    assert middleware.run_of() is None


async def test_invocations_without_a_thread_run_side_by_side(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}] * 3 + [{"text": "done"}] * 3)
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware])
    states = await agent.abatch([QUESTION] * 3)
    assert [answer(state) for state in states] == ["done"] * 3
    assert middleware.run_of() is None
