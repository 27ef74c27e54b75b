"""Plain message lists as entries, and back."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.messages import apply_projection, entries_of

CHAT: list[dict[str, Any]] = [
    {"role": "developer", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "do "}, {"type": "text", "text": "it"}]},
    {
        "role": "assistant",
        "content": "I look",
        "tool_calls": [{"id": "a", "function": {"name": "step", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "RESULT"},
    {"role": "assistant", "content": "done"},
]
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "do it"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look"},
            {"type": "tool_use", "id": "a", "name": "step", "input": {}},
            {"type": "tool_use", "id": "b", "name": "step", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "RESULT A"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "RESULT B"}]},
            {"type": "text", "text": "and go on"},
        ],
    },
]


def test_chat_messages_are_entries() -> None:
    entries = entries_of(CHAT)
    assert [entry.role for entry in entries] == ["system", "user", "assistant", "tool", "assistant"]
    assert [entry.text for entry in entries] == ["be brief", "do it", "I look", "RESULT", "done"]
    assert entries[2].calls == ("a",)
    assert entries[3].answers == ("a",)


def test_each_anthropic_result_and_what_the_user_says_beside_it_is_an_entry() -> None:
    entries = entries_of(MESSAGES)
    assert [entry.role for entry in entries] == ["user", "assistant", "tool", "tool", "user"]
    assert [entry.text for entry in entries] == ["do it", "I look", "RESULT A", "RESULT B", "and go on"]
    assert entries[1].calls == ("a", "b")
    assert [entry.answers for entry in entries[2:]] == [("a",), ("b",), ()]


@pytest.mark.parametrize("messages", [CHAT, MESSAGES])
def test_references_hold_when_the_list_grows(messages: list[dict[str, Any]]) -> None:
    before = entries_of(messages)
    after = entries_of([*messages, {"role": "user", "content": "more"}])
    assert after[: len(before)] == before
    assert len({entry.ref for entry in after}) == len(after)


@pytest.mark.parametrize("messages", [CHAT, MESSAGES])
def test_an_untouched_projection_gives_the_callers_own_messages(messages: list[dict[str, Any]]) -> None:
    result = apply_projection(messages, entries_of(messages))
    assert all(given is sent for given, sent in zip(messages, result, strict=True))
    assert result is not messages


def test_an_omitted_pair_is_left_out_and_the_callers_list_stays() -> None:
    before = copy.deepcopy(CHAT)
    entries = [entry for entry in entries_of(CHAT) if not (entry.calls or entry.answers)]
    assert [message["content"] for message in apply_projection(CHAT, entries)] == [
        "be brief",
        CHAT[1]["content"],
        "done",
    ]
    assert before == CHAT


def test_one_anthropic_result_can_be_left_out_of_its_message() -> None:
    before = copy.deepcopy(MESSAGES)
    entries = entries_of(MESSAGES)
    result = apply_projection(MESSAGES, [*entries[:2], *entries[3:]])
    assert result[2]["content"] == MESSAGES[2]["content"][1:]
    assert before == MESSAGES


def test_a_message_whose_parts_are_all_left_out_is_gone() -> None:
    assert apply_projection(MESSAGES, entries_of(MESSAGES)[:1]) == MESSAGES[:1]


def test_a_replaced_assistant_loses_its_calls_and_its_signatures() -> None:
    messages = [
        {"role": "user", "content": "do it"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "x", "signature": "s"}],
            "name": "n",
        },
    ]
    entries = entries_of(messages)
    result = apply_projection(messages, entries, {entries[1].ref: "shown"})
    assert result[1] == {"role": "assistant", "content": "shown"}


def test_a_replaced_result_stays_a_result() -> None:
    entries = entries_of(CHAT)
    result = apply_projection(CHAT, entries, {entries[3].ref: "short"})
    assert result[3] == {"role": "tool", "tool_call_id": "a", "content": "short"}
    entries = entries_of(MESSAGES)
    result = apply_projection(MESSAGES, entries, {entries[3].ref: "short", entries[4].ref: "go"})
    assert result[2]["content"] == [
        MESSAGES[2]["content"][0],
        {"type": "tool_result", "tool_use_id": "b", "content": "short"},
        {"type": "text", "text": "go"},
    ]


def test_an_assistant_replaced_by_nothing_is_not_sent_empty() -> None:
    entries = entries_of(CHAT)
    assert apply_projection(CHAT, entries, {entries[4].ref: " "}) == CHAT[:4]


def test_an_injected_entry_becomes_a_user_message_in_its_place() -> None:
    entries = list(entries_of(CHAT))
    injected = Entry(ref=EntryRef("injected:x"), role="user", text="note", injected=True)
    result = apply_projection(CHAT, [*entries[:4], injected, entries[4]])
    assert result[4] == {"role": "user", "content": "note"}
    assert result[5] is CHAT[4]


def test_objects_of_an_sdk_stand_among_dicts() -> None:
    asked = SimpleNamespace(
        role="assistant",
        content=None,
        tool_calls=[SimpleNamespace(id="a", function=SimpleNamespace(name="step", arguments="{}"))],
        model_dump=lambda **_: {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    )
    messages = [CHAT[1], asked, CHAT[3]]
    entries = entries_of(messages)
    assert (entries[1].role, entries[1].calls) == ("assistant", ("a",))
    assert entries_of(messages) == entries
    assert apply_projection(messages, entries)[1] is asked


def test_content_blocks_of_an_sdk_are_read() -> None:
    content = [
        SimpleNamespace(type="text", text="I look"),
        SimpleNamespace(type="tool_use", id="a", name="step", input={}),
    ]
    entry = entries_of([{"role": "assistant", "content": content}])[0]
    assert (entry.text, entry.calls) == ("I look", ("a",))


def test_what_is_no_message_is_an_entry_that_goes_through() -> None:
    messages: list[Any] = [{"type": "function_call", "call_id": "x"}, None]
    entries = entries_of(messages)
    assert [entry.role for entry in entries] == ["other", "other"]
    assert apply_projection(messages, entries) == messages


def test_a_function_role_message_is_a_result_without_a_call_id() -> None:
    entry = entries_of([{"role": "function", "name": "step", "content": "RESULT"}])[0]
    assert (entry.role, entry.text, entry.answers) == ("tool", "RESULT", ())


def test_a_user_message_replaced_by_nothing_is_left_out() -> None:
    entries = entries_of(CHAT)
    assert apply_projection(CHAT, entries, {entries[1].ref: ""}) == [CHAT[0], *CHAT[2:]]


def test_an_entry_of_another_list_is_passed_over() -> None:
    stranger = entries_of([{"role": "user", "content": "of another list"}])
    assert apply_projection(CHAT, [*entries_of(CHAT), *stranger]) == CHAT


def test_an_object_that_cannot_be_edited_is_named() -> None:
    class Opaque:
        role = "user"
        content = "a long text"

    entries = entries_of([Opaque()])
    with pytest.raises(TypeError, match="Opaque"):
        apply_projection([Opaque()], entries, {entries[0].ref: "short"})


def test_the_same_text_at_two_places_has_two_names() -> None:
    first, second = entries_of([{"role": "user", "content": "go on"}] * 2)
    assert first.ref != second.ref
