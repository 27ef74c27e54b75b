"""One middleware: more turns where one is broken, and the framework's own result where nothing helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_agents import QUESTION, CountedTool, answer, calling, texts, thread
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from continuity_core import CauseKind, Continuity, IncompleteRun, RunOutcome
from continuity_core.hosts.langchain import ContinuityMiddleware
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
MakeModel = Callable[..., Any]


async def test_a_cut_answer_is_asked_for_again_and_stays_out_of_the_history(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}, {"text": "done"}])
    middleware = ContinuityMiddleware(continuity=load())
    state = await create_agent(model(), [], middleware=[middleware]).ainvoke(QUESTION)
    assert [message.text for message in state["messages"]] == ["Finish the task", "done"]
    assert texts(server.requests[1]) == ["Finish the task"]
    report = middleware.report_of()
    assert report is not None
    assert (report.outcome, report.resumes, report.turns) == (RunOutcome.COMPLETED, 1, 2)


async def test_the_result_has_no_key_of_ours(server: FaultServer, model: MakeModel, load: Load) -> None:
    server.play([{"text": "done"}])
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load())])
    assert set(await agent.ainvoke(QUESTION)) == {"messages"}


async def test_an_error_that_stays_reaches_the_caller_as_the_client_raised_it(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    failure = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}
    server.play([failure] * 2)
    middleware = ContinuityMiddleware(continuity=load({"plugins": {"stream-recovery": {"retries": 1}}}))
    agent = create_agent(model(), [], middleware=[middleware])
    with pytest.raises(openai.InternalServerError) as raised:
        await agent.ainvoke(QUESTION)
    assert raised.value.__cause__ is None or not isinstance(raised.value.__cause__, IncompleteRun)
    assert [wait.seconds for wait in clock.waits] == [5.0]
    report = middleware.report_of()
    assert report is not None
    assert (report.outcome, report.cause) == (RunOutcome.FAILED, CauseKind.TRANSIENT)


async def test_a_run_without_a_whole_answer_raises_where_the_settings_say_so(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "half an ans", "stop": "length"}])
    continuity = load({"max_resumes": 0, "incomplete": "raise"})
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=continuity)])
    with pytest.raises(IncompleteRun) as raised:
        await agent.ainvoke(QUESTION)
    assert raised.value.partial is not None
    assert raised.value.partial.text == "half an ans"


async def test_a_call_that_the_agent_cannot_read_is_no_whole_answer(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling('{"path": ')] * 2)
    tool = CountedTool()
    middleware = ContinuityMiddleware(continuity=load())
    await create_agent(model(), [tool.tool()], middleware=[middleware]).ainvoke(QUESTION)
    report = middleware.report_of()
    assert report is not None
    assert (report.outcome, report.cause) == (RunOutcome.INCOMPLETE, CauseKind.TOOL_CALLS)
    raising = ContinuityMiddleware(continuity=load({"incomplete": "raise"}))
    with pytest.raises(IncompleteRun):
        await create_agent(model(), [tool.tool()], middleware=[raising]).ainvoke(QUESTION)
    assert (tool.times, len(server.requests)) == (0, 2)


async def test_an_error_without_a_remedy_is_the_cause_of_the_incomplete_run(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"http": 401, "headers": {}, "body": {"error": {"message": "Incorrect API key"}}}])
    agent = create_agent(
        model(), [], middleware=[ContinuityMiddleware(continuity=load({"incomplete": "raise"}))]
    )
    with pytest.raises(IncompleteRun) as raised:
        await agent.ainvoke(QUESTION)
    assert isinstance(raised.value.__cause__, openai.AuthenticationError)


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("arguments", ['{"path": "CUT', '{"path": "CUT"}'])
async def test_a_truncated_call_is_never_executed(
    server: FaultServer, model: MakeModel, load: Load, streaming: bool, arguments: str
) -> None:
    server.play([calling(arguments, stop="length"), calling("{}"), {"text": "done"}])
    step = CountedTool()
    middleware = [ContinuityMiddleware(continuity=load())]
    agent = create_agent(model(streaming=streaming), [step.tool()], middleware=middleware)
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert step.given == [{}]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("settings", [{"max_resumes": 0}, {"no_progress": 1, "max_resumes": 1}])
async def test_a_truncated_call_is_not_executed_when_the_budgets_are_spent(
    server: FaultServer, model: MakeModel, load: Load, streaming: bool, settings: dict[str, int]
) -> None:
    server.play([calling('{"path": "CUT"}', stop="length", text="plan")] * (1 + settings["max_resumes"]))
    step = CountedTool()
    middleware = [ContinuityMiddleware(continuity=load(settings))]
    state = await create_agent(model(streaming=streaming), [step.tool()], middleware=middleware).ainvoke(
        QUESTION
    )
    assert step.times == 0
    last = state["messages"][-1]
    assert (last.text, last.response_metadata["finish_reason"], last.tool_calls) == ("plan", "length", [])
    assert [call["args"] for call in last.invalid_tool_calls] == ['{"path": "CUT"}']


async def test_a_call_of_a_stream_without_a_finish_reason_is_not_executed(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling("{}", cut="no_finish")])
    step = CountedTool()
    agent = create_agent(
        model(streaming=True),
        [step.tool()],
        middleware=[ContinuityMiddleware(continuity=load({"max_resumes": 0}))],
    )
    await agent.ainvoke(QUESTION)
    assert step.times == 0


async def test_the_next_request_has_nothing_broken_in_it(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([calling('{"path": "CUT', stop="length", text="KEPT"), {"text": "done"}])
    step = CountedTool()
    agent = create_agent(
        model(),
        [step.tool()],
        middleware=[ContinuityMiddleware(continuity=load({"max_resumes": 0}))],
        checkpointer=InMemorySaver(),
    )
    before = await agent.ainvoke(QUESTION, thread())
    after = await agent.ainvoke({"messages": "And now?"}, thread())
    assert texts(server.requests[1]) == ["Finish the task", "KEPT", "And now?"]
    assert not server.requests[1].mentions("CUT")
    cut = before["messages"][-1]
    kept = [message for message in after["messages"] if message.id == cut.id]
    assert kept == [cut], "the history itself keeps the turn as it was"


async def test_the_tokens_of_dropped_turns_are_in_the_frameworks_totals(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play(
        [
            {"text": "CUT", "stop": "length", "usage": {"input": 10, "output": 64}},
            {"text": "done", "usage": {"input": 11, "output": 3}},
        ]
    )
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load())])
    with get_usage_metadata_callback() as usage:
        await agent.ainvoke(QUESTION)
    [total] = usage.usage_metadata.values()
    assert (total["input_tokens"], total["output_tokens"]) == (21, 67)


async def test_the_consumer_of_a_stream_can_tell_the_attempts_apart_by_their_ids(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "broken off", "cut": "rst"}, {"text": "done"}])
    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load())])
    said: dict[str, str] = {}
    final: Any = None
    async for kind, chunk in agent.astream(QUESTION, stream_mode=["messages", "values"]):
        if kind == "messages":
            message = chunk[0]
            said[message.id] = said.get(message.id, "") + message.text
        else:
            final = chunk
    assert list(said.values()) == ["broken off", "done"]
    assert final["messages"][-1].id == list(said)[-1]


async def test_the_readable_part_of_a_broken_stream_is_quoted_where_that_is_allowed(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "READABLE", "cut": "rst"}, {"text": "done"}])
    continuity = load({"allow_injection": ["partial-checkpoint"]})
    agent = create_agent(model(streaming=True), [], middleware=[ContinuityMiddleware(continuity=continuity)])
    state = await agent.ainvoke(QUESTION)
    assert server.requests[1].mentions("READABLE")
    assert len(state["messages"]) == 2


async def test_request_settings_are_changed_for_the_resumed_turn_only(
    server: FaultServer, model: MakeModel, load: Load
) -> None:
    server.play([{"text": "CUT", "stop": "length"}, calling("{}"), {"text": "done"}])
    continuity = load({"plugins": {"length-resume": {"output_limit_factor": 2, "reasoning_effort": "low"}}})
    agent = create_agent(
        model(), [CountedTool().tool()], middleware=[ContinuityMiddleware(continuity=continuity)]
    )
    await agent.ainvoke(QUESTION)
    sent = [json.loads(request.body) for request in server.requests]
    assert [body["max_completion_tokens"] for body in sent] == [64, 128, 64]
    assert [body.get("reasoning_effort") for body in sent] == [None, "low", None]


async def test_an_error_of_the_agents_own_parts_is_not_waited_for(
    server: FaultServer, model: MakeModel, load: Load, clock: VirtualClock
) -> None:
    class Broken(Exception):
        pass

    def settings(request: Any, handler: Any) -> Any:
        raise Broken("in a middleware")

    from langchain.agents.middleware import AgentMiddleware

    class Faulty(AgentMiddleware[Any, Any, Any]):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return settings(request, handler)

    agent = create_agent(model(), [], middleware=[ContinuityMiddleware(continuity=load()), Faulty()])
    with pytest.raises(Broken):
        await agent.ainvoke(QUESTION)
    assert clock.waits == []


async def test_a_model_that_reports_no_stop_reason_at_all_is_taken_at_its_word(
    load: Load, clock: VirtualClock
) -> None:
    scripted = GenericFakeChatModel(messages=iter([AIMessage("done")]))
    agent = create_agent(scripted, [], middleware=[ContinuityMiddleware(continuity=load())])
    assert answer(await agent.ainvoke(QUESTION)) == "done"
    assert clock.waits == []


def test_a_continuity_and_settings_for_one_do_not_go_together(load: Load) -> None:
    with pytest.raises(ValueError, match="or no continuity"):
        ContinuityMiddleware(continuity=load(), settings={"max_resumes": 1})


def test_settings_and_plugins_make_a_continuity_of_its_own() -> None:
    middleware = ContinuityMiddleware(settings={"max_resumes": 3})
    assert middleware.continuity.settings.max_resumes == 3
