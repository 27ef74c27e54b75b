"""What an agent does with the capability, over real HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, CancellationToken, DeferredToolRequests, capture_run_messages
from pydantic_ai.exceptions import (
    IncompleteToolCall,
    ModelHTTPError,
    RunCancelled,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)
from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.output import ToolOutput
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import UsageLimits
from pydantic_ai_scripts import CUT, DONE, LENGTH

from continuity_core import CauseKind, Continuity, IncompleteRun, Mode, RunOutcome
from continuity_core.hosts.pydantic_ai import ContinuityCapability, TurnResumed
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


def call(arguments: str = "{}", name: str = "step", **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}], **more}


def with_step(agent: Agent[None, Any]) -> list[str]:
    """Give the agent a tool; what it was called with."""
    ran: list[str] = []

    @agent.tool_plain
    def step(path: str = "") -> str:
        ran.append(path)
        return "RESULT_OF_STEP"

    return ran


def seconds(clock: VirtualClock) -> list[float]:
    return [wait.seconds for wait in clock.waits]


async def test_an_agent_that_is_cut_broken_and_limited_finishes(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    limited = {"http": 429, "body": {"error": {"message": "usage limit. Try again in ~2 min."}}}
    server.play([call(), limited, LENGTH, call('{"path": "CUT"}', stop="length"), CUT, {"text": ""}, DONE])
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, capabilities=[capability])
    ran = with_step(agent)
    result = await agent.run("Finish the task")
    assert result.output == "done"
    assert ran == [""]
    assert seconds(clock) == [150, 5, 5]
    report = capability.report(result.run_id)
    assert report is not None
    assert (report.outcome, report.cause, report.resumes) == (RunOutcome.COMPLETED, CauseKind.FINAL, 5)


async def test_consumers_of_events_are_told_where_another_attempt_begins(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([CUT, DONE])
    shown: list[str] = []
    async with Agent(model, capabilities=[ContinuityCapability(continuity=load())]).run_stream_events(
        "x"
    ) as events:
        async for event in events:
            if isinstance(event, TurnResumed):
                assert event.left_out
                assert event.reason == "the provider or the connection failed"
                shown.clear()
            elif event.event_kind == "part_start":
                shown.append(event.part.content)
            elif event.event_kind == "part_delta":
                shown.append(event.delta.content_delta)
    assert "".join(shown) == "done"


async def test_a_handlers_own_error_is_never_taken_for_the_models(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    async def handler(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for _ in events:
            raise ConnectionResetError("the browser has gone")

    server.play([{"text": "one two three four"}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    with pytest.raises(ConnectionResetError):
        await agent.run("x", event_stream_handler=handler)
    assert len(server.requests) == 1
    assert seconds(clock) == []


async def test_a_limit_of_the_agents_own_is_neither_waited_for_nor_resumed(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([LENGTH, LENGTH, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    with pytest.raises(UsageLimitExceeded):
        await agent.run("x", usage_limits=UsageLimits(request_limit=2))
    assert len(server.requests) == 2
    assert seconds(clock) == []


async def test_what_a_tool_raises_is_the_callers(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([call(name="broken"), DONE])
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, capabilities=[capability])

    @agent.tool_plain
    def broken() -> str:
        raise ConnectionResetError("the tool's own connection")

    with capture_run_messages() as messages, pytest.raises(ConnectionResetError):
        await agent.run("x")
    assert len(server.requests) == 1
    report = capability.report(messages[-1].run_id or "")
    assert report is not None
    assert (report.outcome, report.cause) == (RunOutcome.FAILED, CauseKind.UNKNOWN)


async def test_the_error_that_the_caller_gets_is_the_frameworks_own(
    server: FaultServer, model: Any, load: Callable[..., Continuity], caplog: pytest.LogCaptureFixture
) -> None:
    server.play([{"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    with caplog.at_level(logging.WARNING, "continuity"), pytest.raises(ModelHTTPError) as raised:
        await agent.run("x")
    assert raised.value.status_code == 401
    assert "permanent" in caplog.text


async def test_half_an_answer_is_returned_as_it_was_or_raised_where_that_is_asked_for(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([LENGTH, LENGTH])
    returned = ContinuityCapability(continuity=load({"max_resumes": 0}))
    result = await Agent(model, capabilities=[returned]).run("x")
    assert result.output == "half an ans"
    report = returned.report(result.run_id)
    assert report is not None
    assert report.outcome is RunOutcome.INCOMPLETE
    raised = ContinuityCapability(continuity=load({"max_resumes": 0, "incomplete": "raise"}))
    with pytest.raises(IncompleteRun) as incomplete:
        await Agent(model, capabilities=[raised]).run("x")
    assert incomplete.value.partial is not None
    assert incomplete.value.partial.text == "half an ans"


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_truncated_call_is_not_executed_with_spent_budgets_and_is_with_recovery_off(
    server: FaultServer, model: Any, load: Callable[..., Continuity], streamed: bool
) -> None:
    async def handler(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    for mode, runs in ((Mode.ON, 0), (Mode.OBSERVE, 1), (Mode.OFF, 1)):
        server.play([call('{"path": "CUT"}', stop="length"), DONE])
        continuity = load({"max_resumes": 0})
        continuity.mode = mode
        agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
        ran = with_step(agent)
        run = agent.run("x", event_stream_handler=handler if streamed else None)
        if mode is Mode.ON:
            with pytest.raises(IncompleteToolCall, match="was not executed"):
                await run
        else:
            assert (await run).output == "done"
        assert len(ran) == runs


async def test_arguments_that_the_framework_refuses_by_itself_stay_its_own_retry(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([call('{"path": "CUT', stop="length"), DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))])
    ran = with_step(agent)
    assert (await agent.run("x")).output == "done"
    assert ran == []


async def test_a_truncated_call_left_open_in_the_history_is_not_executed_later(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([call('{"path": "CUT"}', stop="length"), DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))])
    ran = with_step(agent)
    with capture_run_messages() as messages, pytest.raises(IncompleteToolCall):
        await agent.run("x")
    history = [message for message in messages if message.state == "complete"]
    assert isinstance(history[-1], ModelResponse)
    later = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    ran = with_step(later)
    assert (await later.run(message_history=history)).output == "done"
    assert ran == []
    assert not server.requests[-1].mentions("CUT")


async def test_an_end_by_an_output_tool_is_final(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    class City(BaseModel):
        name: str

    server.play([call('{"name": "Bonn"}', name="city"), DONE])
    agent = Agent(
        model,
        output_type=ToolOutput(City, name="city"),
        capabilities=[ContinuityCapability(continuity=load())],
    )
    assert (await agent.run("x")).output == City(name="Bonn")
    assert len(server.requests) == 1


async def test_a_text_that_wins_over_the_calls_beside_it_is_final(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    from pydantic_ai.output import PromptedOutput

    class City(BaseModel):
        name: str

    server.play([{"text": '{"name": "Bonn"}', **call()}, DONE])
    agent = Agent(
        model,
        output_type=PromptedOutput(City),
        end_strategy="early",
        capabilities=[ContinuityCapability(continuity=load())],
    )
    ran = with_step(agent)
    assert (await agent.run("x")).output == City(name="Bonn")
    assert ran == []
    assert len(server.requests) == 1


async def test_calls_that_wait_for_an_approval_end_the_run_on_purpose(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([call(name="delete"), DONE])
    agent = Agent(
        model,
        output_type=[str, DeferredToolRequests],
        capabilities=[ContinuityCapability(continuity=load())],
    )

    @agent.tool_plain(requires_approval=True)
    def delete() -> str:
        return "DELETED"

    result = await agent.run("x")
    assert isinstance(result.output, DeferredToolRequests)
    assert len(server.requests) == 1
    approved = result.output.build_results(approve_all=True)
    later = await agent.run(message_history=result.all_messages(), deferred_tool_results=approved)
    assert later.output == "done"
    assert server.requests[-1].mentions("DELETED")


async def test_a_truncated_call_is_not_offered_for_approval(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([call(name="delete", stop="length")])
    agent = Agent(
        model,
        output_type=[str, DeferredToolRequests],
        capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))],
    )

    @agent.tool_plain(requires_approval=True)
    def delete() -> str:
        return "DELETED"

    with pytest.raises(IncompleteToolCall):
        await agent.run("x")


@pytest.mark.parametrize(("output_type", "requests"), [(str, 2), (str | None, 1)])
async def test_nothing_is_an_answer_where_the_output_type_allows_none(
    server: FaultServer,
    model: Any,
    load: Callable[..., Continuity],
    output_type: Any,
    requests: int,
) -> None:
    server.play([{"text": ""}, DONE])
    capability = ContinuityCapability(continuity=load())
    agent: Agent[None, Any] = Agent(model, output_type=output_type, capabilities=[capability])
    result = await agent.run("x")
    assert result.output == ("done" if requests == 2 else None)
    assert len(server.requests) == requests
    report = capability.report(result.run_id)
    assert report is not None
    assert report.outcome is RunOutcome.COMPLETED


async def test_the_frameworks_own_re_ask_follows_when_ours_are_spent(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": ""}, {"text": ""}, DONE])
    continuity = load({"plugins": {"stream-recovery": {"retries": 1}}})
    capability = ContinuityCapability(continuity=continuity)
    result = await Agent(model, capabilities=[capability]).run("x")
    assert result.output == "done"
    report = capability.report(result.run_id)
    assert report is not None
    assert (report.resumes, report.turns) == (1, 3)
    assert b"Please return text" in server.requests[2].body


async def test_the_usage_of_turns_that_were_dropped_is_counted(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    tokens = {"usage": {"input": 10, "output": 100}}
    server.play([{**LENGTH, **tokens}, {"text": "", **tokens}, {**DONE, **tokens}])
    result = await Agent(model, capabilities=[ContinuityCapability(continuity=load())]).run("x")
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.requests) == (30, 300, 3)


async def test_a_cancelled_wait_is_a_cancelled_run_and_the_next_one_is_clean(
    server: FaultServer, model: Any, clock: VirtualClock
) -> None:
    token = CancellationToken()
    clock.on_wait = lambda number, wait: token.cancel()
    capability = ContinuityCapability(continuity=Continuity.from_settings(clock=clock))
    agent = Agent(model, capabilities=[capability])
    server.play([{"text": "BROKEN", "cut": "rst"}, DONE])
    with pytest.raises(RunCancelled) as cancelled:
        await agent.run("First", cancellation_token=token)
    report = capability.report(cancelled.value.run_id)
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert (await agent.run("Second", message_history=cancelled.value.all_messages())).output == "done"
    assert not server.requests[-1].mentions("BROKEN")


async def test_a_run_that_is_cancelled_from_outside_is_settled(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"hang": True}])
    continuity = load()
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    hold = server.hold(1)
    task = asyncio.create_task(agent.run("x"))
    await hold.reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert continuity.status()["runs"] == []


async def test_aborting_continuitys_run_ends_the_wait_with_the_frameworks_error(
    server: FaultServer, model: Any, clock: VirtualClock
) -> None:
    running: list[RunContext[Any]] = []
    capability = ContinuityCapability(continuity=Continuity.from_settings(clock=clock))

    def abort(number: int, wait: Any) -> None:
        run = capability.active_run(running[0].run_id or "")
        assert run is not None
        run.abort()

    clock.on_wait = abort
    agent = Agent(model, capabilities=[capability])

    @agent.instructions
    def note(ctx: RunContext[Any]) -> str:
        running.append(ctx)
        return "be brief"

    server.play([{"http": 503, "body": {"error": {"message": "overloaded"}}}, DONE])
    with pytest.raises(ModelHTTPError):
        await agent.run("x")
    assert len(server.requests) == 1


async def test_the_callers_deadline_bounds_a_wait_that_the_provider_states(
    server: FaultServer, model: Any
) -> None:
    capability = ContinuityCapability(continuity=Continuity.from_settings())
    server.play(
        [{"http": 429, "headers": {"retry-after": "3600"}, "body": {"error": {"message": "slow down"}}}]
    )
    with pytest.raises(ModelHTTPError):
        await Agent(model, capabilities=[capability]).run("x", timeout=60)
    assert len(server.requests) == 1


async def test_request_settings_of_a_plugin_hold_for_one_turn(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load({"plugins": {"length-resume": {"output_limit_factor": 2}}})
    agent = Agent(
        model, model_settings={"max_tokens": 100}, capabilities=[ContinuityCapability(continuity=continuity)]
    )
    with_step(agent)
    server.play([LENGTH, call(), DONE])
    await agent.run("x")
    assert [request.decoded.output_limit for request in server.requests] == [100, 200, 100]


async def test_a_plugin_that_ends_the_run_ends_it_as_a_usage_limit_does(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load({"plugins": {"run-limits": {"max_requests": 2}}})
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    with_step(agent)
    server.play([call(), call(), DONE])
    with pytest.raises(UsageLimitExceeded):
        await agent.run("x")
    assert len(server.requests) == 2


async def test_the_history_only_grows(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([LENGTH, CUT, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])

    async def handler(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    messages = (await agent.run("x", event_stream_handler=handler)).all_messages()
    assert [message.text for message in messages if isinstance(message, ModelResponse)] == [
        *("half an ans", "half a pl", "done"),
    ]
    assert [len(message.parts) for message in messages if isinstance(message, ModelRequest)] == [1, 0, 0]
    assert all(request.user_texts == ("x",) for request in server.requests)


async def test_an_unreadable_response_is_asked_for_again(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"http": 200, "body": {"choices": "none"}}, DONE])
    result = await Agent(model, capabilities=[ContinuityCapability(continuity=load())]).run("x")
    assert result.output == "done"


async def test_without_resumes_a_broken_answer_raises_what_it_did_before(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": ""}, {"text": ""}])
    capability = ContinuityCapability(continuity=load({"max_resumes": 0}))
    with pytest.raises(UnexpectedModelBehavior, match="output retries"):
        await Agent(model, capabilities=[capability]).run("x")
