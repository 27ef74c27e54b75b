"""Ends on purpose, tool tails, structured answers and sub-agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.structured_output import ProviderStrategy, StructuredOutputValidationError, ToolStrategy
from langchain_agents import QUESTION, CountedTool, answer, calling, thread
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from continuity_core import Continuity, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]


class Tide(BaseModel):
    """When the water is high."""

    time: str


class EndsOnce(AgentMiddleware[Any, Any, Any]):
    """Ends the loop after the first tool."""

    ended = False

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        if self.ended or state["messages"][-1].type != "tool":
            return None
        self.ended = True
        return {"jump_to": "end"}


@pytest.mark.parametrize("first", [True, False])
async def test_a_run_that_just_ends_after_a_tool_goes_on(
    server: FaultServer, model: MakeModel, load: Load, first: bool
) -> None:
    server.play([calling("{}"), {"text": "done"}])
    both = [ContinuityMiddleware(continuity=load()), EndsOnce()]
    agent = create_agent(model(), [CountedTool().tool()], middleware=both if first else both[::-1])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert server.requests[1].mentions("RESULT")


@pytest.mark.parametrize("how", ["declared", "disabled"])
async def test_a_tool_after_which_the_run_ends_may_be_declared(
    server: FaultServer, model: MakeModel, load: Load, how: str
) -> None:
    server.play([calling("{}")])
    middleware = ContinuityMiddleware(
        continuity=load({"disable": ["tool-tail"]} if how == "disabled" else None),
        ending_tools=["step"] if how == "declared" else [],
    )
    agent = create_agent(model(), [CountedTool().tool()], middleware=[middleware, EndsOnce()])
    assert answer(await agent.ainvoke(QUESTION)) == "RESULT"


async def test_return_direct_is_an_end_on_purpose(server: FaultServer, model: MakeModel, load: Load) -> None:
    server.play([calling("{}")])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [CountedTool().tool(return_direct=True)], middleware=[middleware])
    assert answer(await agent.ainvoke(QUESTION)) == "RESULT"
    report = middleware.report_of()
    assert report is not None
    assert (report.outcome, report.resumes) == (RunOutcome.COMPLETED, 0)


async def test_a_structured_answer_by_a_tool_is_an_end_on_purpose(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling('{"time": "05:41"}', name="Tide")])
    agent = create_agent(
        model(),
        [],
        middleware=[ContinuityMiddleware(continuity=load())],
        response_format=ToolStrategy(Tide),
    )
    state = await agent.ainvoke(QUESTION)
    assert state["structured_response"] == Tide(time="05:41")


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_structured_answer_that_was_cut_is_asked_for_again(
    server: FaultServer, model: MakeModel, load: Load, streaming: bool
) -> None:
    server.play(
        [
            calling('{"time": "05', name="Tide", stop="length"),
            calling('{"time": "05:41"}', name="Tide"),
        ]
    )
    agent = create_agent(
        model(streaming=streaming),
        [],
        middleware=[ContinuityMiddleware(continuity=load())],
        response_format=ToolStrategy(Tide),
    )
    state = await agent.ainvoke(QUESTION)
    assert state["structured_response"] == Tide(time="05:41")
    assert not server.requests[1].mentions('"05')


async def test_a_structured_answer_of_the_provider_that_was_cut_is_asked_for_again(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": '{"time": "05', "stop": "length"}, {"text": '{"time": "05:41"}'}])
    agent = create_agent(
        model(use_responses_api=True),
        [],
        middleware=[ContinuityMiddleware(continuity=load())],
        response_format=ProviderStrategy(Tide),
    )
    state = await agent.ainvoke(QUESTION)
    assert state["structured_response"] == Tide(time="05:41")


async def test_an_answer_that_does_not_fit_its_schema_is_the_frameworks_error(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play([{"text": '{"moon": "full"}'}])
    agent = create_agent(
        model(use_responses_api=True),
        [],
        middleware=[ContinuityMiddleware(continuity=load())],
        response_format=ProviderStrategy(Tide),
    )
    with pytest.raises(StructuredOutputValidationError):
        await agent.ainvoke(QUESTION)
    assert (len(server.requests), clock.waits) == (1, [])


async def test_the_frameworks_own_second_try_at_a_schema_is_no_resume(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling('{"moon": "full"}', name="Tide"), calling('{"time": "05:41"}', name="Tide")])
    middleware = ContinuityMiddleware(continuity=load())
    agent = create_agent(model(), [], middleware=[middleware], response_format=ToolStrategy(Tide))
    state = await agent.ainvoke(QUESTION)
    assert state["structured_response"] == Tide(time="05:41")
    report = middleware.report_of()
    assert report is not None
    assert (report.resumes, report.turns) == (0, 2)


# ---------------------------------------------------------------- sub-agents


def nested(model: MakeModel, outer: ContinuityMiddleware, inner: ContinuityMiddleware) -> Any:
    sub = create_agent(model(), [], middleware=[inner], name="sub")
    tool = CountedTool().tool()

    async def ask_sub(**arguments: Any) -> str:
        return answer(await sub.ainvoke({"messages": "Sub-task"}))

    tool.coroutine = ask_sub
    return create_agent(model(), [tool], middleware=[outer])


@pytest.mark.parametrize("same", [True, False])
async def test_a_sub_agents_run_is_one_of_its_own_under_its_parent(
    server: FaultServer, model: MakeModel, load: Load, same: bool
) -> None:
    events: list[Any] = []
    continuity = load(on_event=events.append)
    outer = ContinuityMiddleware(continuity=continuity)
    inner = outer if same else ContinuityMiddleware(continuity=continuity)
    server.play([calling("{}"), {"text": "CUT", "stop": "length"}, {"text": "sub"}, {"text": "done"}])
    assert answer(await nested(model, outer, inner).ainvoke(QUESTION)) == "done"
    begun = [event for event in events if event.kind.value == "run_started"]
    assert [event.data["parent"] for event in begun] == [None, begun[0].run]
    report = outer.report_of()
    assert report is not None
    assert (report.run, report.resumes) == (begun[0].run, 1), "a child's resume counts for its parent too"


async def test_a_sub_agent_is_bound_by_its_parents_ceiling(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play(
        [
            {"text": "CUT", "stop": "length"},
            calling("{}"),
            {"text": "CUT SUB", "stop": "length"},
            {"text": "done"},
        ]
    )
    continuity = load({"ceiling_resumes": 1})
    outer, inner = (ContinuityMiddleware(continuity=continuity) for _ in range(2))
    assert answer(await nested(model, outer, inner).ainvoke(QUESTION)) == "done"
    report = inner.report_of()
    assert report is not None
    assert report.resumes == 0
    assert server.requests[3].mentions("CUT SUB"), "the sub-agent's cut answer was its result"


async def test_an_abort_of_the_parent_ends_the_wait_of_a_sub_agent(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    ended: list[Any] = []

    def on_wait(number: int, record: Any) -> None:
        run = outer.run_of()
        assert run is not None
        run.abort()
        ended.append(record)

    clock = VirtualClock(on_wait=on_wait)
    continuity = Continuity.from_settings(None, clock=clock)
    outer, inner = (ContinuityMiddleware(continuity=continuity) for _ in range(2))
    server.play([calling("{}"), {"text": "p", "cut": "rst"}])
    with pytest.raises(openai.APIConnectionError):
        await nested(model, outer, inner).ainvoke(QUESTION)
    assert [record.ended_by for record in ended] == ["abort"]
    assert len(server.requests) == 2


async def test_the_run_of_an_agent_inside_another_graph_is_found_by_its_thread(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load())
    graph = StateGraph(MessagesState)
    graph.add_node("agent", create_agent(model(), [], middleware=[middleware]))
    graph.add_edge(START, "agent")
    await graph.compile(checkpointer=InMemorySaver()).ainvoke(QUESTION, thread())
    report = middleware.report_of("T")
    assert report is not None
    assert report.outcome is RunOutcome.COMPLETED
    assert middleware.report_of("another") is None


class AnswersItself(AgentMiddleware[Any, Any, Any]):
    """Goes on with a call of its own where the model fails."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except openai.APIError:
            return AIMessage("", tool_calls=[{"name": "step", "args": {}, "id": "own"}])


async def test_a_middleware_that_goes_on_after_a_failure_by_itself_is_left_alone(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    server.play(
        [{"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}, {"text": "done"}]
    )
    step = CountedTool()
    middleware = [ContinuityMiddleware(continuity=load()), AnswersItself()]
    agent = create_agent(model(), [step.tool()], middleware=middleware)
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert (step.times, clock.waits) == (1, [])
