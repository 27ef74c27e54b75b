"""Items of the Responses API as turns and entries, and what of them is sent or withheld."""

from __future__ import annotations

from typing import Any

import pytest

from continuity_core import Continuity, Entry, Mode, Reasoning, StopReason, Text, ToolCall, Turn, Usage
from continuity_core.hosts.openai_agents.projecting import groups_of, projected
from continuity_core.hosts.openai_agents.reading import EventReader, turn_of_response
from continuity_core.hosts.openai_agents.runs import with_results
from continuity_core.hosts.openai_agents.withholding import Delivered, without_calls
from continuity_core.model.entries import EntryRef

USER = {"role": "user", "content": "Finish"}
SYSTEM = {"role": "developer", "content": "Be brief"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "think"}]}
SEALED = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "opaque"}
CALL = {"type": "function_call", "call_id": "c1", "name": "step", "arguments": "{}"}
CALL_2 = {"type": "function_call", "call_id": "c2", "name": "step", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "RESULT"}
RESULT_2 = {"type": "function_call_output", "call_id": "c2", "output": "RESULT 2"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}


def said(text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part], "status": "completed", **more}


def nothing_known(item: Any) -> None:
    """No message was handed out of a broken turn."""


def entries(*items: Any) -> list[Entry]:
    return [group.entry for group in groups_of(items, nothing_known)]


def sent(*items: Any, settings: dict[str, Any] | None = None) -> Any:
    """What of the items is sent by a run of its own."""
    with Continuity.from_settings(settings).start_run() as run:
        return projected(run, list(items), nothing_known)


# ---------------------------------------------------------------- entries


def test_the_items_of_one_turn_are_one_entry() -> None:
    [user, turn, first, second] = entries(USER, THOUGHT, said("I look"), CALL, CALL_2, RESULT, RESULT_2)
    assert (user.role, user.text) == ("user", "Finish")
    assert (turn.role, turn.text, turn.calls) == ("assistant", "I look", ("c1", "c2"))
    assert (first.role, first.answers, first.text) == ("tool", ("c1",), "RESULT")
    assert second.answers == ("c2",)


def test_turns_that_follow_each_other_are_apart() -> None:
    assert [entry.text for entry in entries(said("one"), said("two"))] == ["one", "two"]
    assert [entry.calls for entry in entries(THOUGHT, CALL, SEALED, CALL_2)] == [("c1",), ("c2",)]
    assert [entry.text for entry in entries(CALL, said("after it"))] == ["", "after it"]


def test_what_the_provider_ran_itself_is_content_of_its_turn() -> None:
    [turn] = entries(THOUGHT, SEARCH, said("found"))
    assert (turn.role, turn.text) == ("other", "found")


def test_the_developer_speaks_as_the_system() -> None:
    assert [entry.role for entry in entries(SYSTEM, {"type": "item_reference", "id": "x"})] == [
        "system",
        "other",
    ]


def test_references_are_the_same_in_the_next_request_and_tell_items_apart() -> None:
    once = entries(USER, said("one"), USER)
    again = entries(USER, said("one"), USER, said("two"))
    assert [entry.ref for entry in again[:3]] == [entry.ref for entry in once]
    assert len({entry.ref for entry in again}) == 4


# ---------------------------------------------------------------- the projection


@pytest.mark.parametrize(
    "items",
    [
        [SYSTEM, USER, THOUGHT, said("I look"), CALL, RESULT, said("done"), USER],
        [USER, SEALED, SEARCH, said("found"), USER],
        [USER, SEALED, SEARCH],
        [USER, {"type": "item_reference", "id": "x"}, {"type": "compaction", "encrypted_content": "x"}],
        [USER, {"type": "mcp_approval_request", "id": "x"}, {"type": "mcp_approval_response", "id": "x"}],
        [{"role": "assistant", "content": "plain"}, USER],
    ],
)
def test_a_valid_input_is_the_very_same_object(items: list[Any]) -> None:
    with Continuity.from_settings().start_run() as run:
        assert projected(run, items, nothing_known) is items


def test_a_text_as_input_is_sent_as_it_is() -> None:
    with Continuity.from_settings().start_run() as run:
        assert projected(run, "Finish", nothing_known) == "Finish"


def test_a_call_without_a_result_goes_and_its_text_stays() -> None:
    assert sent(USER, THOUGHT, said("I look"), CALL, USER) == [
        USER,
        {"role": "assistant", "content": "I look"},
        USER,
    ]


def test_a_result_without_a_call_goes() -> None:
    assert sent(USER, RESULT, USER) == [USER, USER]


def test_reasoning_that_led_to_nothing_goes() -> None:
    assert sent(USER, SEALED, USER) == [USER, USER]


def test_while_recovery_is_off_nothing_goes() -> None:
    items = [USER, CALL, RESULT_2, SEALED]
    assert sent(*items, settings={"mode": Mode.OFF.value}) == items
    assert sent(*items, settings={"mode": Mode.OBSERVE.value}) == items


def test_a_replaced_result_stays_the_result_of_its_call() -> None:
    [_, group] = groups_of([CALL, RESULT], nothing_known)
    assert group.showing("less") == {**RESULT, "output": "less"}
    [user] = groups_of([USER], nothing_known)
    assert user.showing("less") == {"role": "user", "content": "less"}


# ---------------------------------------------------------------- what is handed out


def test_a_message_of_a_broken_turn_is_found_again_by_the_providers_id_and_its_text() -> None:
    known = said("half", id="__fake_id__", provider_data={"response_id": "r1"})
    delivered = Delivered()
    broken = Turn(stop_reason=StopReason.ERROR, entry=EntryRef.stable("x"))
    delivered.note([CALL, known], broken)
    found = delivered.find(dict(known))
    assert found is not None
    assert (found.ref, found.stop_reason) == (broken.entry, StopReason.ERROR)
    assert delivered.find({**known, "provider_data": {"response_id": "r2"}}) is None
    assert delivered.find({**known, "content": "whole"}) is None


def test_only_the_newest_messages_are_remembered() -> None:
    delivered = Delivered()
    broken = Turn(stop_reason=StopReason.ERROR, entry=EntryRef.stable("x"))
    for number in range(1001):
        delivered.note([said(str(number))], broken)
    assert delivered.find(said("0")) is None
    assert delivered.find(said("1000")) is not None


def test_the_calls_of_a_broken_turn_go_with_the_reasoning_that_led_to_them() -> None:
    assert without_calls([THOUGHT, said("I look"), SEALED, CALL]) == [THOUGHT, said("I look")]
    assert without_calls([SEALED, CALL]) == []


# ---------------------------------------------------------------- turns


def test_a_response_is_read_as_a_turn() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    turn = turn_of_response(
        {"status": "completed", "output": [THOUGHT, SEALED, said("I look"), CALL], "usage": usage}
    )
    assert turn.stop_reason is StopReason.TOOL_USE
    assert turn.blocks == (
        Reasoning("think"),
        Reasoning("", redacted=True),
        Text("I look"),
        ToolCall("c1", "step", "{}"),
    )
    assert turn.usage == Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4, reasoning_tokens=2)


def test_what_the_provider_ran_itself_has_its_result() -> None:
    turn = turn_of_response({"status": "completed", "output": [SEALED, SEARCH]})
    assert turn.tool_calls == (ToolCall("ws_1", "web_search_call", ""),)
    assert turn.answered


@pytest.mark.parametrize(
    ("response", "stop", "code"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length", None),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "error",
            "content_filter",
        ),
        ({"status": "failed", "error": {"code": "server_error", "message": "boom"}}, "error", "server_error"),
        ({"status": "completed", "output": [said("")]}, "stop", None),
        ({"status": None}, "error", None),
        (
            {
                "status": "completed",
                "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}],
            },
            "error",
            "refusal",
        ),
    ],
)
def test_how_a_response_ended(response: dict[str, Any], stop: str, code: str | None) -> None:
    turn = turn_of_response(response)
    assert turn.stop_reason.value == stop
    assert (None if turn.failure is None else turn.failure.code) == code


def test_a_stream_that_breaks_leaves_what_came_of_it() -> None:
    reader = EventReader()
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {}},
        {"type": "response.reasoning_summary_text.delta", "delta": "think"},
        {"type": "response.output_text.delta", "delta": "I "},
        {"type": "response.output_text.delta", "delta": "look"},
        {"type": "response.output_item.added", "output_index": 1, "item": {**CALL, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a'},
    ]
    for event in events:
        reader.feed(event)
    turn = reader.partial(error=ConnectionResetError("reset by peer"))
    assert turn.blocks == (Reasoning("think"), Text("I look"), ToolCall("c1", "step", '{"a'))
    assert turn.stop_reason is StopReason.ERROR
    assert turn.failure is not None
    assert turn.failure.message == "reset by peer"


@pytest.mark.parametrize(
    ("event", "message", "code"),
    [
        ({"type": "error", "message": "overloaded", "code": "server_error"}, "overloaded", "server_error"),
        ({"type": "error", "error": {"message": "nested", "code": "x"}}, "nested", "x"),
        ({"type": "error"}, "The stream ended in an error event", None),
    ],
)
def test_an_error_event_is_the_failure(event: dict[str, Any], message: str, code: str | None) -> None:
    reader = EventReader()
    reader.feed(event)
    failure = reader.failure()
    assert failure is not None
    assert (failure.message, failure.code) == (message, code)


def test_the_results_of_a_turn_are_found_among_the_next_input() -> None:
    turn = Turn(stop_reason=StopReason.TOOL_USE, blocks=(ToolCall("c1", "a", ""), ToolCall("c2", "b", "")))
    assert with_results(turn, [USER, RESULT, RESULT_2]).answered
    assert not with_results(turn, [RESULT]).answered
    assert not with_results(turn, "Finish").answered
