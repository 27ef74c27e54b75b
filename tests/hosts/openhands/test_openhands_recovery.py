"""Turns that were cut, broke off or failed, in both ways of running a conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from openhands.sdk.conversation import ConversationExecutionStatus as Status
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.event import Condensation, MessageEvent
from openhands.sdk.llm.exceptions import LLMAuthenticationError, LLMServiceUnavailableError

from continuity_core import CauseKind, IncompleteRun, RunOutcome
from continuity_core.testing.conformance.host import PlayedTool

pytestmark = pytest.mark.anyio

CUT = {"text": "half of the ans", "stop": "length"}
BROKEN = {"http": 503, "body": {"error": {"message": "overloaded"}}}
DONE = {"text": "done"}
Finish = Callable[[Any], Awaitable[None]]


def call(name: str, arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}], **more}


async def test_a_cut_answer_is_left_out_and_asked_for_again_without_a_user_message(
    world: Any, finish: Finish
) -> None:
    world.play(CUT, DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert get_agent_final_response(conversation.state.events) == "done"
    assert world.requests[1].user_texts == ("go",)
    assert not world.requests[1].mentions("half of")
    assert world.waits == []


async def test_the_log_keeps_the_raw_turn_and_says_that_it_does_not_count(world: Any, finish: Finish) -> None:
    world.play(CUT, DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert world.kinds(conversation) == ["MessageEvent", "MessageEvent", "Condensation", "MessageEvent"]
    _, _, raw, note, _ = conversation.state.events
    assert raw.llm_message.content[0].text == "half of the ans"
    assert note.forgotten_event_ids == {raw.id}


async def test_usage_of_dropped_turns_is_in_the_conversation_s_totals(world: Any, finish: Finish) -> None:
    world.play({**CUT, "usage": {"input": 100, "output": 64}}, {**DONE, "usage": {"input": 90, "output": 7}})
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    usage = conversation.conversation_stats.get_combined_metrics().accumulated_token_usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (190, 71)


async def test_a_failed_turn_is_waited_for_and_asked_for_again_and_is_no_error_of_the_conversation(
    world: Any, finish: Finish
) -> None:
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert world.kinds(conversation) == ["MessageEvent", "MessageEvent"]
    assert world.waits == [5]
    assert conversation.report.resumes == 1


async def test_where_nothing_helps_the_caller_gets_the_framework_s_own_error(
    world: Any, finish: Finish
) -> None:
    world.play(BROKEN, BROKEN)
    conversation = world.conversation({"plugins": {"stream-recovery": {"retries": 1}}})
    conversation.send_message("go")
    with pytest.raises(ConversationRunError) as raised:
        await finish(conversation)
    assert isinstance(raised.value.original_exception, LLMServiceUnavailableError)
    assert raised.value.__cause__ is raised.value.original_exception
    assert conversation.state.execution_status is Status.ERROR
    assert world.kinds(conversation) == ["MessageEvent", "ConversationErrorEvent"]
    assert conversation.report.outcome is RunOutcome.FAILED
    assert conversation.report.cause is CauseKind.TRANSIENT


async def test_a_permanent_error_is_raised_at_once(world: Any, finish: Finish) -> None:
    world.play({"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}})
    conversation = world.conversation()
    conversation.send_message("go")
    with pytest.raises(ConversationRunError) as raised:
        await finish(conversation)
    assert isinstance(raised.value.original_exception, LLMAuthenticationError)
    assert conversation.report.cause is CauseKind.PERMANENT


async def test_the_client_s_own_retries_go_first_cost_nothing_and_are_counted(
    world: Any, finish: Finish
) -> None:
    world.play(BROKEN, BROKEN, BROKEN, BROKEN, DONE)
    conversation = world.conversation({"max_resumes": 1}, agent=world.agent(llm=world.llm(num_retries=3)))
    conversation.send_message("go")
    await finish(conversation)
    report = conversation.report
    assert (report.turns, report.requests, report.resumes) == (2, 5, 1)


async def test_a_listener_of_the_client_s_retries_is_still_told(world: Any, finish: Finish) -> None:
    told: list[Any] = []
    world.play(BROKEN, DONE)
    llm = world.llm(num_retries=2, retry_listener=lambda *said: told.append(said[:2]))
    conversation = world.conversation(agent=world.agent(llm=llm))
    conversation.send_message("go")
    await finish(conversation)
    assert told == [(1, 2)]
    assert conversation.report.resumes == 0


async def test_an_incomplete_answer_is_an_error_for_unattended_work(world: Any, finish: Finish) -> None:
    world.play(CUT)
    conversation = world.conversation({"incomplete": "raise", "max_resumes": 0})
    conversation.send_message("go")
    with pytest.raises(IncompleteRun) as raised:
        await finish(conversation)
    assert raised.value.partial is not None
    assert raised.value.partial.text == "half of the ans"
    assert conversation.state.execution_status is Status.FINISHED


# ---------------------------------------------------------------- streams


async def test_what_a_listener_was_shown_of_a_broken_stream_has_an_id_of_its_own(
    world: Any, finish: Finish
) -> None:
    shown: list[Any] = []
    world.play({"text": "broken", "cut": "rst"}, DONE)
    conversation = world.conversation(
        agent=world.agent(llm=world.llm(stream=True)), stream_callbacks=[shown.append]
    )
    conversation.send_message("go")
    await finish(conversation)
    attempts = list(dict.fromkeys(frame.item_id for frame in shown))
    assert len(attempts) == 2
    assert [type(frame).__name__ for frame in shown if frame.item_id == attempts[0]][-1] == "StreamAborted"
    assert conversation.state.events[-1].id == attempts[1]
    assert world.waits == [5]


async def test_a_stream_that_just_ends_is_no_answer(world: Any, finish: Finish) -> None:
    world.play({"text": "half an ans", "cut": "no_finish"}, DONE)
    conversation = world.conversation(
        agent=world.agent(llm=world.llm(stream=True)), token_callbacks=[lambda chunk: None]
    )
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "done"
    assert not world.requests[1].mentions("half an ans")


async def test_calls_and_reasoning_in_a_stream_that_just_ends_are_no_answer_either(
    world: Any, finish: Finish
) -> None:
    step = PlayedTool(name="step", result="ok")
    whole = call("step", '{"path": "x"}', text="half an ans", reasoning="hm", cut="no_finish")
    world.play(whole, DONE)
    changed = {"model": "anthropic/scripted", "base_url": world.server.root_url}
    llm = world.llm(stream=True).model_copy(update=changed)
    conversation = world.conversation(
        agent=world.agent(llm=llm, tools=[step]), token_callbacks=[lambda chunk: None]
    )
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "done"
    assert step.times_run == 0
    assert not world.requests[1].mentions("half an ans")


async def test_a_provider_whose_streams_never_say_why_they_end_is_taken_at_its_word_after_three(
    world: Any, finish: Finish
) -> None:
    silent = {"text": "an answer", "cut": "no_finish"}
    world.play(*[silent] * 5)
    conversation = world.conversation(
        agent=world.agent(llm=world.llm(stream=True)), token_callbacks=[lambda chunk: None]
    )
    for _ in range(2):
        conversation.send_message("go")
        await finish(conversation)
        assert get_agent_final_response(conversation.state.events) == "an answer"
    assert len(world.requests) == 5


async def test_a_stream_that_breaks_after_others_said_why_they_ended_is_always_seen(
    world: Any, finish: Finish
) -> None:
    world.play(DONE, *[{"text": "half an ans", "cut": "no_finish"}] * 4, DONE)
    conversation = world.conversation(
        agent=world.agent(llm=world.llm(stream=True)), token_callbacks=[lambda chunk: None]
    )
    for _ in range(2):
        conversation.send_message("go")
        await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "done"
    assert conversation.report.resumes == 4


async def test_the_readable_part_of_a_broken_stream_can_be_quoted_bounded_and_stays_out_of_the_log(
    world: Any, finish: Finish
) -> None:
    world.play({"text": "READ" * 1000, "cut": "rst"}, {"text": "MORE", "stop": "length"}, DONE)
    settings = {
        "allow_injection": ["partial-checkpoint"],
        "plugins": {"partial-checkpoint": {"max_characters": 600}},
    }
    conversation = world.conversation(
        settings, agent=world.agent(llm=world.llm(stream=True)), token_callbacks=[lambda chunk: None]
    )
    conversation.send_message("go")
    await finish(conversation)
    first, second = (request.user_texts[-1] for request in world.requests[1:])
    assert "READREAD" in first
    assert '"MORE"' in second
    assert max(len(first), len(second)) <= 600
    assert [request.user_texts[0] for request in world.requests] == ["go"] * 3
    assert "Checkpoint" not in "".join(event.model_dump_json() for event in conversation.state.events)


# ---------------------------------------------------------------- the host's guards and limits


async def test_many_cut_answers_in_a_row_are_no_monologue(world: Any, finish: Finish) -> None:
    cuts = [{"text": f"part {number}", "stop": "length"} for number in range(6)]
    step = PlayedTool(name="step", result="RESULT")
    world.play(*cuts, call("step"), *cuts[:2], {"text": ""}, DONE)
    conversation = world.conversation(tools=[step])
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert conversation.report.resumes == 8
    assert step.times_run == 1


async def test_a_cut_answer_without_text_goes_together_with_the_host_s_nudge(
    world: Any, finish: Finish
) -> None:
    world.play(*[{"reasoning": f"thought {number}", "stop": "length"} for number in range(3)], DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.report.resumes == 3
    assert [request.user_texts for request in world.requests] == [("go",)] * 4
    notes = [event for event in conversation.state.events if isinstance(event, Condensation)]
    assert [len(note.forgotten_event_ids) for note in notes] == [2, 2, 2]


async def test_the_host_s_nudge_after_an_empty_answer_is_its_own_turn(world: Any, finish: Finish) -> None:
    world.play({"text": ""}, DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    report = conversation.report
    assert (report.turns, report.resumes, world.waits) == (2, 0, [])
    assert any("did not include a function call" in text for text in world.requests[1].user_texts)


async def test_the_host_s_limit_of_iterations_is_its_own(world: Any, finish: Finish) -> None:
    world.play(CUT, DONE)
    conversation = world.conversation(max_iteration_per_run=1)
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert get_agent_final_response(conversation.state.events) == "half of the ans"
    assert conversation.report.outcome is RunOutcome.INCOMPLETE
    assert "limit of 1 iterations" in str(conversation.report.no_resume)


async def test_a_failure_in_the_last_iteration_stays_that_failure_and_is_not_waited_for(
    world: Any, finish: Finish
) -> None:
    world.play(BROKEN)
    conversation = world.conversation(max_iteration_per_run=1)
    conversation.send_message("go")
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    assert world.waits == []


async def test_the_host_s_budget_of_costs_is_its_own(world: Any, finish: Finish) -> None:
    world.play({**CUT, "usage": {"input": 1000, "output": 64}}, DONE)
    llm = world.llm(input_cost_per_token=0.01, output_cost_per_token=0.01)
    conversation = world.conversation(agent=world.agent(llm=llm), max_budget_per_run=1.0)
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert "budget of $1.0000 is spent" in str(conversation.report.no_resume)


async def test_a_plugin_that_ends_the_run_pauses_the_conversation(world: Any, finish: Finish) -> None:
    world.play(call("step"), DONE)
    conversation = world.conversation(
        {"plugins": {"run-limits": {"max_requests": 1}}}, tools=[PlayedTool(name="step", result="R")]
    )
    conversation.send_message("go")
    await finish(conversation)
    assert len(world.requests) == 1
    assert conversation.state.execution_status is Status.PAUSED
    assert conversation.report.outcome is RunOutcome.INCOMPLETE


async def test_settings_of_the_next_request_can_be_changed_for_that_one(world: Any, finish: Finish) -> None:
    world.play(CUT, call("step"), DONE)
    conversation = world.conversation(
        {"plugins": {"length-resume": {"output_limit_factor": 2}}},
        tools=[PlayedTool(name="step", result="R")],
    )
    conversation.send_message("go")
    await finish(conversation)
    assert [request.decoded.output_limit for request in world.requests] == [64, 128, 64]


async def test_a_context_that_is_too_long_belongs_to_the_agent_s_condenser(
    world: Any, finish: Finish
) -> None:
    from openhands.sdk.context.condenser import LLMSummarizingCondenser

    too_long = {
        "http": 400,
        "body": {"error": {"message": "prompt is too long", "code": "context_length_exceeded"}},
    }
    world.play(
        *[call("step", f'{{"path": "{number}"}}') for number in range(4)], too_long, {"text": "SUMMARY"}, DONE
    )
    agent = world.agent(
        tools=[PlayedTool(name="step", result="RESULT")],
        condenser=LLMSummarizingCondenser(llm=world.llm(), max_size=100, keep_first=1),
    )
    conversation = world.conversation(agent=agent)
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.FINISHED
    assert conversation.report.resumes == 0
    assert world.requests[-1].mentions("SUMMARY")
    assert any(isinstance(event, Condensation) for event in conversation.state.events)


async def test_an_answer_that_is_whole_stays_as_the_framework_has_it(world: Any, finish: Finish) -> None:
    world.play(DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    last = conversation.state.events[-1]
    assert isinstance(last, MessageEvent)
    assert conversation.state.agent_state == {}
    assert conversation.report.outcome is RunOutcome.COMPLETED
