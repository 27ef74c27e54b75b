"""Calls that were cut are never executed; and which ends are on purpose."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from openhands.sdk.conversation import ConversationExecutionStatus as Status
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.event import UserRejectObservation
from openhands.sdk.security.confirmation_policy import AlwaysConfirm

from continuity_core import CauseKind, RunOutcome
from continuity_core.testing.conformance.host import PlayedTool

pytestmark = pytest.mark.anyio

DONE = {"text": "done"}
Finish = Callable[[Any], Awaitable[None]]


@pytest.fixture
def step() -> PlayedTool:
    return PlayedTool(name="step", result="RESULT")


def calls(*arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": "step", "arguments": argument} for argument in arguments], **more}


@pytest.mark.parametrize("arguments", ['{"path": "CUT"}', '{"path": "CUT', "{}"])
async def test_a_cut_call_is_not_executed_whether_it_parses_or_not(
    world: Any, finish: Finish, step: PlayedTool, arguments: str
) -> None:
    world.play(calls(arguments, text="PLAN", stop="length"), calls("{}"), DONE)
    conversation = world.conversation(tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert step.times_run == 1
    assert not world.requests[1].mentions("CUT")
    assert not world.requests[1].mentions("PLAN")


async def test_no_call_of_a_cut_turn_is_executed_not_even_a_whole_one_before_the_cut(
    world: Any, finish: Finish, step: PlayedTool
) -> None:
    world.play(calls('{"path": "WHOLE"}', '{"path": "CUT', stop="length"), DONE)
    conversation = world.conversation(tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert step.times_run == 0
    assert not world.requests[1].mentions("WHOLE")


@pytest.mark.parametrize("settings", [{"max_resumes": 0}, {"disable": ["length-resume"]}])
async def test_without_a_budget_a_cut_call_is_not_executed_either_and_ends_the_run(
    world: Any, finish: Finish, step: PlayedTool, settings: dict[str, Any]
) -> None:
    world.play(calls('{"path": "CUT"}', text="PLAN", stop="length"), DONE)
    conversation = world.conversation(settings, tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert step.times_run == 0
    assert len(world.requests) == 1
    assert conversation.state.execution_status is Status.FINISHED
    assert conversation.report.outcome is RunOutcome.INCOMPLETE
    conversation.send_message("and now?")
    await finish(conversation)
    assert world.requests[1].mentions("PLAN")
    assert not world.requests[1].mentions("CUT")


async def test_nobody_is_asked_to_confirm_a_cut_call(world: Any, finish: Finish, step: PlayedTool) -> None:
    world.play(calls('{"path": "CUT"}', stop="length"), DONE)
    conversation = world.conversation(tools=[step])
    conversation.set_confirmation_policy(AlwaysConfirm())
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert get_agent_final_response(conversation.state.events) == "done"
    assert conversation.state.blocked_actions == {}
    assert step.times_run == 0


async def test_a_request_for_confirmation_is_an_end_on_purpose_and_goes_on_as_the_same_run(
    world: Any, finish: Finish, step: PlayedTool
) -> None:
    world.play({"text": "x", "stop": "length"}, calls("{}"), DONE)
    conversation = world.conversation(tools=[step])
    conversation.set_confirmation_policy(AlwaysConfirm())
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.WAITING_FOR_CONFIRMATION
    assert conversation.report.outcome is RunOutcome.COMPLETED
    first = conversation.report
    await finish(conversation)
    assert step.times_run == 1
    assert conversation.report.run == first.run
    assert get_agent_final_response(conversation.state.events) == "done"


async def test_switched_off_the_framework_does_what_it_does_alone(
    world: Any, finish: Finish, step: PlayedTool
) -> None:
    world.play(calls("{}", stop="length"), DONE)
    conversation = world.conversation({"enabled": False}, tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert step.times_run == 1
    assert not any(isinstance(event, UserRejectObservation) for event in conversation.state.events)


async def test_a_call_with_bad_arguments_in_a_whole_turn_is_the_host_s_own_matter(
    world: Any, finish: Finish, step: PlayedTool
) -> None:
    world.play(calls('{"path": '), calls("{}"), DONE)
    conversation = world.conversation(tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert (conversation.report.turns, conversation.report.resumes) == (3, 0)
    assert world.requests[1].mentions("unparseable JSON")


async def test_parallel_calls_stay_one_answer_in_the_next_request(
    world: Any, finish: Finish, step: PlayedTool
) -> None:
    world.play(calls("{}", '{"path": "x"}', text="both"), {"text": "half", "stop": "length"}, DONE)
    conversation = world.conversation(tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert step.times_run == 2
    assert len(world.requests[2].messages) == len(world.requests[1].messages)


# ---------------------------------------------------------------- ends


async def test_the_finish_tool_is_an_end_on_purpose(world: Any, finish: Finish) -> None:
    world.play({"tool_calls": [{"name": "finish", "arguments": '{"message": "all is done"}'}]}, DONE)
    conversation = world.conversation(ending_tools=[])
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "all is done"
    assert len(world.requests) == 1
    assert conversation.report.outcome is RunOutcome.COMPLETED


async def test_a_cut_finish_call_does_not_end_the_run(world: Any, finish: Finish) -> None:
    world.play(
        {"tool_calls": [{"name": "finish", "arguments": '{"message": "half"}'}], "stop": "length"}, DONE
    )
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "done"


async def test_a_tool_that_ends_the_run_does_so_on_purpose_unless_others_are_named(
    world: Any, finish: Finish
) -> None:
    ending = PlayedTool(name="wrap_up", result="WRAPPED", ends_run="on_purpose")
    world.play({"tool_calls": [{"name": "wrap_up"}]}, DONE)
    conversation = world.conversation(tools=[ending])
    conversation.send_message("go")
    await finish(conversation)
    assert len(world.requests) == 1


@pytest.mark.parametrize(("disable", "requests"), [([], 2), (["tool-tail"], 1)])
async def test_a_run_that_ends_on_any_other_tool_s_result_goes_on_after_it(
    world: Any, finish: Finish, disable: list[str], requests: int
) -> None:
    ending = PlayedTool(name="wrap_up", result="WRAPPED", ends_run="unexplained")
    world.play({"tool_calls": [{"name": "wrap_up"}]}, DONE)
    conversation = world.conversation({"disable": disable}, tools=[ending], ending_tools=["submit"])
    conversation.send_message("go")
    await finish(conversation)
    assert len(world.requests) == requests
    assert ending.times_run == 1
    assert conversation.report.cause is (CauseKind.TOOL_CALLS if disable else CauseKind.FINAL)


async def test_an_error_in_a_tool_is_not_the_provider_s(world: Any, finish: Finish) -> None:
    from openhands.sdk.conversation.exceptions import ConversationRunError

    class Broken(PlayedTool):
        def run(self, **arguments: Any) -> str:
            raise ConnectionError("connection reset by peer")

    world.play(calls("{}"), DONE)
    conversation = world.conversation(tools=[Broken(name="step", result="")])
    conversation.send_message("go")
    try:
        await finish(conversation)
    except ConversationRunError:
        assert conversation.report.outcome is RunOutcome.FAILED
    assert conversation.report.resumes == 0
    assert world.waits == []
