"""Histories that are saved, loaded, sent again, and edited by plugins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, capture_run_messages
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from continuity_core import (
    Continuity,
    Edit,
    Omit,
    Order,
    Projection,
    Proposal,
    Replace,
    Stage,
    StopReason,
    hookimpl,
)
from continuity_core.engine.project import ProjectionResult
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.hosts.pydantic_ai.entries import entries_of, projected, resuming_request
from continuity_core.hosts.pydantic_ai.reading import turn_of
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

LENGTH = {"text": "HALF_ANSWER", "stop": "length"}
DONE = {"text": "done"}


def saved_and_loaded(messages: list[ModelMessage]) -> list[ModelMessage]:
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))


async def test_a_turn_that_was_left_out_stays_out_in_another_process(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([LENGTH, DONE, {"text": "second"}])
    first = await Agent(model, capabilities=[ContinuityCapability(continuity=load())]).run("First")
    history = saved_and_loaded(first.all_messages())
    later = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    assert (await later.run("Second", message_history=history)).output == "second"
    assert not server.requests[-1].mentions("HALF_ANSWER")
    assert server.requests[-1].mentions("done")


async def test_the_text_of_a_cut_turn_that_was_delivered_stays(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([LENGTH, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))])
    history = saved_and_loaded((await agent.run("First")).all_messages())
    await agent.run("Second", message_history=history)
    assert server.requests[-1].mentions("HALF_ANSWER")


async def test_the_request_after_a_failed_run_is_clean(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"tool_calls": [{"name": "step"}]}, {"text": "BROKEN", "cut": "rst"}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))])

    @agent.tool_plain
    def step() -> str:
        return "RESULT_OF_STEP"

    with capture_run_messages() as messages, pytest.raises(Exception, match="Connection error"):
        await _streamed(agent, "First")
    history = saved_and_loaded(messages)
    assert (await agent.run("Second", message_history=history)).output == "done"
    assert server.requests[-1].mentions("RESULT_OF_STEP")
    assert not server.requests[-1].mentions("BROKEN")
    assert server.requests[-1].user_texts == ("First", "Second")


async def test_half_a_stream_that_was_returned_as_the_answer_is_not_sent_again(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "BROKEN", "cut": "no_finish"}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"max_resumes": 0}))])
    with capture_run_messages() as messages:
        await _streamed(agent, "First")
    history = saved_and_loaded(messages)
    assert isinstance(history[-1], ModelResponse)
    assert history[-1].text == "BROKEN"
    assert (await agent.run("Second", message_history=history)).output == "done"
    assert not server.requests[-1].mentions("BROKEN")
    assert server.requests[-1].user_texts == ("First", "Second")


async def test_half_a_stream_is_left_as_it_is_while_recovery_is_only_observed(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "BROKEN", "cut": "no_finish"}])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load({"mode": "observe"}))])
    with capture_run_messages() as messages:
        await _streamed(agent, "First")
    assert messages[-1].metadata is None


async def test_the_history_of_a_run_that_a_plugin_ended_has_the_results_of_its_tools(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"tool_calls": [{"name": "step"}]}, DONE])
    limits = {"plugins": {"run-limits": {"max_requests": 1}}}
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load(limits))])

    @agent.tool_plain
    def step() -> str:
        return "RESULT_OF_STEP"

    with capture_run_messages() as messages, pytest.raises(UsageLimitExceeded):
        await agent.run("First")
    history = saved_and_loaded(messages)
    assert (await agent.run("Second", message_history=history)).output == "done"
    assert server.requests[-1].mentions("RESULT_OF_STEP")


async def _streamed(agent: Agent[None, Any], prompt: str) -> None:
    async with agent.run_stream_events(prompt) as events:
        async for _ in events:
            pass


async def test_a_history_with_dropped_turns_is_a_valid_one_without_continuity(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    cut_call = {"tool_calls": [{"name": "step", "arguments": "{}"}], "stop": "length"}
    server.play([LENGTH, cut_call, {"text": ""}, DONE, {"text": "second"}])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])

    @agent.tool_plain
    def step() -> str:
        return "RESULT_OF_STEP"

    history = saved_and_loaded((await agent.run("First")).all_messages())
    continuity = load()
    continuity.disable()
    without = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    assert (await without.run("Second", message_history=history)).output == "second"


class Editor:
    """Takes a secret out of what users and tools said, and leaves out what is marked."""

    order = Order(stage=Stage.REDACT)
    edits_user_input = True

    @hookimpl
    def continuity_project(self, projection: Projection, proposal: Proposal) -> list[Edit]:
        edits: list[Edit] = []
        for entry in projection.entries:
            if "SECRET" in entry.text:
                edits.append(Replace(entry.ref, entry.text.replace("SECRET", "*"), "a secret"))
            elif "MARKED" in entry.text:
                edits.append(Omit(entry.ref, "marked"))
        return edits


async def test_a_plugins_edits_of_single_parts_reach_the_request_and_not_the_history(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "words", "tool_calls": [{"name": "step"}]}, DONE])
    continuity = load(plugins=[Editor()])
    agent = Agent(
        model, system_prompt="MARKED for you", capabilities=[ContinuityCapability(continuity=continuity)]
    )

    @agent.tool_plain
    def step() -> str:
        return "a SECRET result"

    result = await agent.run("the SECRET task")
    body = server.requests[0].body + server.requests[1].body
    assert b"SECRET" not in body
    assert b"MARKED" not in body
    assert server.requests[1].mentions("the * task")
    assert b"SECRET" in result.all_messages_json()
    assert b"MARKED" in result.all_messages_json()


async def test_text_that_a_plugin_may_inject_stands_in_the_users_role_of_requests_only(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([LENGTH, DONE])
    continuity = load({"allow_injection": ["partial-checkpoint"]})
    result = await Agent(model, capabilities=[ContinuityCapability(continuity=continuity)]).run("x")
    assert "HALF_ANSWER" in server.requests[1].user_texts[-1]
    prompts = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    assert len(prompts) == 1


# ---------------------------------------------------------------- entries


def test_names_of_entries_survive_saving_and_never_coincide() -> None:
    call = ToolCallPart("step", "{}", tool_call_id="call-1")
    result = ToolReturnPart("step", "again", tool_call_id="call-1")
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("hello")]),
        ModelResponse(parts=[call], provider_response_id="one"),
        ModelRequest(parts=[result, result]),
    ]
    before = [entry.ref for entry, _ in entries_of(messages)]
    assert len(set(before)) == len(before) == 4
    assert [entry.ref for entry, _ in entries_of(saved_and_loaded(messages))] == before


def test_entries_say_who_spoke_what_was_called_and_how_it_ended() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(["hello ", "there"])]),
        ModelResponse(parts=[TextPart("half"), ToolCallPart("step", "{}", "c")], finish_reason="length"),
        resuming_request(left_out=True),
        ModelResponse(parts=[TextPart("cut")], state="interrupted"),
        resuming_request(left_out=False),
        ModelResponse(parts=[TextPart("done")], finish_reason="stop"),
        resuming_request(left_out=False),
        ModelResponse(parts=[TextPart("unsaid")]),
    ]
    shown = [entry for entry, _ in entries_of(messages)]
    assert [entry.role for entry in shown] == ["user", *["assistant"] * 4]
    assert shown[0].text == "hello there"
    assert shown[1].calls == ("c",)
    assert [entry.stop_reason for entry in shown[1:]] == [
        *(StopReason.ERROR, StopReason.ERROR, StopReason.STOP, None),
    ]


def test_what_does_not_change_is_sent_as_the_very_same_object() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("hello")]),
        ModelResponse(parts=[TextPart("gone")]),
        ModelRequest(parts=[]),
    ]
    shown = entries_of(messages)
    gone = shown[1][0]
    sent = projected(messages, shown, ProjectionResult(entries=(shown[0][0],), omitted=frozenset({gone.ref})))
    assert [id(message) for message in sent] == [id(messages[0]), id(messages[2])]


@pytest.mark.parametrize(
    ("details", "finish_reason", "state", "stop", "code"),
    [
        ({"finish_reason": "stop"}, "stop", "complete", StopReason.STOP, None),
        ({"finish_reason": "max_tokens"}, "length", "complete", StopReason.LENGTH, None),
        (
            {"finish_reason": "model_context_window_exceeded"},
            "length",
            "complete",
            StopReason.ERROR,
            "model_context_window_exceeded",
        ),
        ({"finish_reason": "a_word_of_its_own"}, "stop", "complete", StopReason.STOP, None),
        ({"finish_reason": "failed"}, "error", "complete", StopReason.ERROR, None),
        (None, "content_filter", "complete", StopReason.ERROR, "content_filter"),
        (None, None, "complete", StopReason.STOP, None),
        (None, None, "interrupted", StopReason.ABORTED, None),
    ],
)
def test_the_providers_own_word_counts_where_it_is_known(
    details: Any, finish_reason: Any, state: Any, stop: StopReason, code: str | None
) -> None:
    response = ModelResponse(
        parts=[ThinkingPart("hm"), TextPart("text")],
        provider_details=details,
        finish_reason=finish_reason,
        state=state,
    )
    turn = turn_of(response)
    assert turn.stop_reason is stop
    assert (turn.text, turn.reasoning) == ("text", "hm")
    if code is not None:
        assert turn.failure is not None
        assert turn.failure.code == code


def test_a_paused_response_belongs_to_the_framework() -> None:
    assert turn_of(ModelResponse(parts=[TextPart("so far")], state="suspended")).unfinished


def test_a_stream_without_the_providers_word_is_a_failure_but_for_a_refusal() -> None:
    made_up = ModelResponse(parts=[TextPart("half")], finish_reason="stop")
    assert turn_of(made_up, must_say_why=True).stop_reason is StopReason.ERROR
    assert turn_of(made_up).stop_reason is StopReason.STOP
    refused = ModelResponse(parts=[TextPart("no")], finish_reason="content_filter")
    failure = turn_of(refused, must_say_why=True).failure
    assert failure is not None
    assert failure.code == "content_filter"
