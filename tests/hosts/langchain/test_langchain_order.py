"""Other middleware beside ours: who goes first, and what is said where the order is wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
    hook_config,
)
from langchain_agents import QUESTION, CountedTool, answer, calling, thread
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from continuity_core import Continuity, Mode, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware, collisions
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]
OVERLOADED = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}
ONE_RETRY = {"plugins": {"stream-recovery": {"retries": 1}}}


def at_once(**options: Any) -> Any:
    return ModelRetryMiddleware(initial_delay=0.0, jitter=False, **options)


@pytest.fixture(autouse=True)
def _nothing_was_said_yet() -> None:
    collisions.CAUTIONS.forget()


async def test_a_retry_inside_goes_first_and_costs_nothing(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([OVERLOADED, OVERLOADED, {"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware, at_once(max_retries=2)])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    report = middleware.report_of()
    assert report is not None
    assert (report.resumes, report.requests, clock.waits) == (0, 3, [])


async def test_a_failure_that_a_retry_inside_made_a_message_of_is_still_a_failure(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([OVERLOADED, OVERLOADED, {"text": "done"}])
    middleware = [ContinuityMiddleware(continuity=load()), at_once(max_retries=1)]
    assert answer(await create_agent(model(), [], middleware=middleware).ainvoke(QUESTION)) == "done"
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_the_retrys_own_message_is_the_result_where_nothing_helps(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([OVERLOADED] * 4)
    middleware = ContinuityMiddleware(continuity=load(ONE_RETRY))
    agent = create_agent(model(), [], middleware=[middleware, at_once(max_retries=1)])
    assert answer(await agent.ainvoke(QUESTION)).startswith("Model call failed after 2 attempts")
    report = middleware.report_of()
    assert report is not None
    assert report.outcome is RunOutcome.FAILED


async def test_a_retry_outside_is_told_to_go_inside(
    server: FaultServer, model: MakeModel, load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    server.play([OVERLOADED] * 3)
    middleware = ContinuityMiddleware(continuity=load(ONE_RETRY))
    agent = create_agent(model(), [], middleware=[at_once(max_retries=1, on_failure="error"), middleware])
    with caplog.at_level(logging.WARNING, "continuity"), pytest.raises(openai.InternalServerError):
        await agent.ainvoke(QUESTION)
    assert "list ContinuityMiddleware first" in caplog.text
    assert len(server.requests) == 3, "its retry is a native one: the budget is not refilled"


async def test_a_fallback_model_inside_goes_first(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([OVERLOADED, {"text": "from the other model"}])
    middleware = [ContinuityMiddleware(continuity=load()), ModelFallbackMiddleware(model())]
    state = await create_agent(model(), [], middleware=middleware).ainvoke(QUESTION)
    assert answer(state) == "from the other model"
    assert clock.waits == []


@pytest.mark.parametrize("first", [True, False])
async def test_nobody_is_asked_to_approve_a_truncated_call(
    server: FaultServer, model: MakeModel, load: Load, first: bool
) -> None:
    server.play([calling('{"path": "CUT"}', stop="length"), calling('{"path": "WHOLE"}'), {"text": "done"}])
    step = CountedTool()
    both = [ContinuityMiddleware(continuity=load()), HumanInTheLoopMiddleware({"step": True})]
    agent = create_agent(
        model(),
        [step.tool()],
        middleware=both if first else both[::-1],
        checkpointer=InMemorySaver(),
    )
    asked = await agent.ainvoke(QUESTION, thread())
    [question] = asked["__interrupt__"]
    assert [request["args"] for request in question.value["action_requests"]] == [{"path": "WHOLE"}]
    state = await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), thread())
    assert answer(state) == "done"
    assert step.given == [{"path": "WHOLE"}]


@pytest.mark.parametrize("first", [True, False])
async def test_nobody_is_asked_about_a_truncated_call_without_budget_either(
    server: FaultServer, model: MakeModel, load: Load, first: bool
) -> None:
    server.play([calling('{"path": "CUT"}', stop="length")])
    both = [
        ContinuityMiddleware(continuity=load({"max_resumes": 0})),
        HumanInTheLoopMiddleware({"step": True}),
    ]
    agent = create_agent(
        model(),
        [CountedTool().tool()],
        middleware=both if first else both[::-1],
        checkpointer=InMemorySaver(),
    )
    assert "__interrupt__" not in await agent.ainvoke(QUESTION, thread())


async def test_an_approval_does_not_begin_another_run(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}, calling("{}"), {"text": "CUT", "stop": "length"}])
    middleware = ContinuityMiddleware(continuity=load({"max_resumes": 1}))
    agent = create_agent(
        model(),
        [CountedTool().tool()],
        middleware=[middleware, HumanInTheLoopMiddleware({"step": True})],
        checkpointer=InMemorySaver(),
    )
    await agent.ainvoke(QUESTION, thread())
    run = middleware.run_of("T")
    assert run is not None
    state = await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), thread())
    assert answer(state) == "CUT"
    report = middleware.report_of("T")
    assert report is not None
    assert (report.run, report.resumes, report.turns) == (run.id, 1, 3)


async def test_a_call_limit_that_ends_the_run_is_respected(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}"), calling("{}")])
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    agent = create_agent(
        model(), [CountedTool().tool()], middleware=[ContinuityMiddleware(continuity=load()), limit]
    )
    assert "limit" in answer(await agent.ainvoke(QUESTION))
    assert len(server.requests) == 1


async def test_a_tool_limit_that_ends_the_run_is_respected(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}"), calling("{}")])
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    agent = create_agent(
        model(), [CountedTool().tool()], middleware=[ContinuityMiddleware(continuity=load()), limit]
    )
    assert "limit" in answer(await agent.ainvoke(QUESTION))
    assert len(server.requests) == 2


async def test_a_history_that_the_provider_keeps_is_named_at_the_first_request(
    server: FaultServer, model: MakeModel, load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    server.play([{"text": "one"}, {"text": "two"}])
    kept = model(use_previous_response_id=True, use_responses_api=True)
    agent = create_agent(kept, [], middleware=[ContinuityMiddleware(continuity=load())])
    with caplog.at_level(logging.WARNING, "continuity"):
        await agent.ainvoke(QUESTION)
        await agent.ainvoke(QUESTION)
    assert caplog.text.count("use_previous_response_id") == 1


@pytest.mark.parametrize("mode", [Mode.ON, Mode.OBSERVE])
def test_a_conversation_of_the_provider_is_named_too(caplog: pytest.LogCaptureFixture, mode: Mode) -> None:
    conversing = SimpleNamespace(model_kwargs={"conversation": "conv_1"})
    with caplog.at_level(logging.WARNING, "continuity"):
        collisions.warn_of_server_held_history(conversing, {}, mode)
        collisions.warn_of_server_held_history(SimpleNamespace(), {"previous_response_id": "r"}, mode)
    assert [name in caplog.text for name in ("name conversation", "name previous_response_id")] == (
        [mode is Mode.ON] * 2
    )


class EndsAlways(AgentMiddleware[Any, Any, Any]):
    """Ends the loop whenever a tool has run."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        self.asked += 1
        return {"jump_to": "end"} if state["messages"][-1].type == "tool" else None


async def test_a_middleware_that_insists_on_the_end_gets_its_way_at_no_cost(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}")])
    middleware, guard = ContinuityMiddleware(continuity=load()), EndsAlways()
    agent = create_agent(model(), [CountedTool().tool()], middleware=[middleware, guard])
    state = await agent.ainvoke(QUESTION)
    assert state["messages"][-1].type == "tool"
    assert (len(server.requests), guard.asked) == (1, 3)
    report = middleware.report_of()
    assert report is not None
    assert (report.resumes, report.outcome) == (0, RunOutcome.COMPLETED)


class AfterModel(AgentMiddleware[Any, Any, Any]):
    """Has a hook after the model, as many middlewares have."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def after_model(self, state: Any, runtime: Any) -> None:
        return None


@pytest.mark.parametrize("others", [[], ["A"], ["A", "B", "C"]])
async def test_a_halted_run_ends_before_the_next_request_whatever_hooks_others_have(
    server: FaultServer, model: MakeModel, load: Load, others: list[str]
) -> None:
    server.play([calling("{}")])
    step = CountedTool()
    continuity = load({"plugins": {"run-limits": {"max_requests": 1}}})
    middleware = [ContinuityMiddleware(continuity=continuity), *map(AfterModel, others)]
    agent = create_agent(model(), [step.tool()], middleware=middleware)
    await agent.ainvoke(QUESTION)
    assert (step.times, len(server.requests)) == (1, 1)
