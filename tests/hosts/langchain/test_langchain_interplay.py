"""The framework's own parts beside ours, and what providers do that scripts have no words for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import responses_api
from host_fixtures import side_by_side
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolRetryMiddleware,
)
from langchain_agents import QUESTION, CountedTool, answer, calling, thread
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from continuity_core import CauseKind, Continuity, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]
OVERLOADED = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}
BROKEN = {"text": "BROKEN", "cut": "rst"}
LENGTH = {"text": "half an answer", "stop": "length"}
DONE = {"text": "done"}


def at_once(**options: Any) -> Any:
    return ModelRetryMiddleware(initial_delay=0.0, jitter=False, **options)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def state_of(agent: Any, given: Any, *config: Any, stream: bool) -> dict[str, Any]:
    """The final state, either way."""
    if not stream:
        state: dict[str, Any] = await agent.ainvoke(given, *config)
        return state
    last: dict[str, Any] = {}
    async for kind, chunk in agent.astream(given, *config, stream_mode=["messages", "values"]):
        if kind == "values":
            last = chunk
    return last


# ---------------------------------------------------------------- retries and fallbacks together


async def test_each_turn_has_the_inner_retries_anew_and_only_what_they_leave_is_charged(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([OVERLOADED, OVERLOADED, LENGTH, OVERLOADED, OVERLOADED, OVERLOADED, DONE])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware, at_once(max_retries=2)])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    report = middleware.report_of()
    assert report is not None
    assert (report.resumes, report.requests, [wait.seconds for wait in clock.waits]) == (2, 7, [5])


async def test_a_fallback_with_retries_of_its_own_goes_first(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([OVERLOADED] * 4 + [DONE])
    inner = [ModelFallbackMiddleware(model()), at_once(max_retries=1, on_failure="error")]
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load()), *inner])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert [wait.seconds for wait in clock.waits] == [5]


async def test_a_tool_that_is_retried_is_one_call_of_the_run(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    tool, tries = CountedTool().tool(), []

    async def fail_once(**arguments: Any) -> str:
        tries.append(arguments)
        if len(tries) == 1:
            raise ConnectionResetError("the tool's own connection")
        return "RESULT"

    tool.coroutine = fail_once
    server.play([calling("{}"), LENGTH, DONE])
    middleware = ContinuityMiddleware(continuity=load())
    retried = ToolRetryMiddleware(initial_delay=0, jitter=False)
    agent = create_agent(model(), [tool], middleware=[middleware, retried])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    report = middleware.report_of()
    assert report is not None
    assert (len(tries), report.resumes) == (2, 1)


# ---------------------------------------------------------------- what changes the messages


@pytest.mark.parametrize("first", [True, False])
async def test_a_summary_of_the_history_takes_nothing_broken_along(
    server: FaultServer, model: MakeModel, load: Load, first: bool
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    summarises = SummarizationMiddleware(model(), trigger=("messages", 4), keep=("messages", 2))
    both = [middleware, summarises]
    agent = create_agent(
        model(),
        [CountedTool().tool()],
        middleware=both if first else both[::-1],
        checkpointer=InMemorySaver(),
    )
    server.play([LENGTH, BROKEN, calling("{}"), LENGTH, {"text": "first"}])
    assert answer(await agent.ainvoke(QUESTION, thread())) == "first"
    server.play([{"text": "SUMMARY"}, LENGTH, {"text": "second"}])
    assert answer(await agent.ainvoke(QUESTION, thread())) == "second"
    assert server.requests[-1].mentions("SUMMARY")
    for request in server.requests:
        assert not request.mentions("half an answer")
        assert not request.mentions("BROKEN")


@pytest.mark.parametrize("first", [True, False])
async def test_results_that_are_cleared_from_requests_stay_cleared(
    server: FaultServer, model: MakeModel, load: Load, first: bool
) -> None:
    both = [
        ContinuityMiddleware(continuity=load()),
        ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=0, keep=0, placeholder="[cleared]")]),
    ]
    agent = create_agent(
        model(), [CountedTool(result="LONG").tool()], middleware=both if first else both[::-1]
    )
    server.play([calling("{}"), LENGTH, BROKEN, DONE])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    for request in server.requests[1:]:
        assert request.mentions("[cleared]")
        assert not request.mentions("LONG")


# ---------------------------------------------------------------- questions to a human


def asking() -> StructuredTool:
    async def ask(question: str) -> str:
        """Ask the user."""
        return f"THE USER SAYS {interrupt(question)}"

    return StructuredTool.from_function(coroutine=ask, name="ask")


async def test_a_run_goes_on_with_its_budgets_after_a_tool_asked_the_user(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware = ContinuityMiddleware(continuity=load({"max_resumes": 2}))
    agent = create_agent(model(), [asking()], middleware=[middleware], checkpointer=InMemorySaver())
    server.play([LENGTH, calling('{"question": "?"}', name="ask"), LENGTH, LENGTH])
    assert "__interrupt__" in await agent.ainvoke(QUESTION, thread())
    state = await agent.ainvoke(Command(resume="yes"), thread())
    assert answer(state) == "half an answer"
    assert server.requests[-1].mentions("THE USER SAYS yes")
    report = middleware.report_of("T")
    assert report is not None
    assert (report.outcome, report.resumes) == (RunOutcome.INCOMPLETE, 2)


async def test_a_question_that_the_user_does_not_answer_is_not_sent_again(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [asking()], middleware=[middleware], checkpointer=InMemorySaver())
    server.play([calling('{"question": "?"}', name="ask"), DONE])
    await agent.ainvoke(QUESTION, thread())
    asked = middleware.run_of("T")
    assert answer(await agent.ainvoke({"messages": "Never mind"}, thread())) == "done"
    assert asked is not None
    assert asked.report().outcome is RunOutcome.ABORTED


async def test_a_rejected_call_is_answered_and_the_run_goes_on(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    middleware, step = ContinuityMiddleware(continuity=load()), CountedTool()
    agent = create_agent(
        model(),
        [step.tool()],
        middleware=[middleware, HumanInTheLoopMiddleware({"step": True})],
        checkpointer=InMemorySaver(),
    )
    server.play([calling("{}"), BROKEN, LENGTH, DONE])
    await agent.ainvoke(QUESTION, thread())
    no = Command(resume={"decisions": [{"type": "reject", "message": "NOT THAT"}]})
    assert answer(await agent.ainvoke(no, thread())) == "done"
    assert step.times == 0
    assert server.requests[-1].mentions("NOT THAT")


# ---------------------------------------------------------------- many at a time


async def test_threads_side_by_side_do_not_mix(server: FaultServer, model: MakeModel, load: Load) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware], checkpointer=InMemorySaver())
    server.play([{"text": f"half {number}", "stop": "length"} for number in range(5)] + [DONE] * 5)
    questions = [{"messages": f"question {number}"} for number in range(5)]
    states = await side_by_side(
        server, *(agent.ainvoke(question, thread(f"T{number}")) for number, question in enumerate(questions))
    )
    assert [answer(state) for state in states] == ["done"] * 5
    for number in range(5):
        report = middleware.report_of(f"T{number}")
        assert report is not None
        assert report.resumes == 1
    for request in server.requests[5:]:
        assert not request.mentions("half")
        assert sum(request.mentions(f"question {number}") for number in range(5)) == 1


async def test_a_batch_is_as_many_runs(server: FaultServer, model: MakeModel, load: Load) -> None:
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware])
    server.play([LENGTH, *[DONE] * 4])
    assert [answer(state) for state in await agent.abatch([QUESTION] * 4)] == ["done"] * 4
    assert middleware.continuity.status()["runs"] == []


async def test_the_events_of_attempts_have_run_ids_of_their_own(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([LENGTH, BROKEN, DONE])
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load())])
    said: dict[str, str] = {}
    async for event in agent.astream_events(QUESTION, version="v2"):
        if event["event"] == "on_chat_model_stream":
            attempt = event["run_id"]
            said[attempt] = said.get(attempt, "") + event["data"]["chunk"].text
    assert list(said.values()) == ["half an answer", "BROKEN", "done"]


# ---------------------------------------------------------------- Responses


@pytest.mark.parametrize(
    ("error", "wait"), [(responses_api.SERVER_ERROR, 5), (responses_api.RATE_LIMITED, 12.5)]
)
async def test_a_response_that_failed_is_asked_for_again(
    server: FaultServer,
    model: MakeModel,
    load: Load,
    clock: VirtualClock,
    stream: bool,
    error: dict[str, str],
    wait: float,
) -> None:
    server.play([responses_api.failed(error, stream=stream), DONE])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(use_responses_api=True), [], middleware=[middleware])
    assert answer(await state_of(agent, QUESTION, stream=stream)) == "done"
    assert [wait.seconds for wait in clock.waits] == [wait]
    assert not server.requests[-1].mentions("BROKEN")


@pytest.mark.parametrize("resumes", [1, 0])
async def test_no_call_of_an_incomplete_response_is_executed(
    server: FaultServer, model: MakeModel, load: Load, stream: bool, resumes: int
) -> None:
    step = CountedTool()
    server.play([responses_api.incomplete("max_output_tokens", stream=stream), DONE])
    agent = create_agent(
        model(use_responses_api=True),
        [step.tool()],
        middleware=[ContinuityMiddleware(continuity=load({"max_resumes": resumes}))],
    )
    state = await state_of(agent, QUESTION, stream=stream)
    assert (answer(state), step.times) == ("done" if resumes else "HALF", 0)


async def test_the_resumed_turn_may_have_a_larger_limit_by_this_api_too(
    server: FaultServer, model: MakeModel, load: Load, stream: bool
) -> None:
    server.play([responses_api.incomplete("max_output_tokens", stream=stream), DONE])
    continuity = load({"plugins": {"length-resume": {"output_limit_factor": 2}}})
    agent = create_agent(
        model(use_responses_api=True), [], middleware=[ContinuityMiddleware(continuity=continuity)]
    )
    await state_of(agent, QUESTION, stream=stream)
    assert [json.loads(request.body)["max_output_tokens"] for request in server.requests] == [64, 128]


async def test_a_response_that_a_filter_stopped_is_final_and_its_calls_are_not_executed(
    server: FaultServer, model: MakeModel, load: Load, stream: bool
) -> None:
    middleware, step = ContinuityMiddleware(continuity=load()), CountedTool()
    server.play([responses_api.incomplete("content_filter", stream=stream)])
    agent = create_agent(model(use_responses_api=True), [step.tool()], middleware=[middleware])
    assert answer(await state_of(agent, QUESTION, stream=stream)) == "HALF"
    report = middleware.report_of()
    assert report is not None
    assert (step.times, report.cause, report.outcome) == (0, CauseKind.PERMANENT, RunOutcome.FAILED)
