from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from openjiuwen.core.session.agent import create_agent_session
from openjiuwen.core.single_agent.rail.base import AgentRail

from continuity_core import Continuity, IncompleteRun
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio
ASKED = {"query": "Finish the task", "conversation_id": "C"}
CUT_CALL = {"tool_calls": [{"name": "step", "arguments": '{"path": "CUT"}'}], "stop": "length"}
CALL = {"tool_calls": [{"name": "step", "arguments": '{"path": "x"}'}]}


async def streamed(agent: Any, asked: Any = ASKED) -> Any:
    """The answer of a streamed run."""
    chunks = [chunk async for chunk in agent.stream(dict(asked))]
    return next(chunk.payload for chunk in reversed(chunks) if chunk.type == "answer")


async def test_a_cut_answer_goes_on_without_a_user_message(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "HALF", "stop": "length"}, {"text": "whole"}])
    rail = ContinuityRail(continuity=load())
    agent = await make(rail)
    assert (await agent.invoke(dict(ASKED)))["output"] == "whole"
    assert [request.user_texts for request in server.requests] == [("Finish the task",)] * 2
    assert not server.requests[1].mentions("HALF")
    assert rail.report is not None
    assert rail.report.resumes == 1


async def test_the_history_keeps_the_cut_answer(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "HALF", "stop": "length"}, {"text": "whole"}])
    agent = await make(ContinuityRail(continuity=load()))
    session = create_agent_session(session_id="kept", card=agent.card)
    await session.pre_run()
    await agent.invoke({"query": "Finish the task"}, session)
    context = agent.context_engine.get_context(session_id="kept")
    assert [message.content for message in context.get_messages()] == ["Finish the task", "HALF", "whole"]


async def test_the_next_run_is_clean_and_carries_no_half(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "HALF", "stop": "length"}, {"text": "whole"}, {"text": "next"}])
    agent = await make(ContinuityRail(continuity=load()))
    session = create_agent_session(session_id="two", card=agent.card)
    await session.pre_run()
    await agent.invoke({"query": "One"}, session)
    await agent.invoke({"query": "Two"}, session)
    assert not server.requests[2].mentions("HALF")
    assert server.requests[2].mentions("whole")


@pytest.mark.parametrize("settings", [{}, {"max_resumes": 0}])
async def test_a_truncated_call_is_never_executed(
    server: FaultServer,
    make: Callable[..., Any],
    load: Callable[..., Continuity],
    tool: Any,
    settings: dict[str, Any],
) -> None:
    server.play([CUT_CALL, {"text": "done"}])
    agent = await make(ContinuityRail(continuity=load(settings)))
    assert (await agent.invoke(dict(ASKED)))["output"] == "done"
    assert tool.given == []
    assert not server.requests[1].mentions("CUT")


async def test_while_recovery_is_off_the_agent_does_what_it_does_alone(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], tool: Any
) -> None:
    server.play([CUT_CALL, {"text": "HALF", "stop": "length"}])
    continuity = load()
    continuity.disable()
    agent = await make(ContinuityRail(continuity=continuity))
    assert (await agent.invoke(dict(ASKED)))["output"] == "HALF"
    assert tool.given == [{"path": "CUT"}]


async def test_a_broken_stream_is_waited_out_and_asked_again(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([{"text": "BROKEN", "cut": "rst"}, {"text": "NO END", "cut": "no_finish"}, {"text": "done"}])
    agent = await make(ContinuityRail(continuity=load()))
    assert (await streamed(agent))["output"] == "done"
    assert [wait.seconds for wait in clock.waits] == [5, 5]
    assert not server.requests[2].mentions("NO END")


async def test_the_error_that_stays_is_the_frameworks_own(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    fault = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}
    server.play([fault, fault])
    rail = ContinuityRail(continuity=load({"plugins": {"stream-recovery": {"retries": 1}}}))
    agent = await make(rail)
    with pytest.raises(Exception, match="overloaded") as raised:
        await agent.invoke(dict(ASKED))
    assert type(raised.value).__module__.startswith("openjiuwen.")
    assert rail.report is not None
    assert rail.report.outcome == "failed"


async def test_incomplete_runs_raise_where_the_settings_say_so(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "HALF", "stop": "length"}, {"text": "BROKEN", "cut": "rst"}])
    agent = await make(ContinuityRail(continuity=load({"max_resumes": 0, "incomplete": "raise"})))
    with pytest.raises(IncompleteRun) as cut:
        await agent.invoke(dict(ASKED))
    assert cut.value.partial is not None
    assert cut.value.partial.text == "HALF"
    with pytest.raises(IncompleteRun) as broken:
        await agent.invoke(dict(ASKED))
    assert broken.value.__cause__ is not None


# ---------------------------------------------------------------- the limit on iterations


@pytest.mark.parametrize("cut", [{"text": "HALF", "stop": "length"}, {"text": ""}])
async def test_a_turn_that_is_cut_in_the_last_iteration_goes_on_after_the_loop(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], cut: dict[str, Any]
) -> None:
    server.play([CALL, cut, {"text": "whole"}])
    agent = await make(ContinuityRail(continuity=load()), iterations=2)
    assert (await agent.invoke(dict(ASKED)))["output"] == "whole"
    assert [request.user_texts for request in server.requests] == [("Finish the task",)] * 3


async def test_resumed_turns_do_not_use_up_the_agents_iterations(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], tool: Any
) -> None:
    server.play([{"text": "HALF", "stop": "length"}, CALL, CALL, {"text": "never asked"}])
    agent = await make(ContinuityRail(continuity=load()), iterations=2)
    result = await agent.invoke(dict(ASKED))
    assert result == {"output": "Max iterations reached without completion", "result_type": "error"}
    assert len(tool.given) == 2
    assert len(server.requests) == 3


async def test_a_model_that_only_calls_tools_still_meets_the_limit(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], tool: Any
) -> None:
    server.play([CALL] * 9)
    agent = await make(ContinuityRail(continuity=load()), iterations=3)
    result = await agent.invoke(dict(ASKED))
    assert result["output"] == "Max iterations reached without completion"
    assert len(server.requests) == 3


# ---------------------------------------------------------------- cancellation, steering, ends


async def test_cancelling_the_task_ends_a_wait(server: FaultServer, make: Callable[..., Any]) -> None:
    server.play([{"text": "BROKEN", "cut": "rst"}])
    waiting = asyncio.Event()

    def told(event: Any) -> None:
        if event.kind == "wait_started":
            waiting.set()

    rail = ContinuityRail(continuity=Continuity.from_settings({}, on_event=told))
    agent = await make(rail)
    task = asyncio.create_task(agent.invoke(dict(ASKED)))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rail.report is not None
    assert rail.report.outcome == "aborted"
    assert len(server.requests) == 1


async def test_steering_ends_a_wait_and_is_taken_up_although_the_call_failed(
    server: FaultServer, make: Callable[..., Any]
) -> None:
    server.play([{"text": "BROKEN", "cut": "rst"}, {"text": "done"}])
    queue: asyncio.Queue[str] = asyncio.Queue()

    def told(event: Any) -> None:
        if event.kind == "wait_started":
            asyncio.get_running_loop().call_soon(queue.put_nowait, "Turn left")

    rail = ContinuityRail(continuity=Continuity.from_settings({}, on_event=told))
    agent = await make(rail)
    result = await agent.invoke({**ASKED, "_steering_queue": queue})
    assert result["output"] == "done"
    assert server.requests[1].user_texts == ("Finish the task", "[STEERING] Turn left")
    assert rail.report is not None
    assert rail.report.resumes == 0


class _Finishing(AgentRail):
    """Ends the run after each tool."""

    async def after_tool_call(self, ctx: Any) -> None:
        ctx.request_force_finish({"output": "finished by force", "result_type": "answer"})


async def test_a_run_that_a_rail_ends_by_force_has_ended_on_purpose(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([CALL])
    agent = await make(_Finishing(), ContinuityRail(continuity=load()))
    assert (await agent.invoke(dict(ASKED)))["output"] == "finished by force"
    assert len(server.requests) == 1


async def test_a_tool_tail_goes_on_where_the_ending_tools_are_named(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([CALL, {"text": "done"}])
    agent = await make(_Finishing(), ContinuityRail(continuity=load(), ending_tools=["finish"]))
    assert (await agent.invoke(dict(ASKED)))["output"] == "done"
    assert server.requests[1].mentions("RESULT")


async def test_a_cut_call_is_not_executed_in_another_invocation_either(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], tool: Any
) -> None:
    """As a call is that waited for an approval: by an invocation that knows the context alone."""
    from openjiuwen.core.foundation.llm import AssistantMessage
    from openjiuwen.core.single_agent.rail.base import AgentCallbackContext

    server.play([CUT_CALL, {"text": "done"}])
    agent = await make(ContinuityRail(continuity=load()))
    session = create_agent_session(session_id="approved", card=agent.card)
    await session.pre_run()
    await agent.invoke({"query": "Finish the task"}, session)
    context = agent.context_engine.get_context(session_id="approved")
    [cut] = [m for m in context.get_messages() if isinstance(m, AssistantMessage) and m.tool_calls]
    later = await make(rail := ContinuityRail(continuity=load()))
    ctx = AgentCallbackContext(agent=later, inputs={}, session=session, context=context)
    await rail.before_invoke(ctx)
    await later.ability_manager.execute(ctx, cut.tool_calls, session)
    assert tool.given == []
