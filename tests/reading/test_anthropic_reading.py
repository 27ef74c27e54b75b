"""Anthropic messages, whole and streamed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from anthropic.types import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity_core.model.failure import Failure
from continuity_core.model.reading.anthropic_messages import MessageStreamReader
from continuity_core.model.reading.stop_words import NO_STOP_WORD
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Reasoning, Text, ToolCall, Turn


def message(*content: dict[str, Any], stop_reason: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    return {"id": "m1", "type": "message", "content": list(content), "stop_reason": stop_reason, **more}


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": message(stop_reason=None, usage=usage)}


def block(
    index: int, content: dict[str, Any], *deltas: tuple[str, str], stop: bool = True
) -> list[dict[str, Any]]:
    names = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
    events: list[dict[str, Any]] = [{"type": "content_block_start", "index": index, "content_block": content}]
    events += [
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": kind, names.get(kind, "partial_json"): piece},
        }
        for kind, piece in deltas
    ]
    return events + ([{"type": "content_block_stop", "index": index}] if stop else [])


def end(stop_reason: str | None = "end_turn", **usage: int) -> list[dict[str, Any]]:
    delta = {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": usage}
    return [delta, {"type": "message_stop"}]


TEXT = {"type": "text", "text": ""}
THINKING = {"type": "thinking", "thinking": "", "signature": ""}
CALL = {"type": "tool_use", "id": "a", "name": "step", "input": {}}


def test_a_whole_message_is_read() -> None:
    turn = Turn.from_anthropic(
        message(
            {"type": "thinking", "thinking": "let me see", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "I look"},
            {"type": "tool_use", "id": "a", "name": "step", "input": {"n": 1}},
            stop_reason="tool_use",
            usage={"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 9},
        )
    )
    assert turn.stop_reason is StopReason.TOOL_USE
    assert turn.blocks == (
        Reasoning("let me see"),
        Reasoning("", redacted=True),
        Text("I look"),
        ToolCall("a", "step", '{"n": 1}'),
    )
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (25, 9)
    assert turn.usage.cached_input_tokens == 20


def test_a_message_of_the_sdk_is_read() -> None:
    sdk_message = Message.model_validate(
        {
            **message({"type": "text", "text": "done"}),
            "role": "assistant",
            "model": "m",
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    )
    turn = Turn.from_anthropic(sdk_message)
    assert (turn.text, turn.usage.output_tokens) == ("done", 2)


def test_plain_objects_read_like_dicts() -> None:
    whole = message({"type": "text", "text": "done"}, usage={"input_tokens": 1})
    blocks = [
        SimpleNamespace(type="text", text="done", model_dump=lambda **_: {"type": "text", "text": "done"})
    ]
    as_object = SimpleNamespace(
        type="message", content=blocks, stop_reason="end_turn", usage=SimpleNamespace(input_tokens=1)
    )
    assert Turn.from_anthropic(as_object) == Turn.from_anthropic(whole)


def test_a_stream_is_read_event_by_event() -> None:
    turn = Turn.from_anthropic(
        [
            start(input_tokens=4, output_tokens=1),
            {"type": "ping"},
            *block(
                0, THINKING, ("thinking_delta", "let "), ("thinking_delta", "me"), ("signature_delta", "s")
            ),
            *block(1, TEXT, ("text_delta", "I "), ("text_delta", "look")),
            *block(
                2, CALL, ("input_json_delta", ""), ("input_json_delta", '{"n"'), ("input_json_delta", ": 1}")
            ),
            *end("tool_use", output_tokens=11),
        ]
    )
    assert turn.blocks == (Reasoning("let me"), Text("I look"), ToolCall("a", "step", '{"n": 1}'))
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (4, 11)
    assert (turn.stop_reason, turn.failure) == (StopReason.TOOL_USE, None)


def test_a_call_without_arguments_has_an_empty_object() -> None:
    turn = Turn.from_anthropic([start(), *block(0, CALL, ("input_json_delta", "")), *end("tool_use")])
    assert turn.tool_calls == (ToolCall("a", "step", "{}"),)


def test_a_call_that_was_cut_keeps_the_raw_string() -> None:
    turn = Turn.from_anthropic(
        [start(), *block(0, CALL, ("input_json_delta", '{"path": "CUT')), *end("max_tokens")]
    )
    assert turn.stop_reason is StopReason.LENGTH
    assert turn.tool_calls == (ToolCall("a", "step", '{"path": "CUT'),)
    assert turn.executable_calls == ()


def test_a_clean_end_without_a_stop_reason_is_a_failure() -> None:
    turn = Turn.from_anthropic([start(), *block(0, TEXT, ("text_delta", "half")), {"type": "message_stop"}])
    assert turn.failure is not None
    assert turn.failure.message == NO_STOP_WORD
    assert turn.text == "half"


def test_a_refusal_tells_why() -> None:
    turn = Turn.from_anthropic(message(stop_reason="refusal", stop_details={"explanation": "Not allowed."}))
    assert turn.failure is not None
    assert turn.failure.code == "refusal"
    assert "Not allowed." in turn.failure.message


def test_a_full_context_is_a_failure() -> None:
    turn = Turn.from_anthropic(message(stop_reason="model_context_window_exceeded"))
    assert turn.failure is not None
    assert turn.failure.code == "model_context_window_exceeded"


def test_a_paused_turn_is_unfinished() -> None:
    turn = Turn.from_anthropic(message({"type": "text", "text": "…"}, stop_reason="pause_turn"))
    assert turn.unfinished
    assert turn.failure is None


def test_an_error_event_is_the_failure() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    turn = Turn.from_anthropic([start(), *block(0, TEXT, ("text_delta", "half"), stop=False), error])
    assert turn.failure is not None
    assert (turn.failure.type, turn.failure.message) == ("overloaded_error", "Overloaded")
    assert turn.text == "half"


def test_what_is_sent_back_has_its_signatures() -> None:
    reader = MessageStreamReader()
    for event in [
        start(),
        *block(0, THINKING, ("thinking_delta", "let me"), ("signature_delta", "s1")),
        *block(1, CALL, ("input_json_delta", '{"n": 1}')),
    ]:
        reader.feed(event)
    assert reader.content() == [
        {"type": "thinking", "thinking": "let me", "signature": "s1"},
        {"type": "tool_use", "id": "a", "name": "step", "input": {"n": 1}},
    ]


def test_what_a_provider_would_refuse_is_not_sent_back() -> None:
    reader = MessageStreamReader()
    for event in [
        start(),
        *block(0, THINKING, ("thinking_delta", "let me"), stop=False),
        *block(1, TEXT, ("text_delta", " \n")),
        *block(2, CALL, ("input_json_delta", '{"n'), stop=False),
    ]:
        reader.feed(event)
    assert reader.content() == [{"type": "tool_use", "id": "a", "name": "step", "input": {}}]


def test_tools_that_the_provider_runs_are_no_calls_but_are_sent_back() -> None:
    reader = MessageStreamReader()
    reader.feed_message(
        message(
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "found"},
        )
    )
    assert reader.turn().blocks == (Text("found"),)
    assert [sent["type"] for sent in reader.content()] == [
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]


def test_events_that_an_sdk_derives_are_passed_over() -> None:
    derived = {"type": "text", "text": "I", "snapshot": "I"}
    turn = Turn.from_anthropic([start(), *block(0, TEXT, ("text_delta", "I")), derived, *end()])
    assert turn.text == "I"


def test_a_broken_stream_gives_what_came_of_it() -> None:
    reader = MessageStreamReader()
    for event in [start(output_tokens=1), *block(0, TEXT, ("text_delta", "partial"), stop=False)]:
        reader.feed(event)
    turn = reader.turn(failure=Failure.from_text("terminated"))
    assert (turn.stop_reason, turn.text) == (StopReason.ERROR, "partial")
    assert reader.turn(aborted=True).stop_reason is StopReason.ABORTED


def test_a_page_in_place_of_a_message_is_a_failure_with_its_text() -> None:
    turn = Turn.from_anthropic(b"<html>Bad gateway</html>")
    assert turn.failure is not None
    assert turn.failure.body == "<html>Bad gateway</html>"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(
                    [
                        "message_start",
                        "content_block_start",
                        "content_block_delta",
                        "message_delta",
                        "error",
                        "text",
                        "tool_use",
                        "thinking",
                        "text_delta",
                        "input_json_delta",
                    ]
                ),
                **dict.fromkeys(
                    [
                        "message",
                        "content",
                        "content_block",
                        "delta",
                        "index",
                        "usage",
                        "text",
                        "thinking",
                        "input",
                        "error",
                    ],
                    inner,
                ),
            },
        )
    ),
    max_leaves=25,
)


@settings(max_examples=60)
@given(st.lists(_JSON, max_size=5), _JSON)
def test_no_shape_of_data_makes_reading_raise(events: list[Any], response: Any) -> None:
    reader = MessageStreamReader()
    for event in events:
        reader.feed(event)
    reader.content()
    for turn in (reader.turn(), Turn.from_anthropic(response)):
        assert (turn.failure is not None) == (turn.stop_reason is StopReason.ERROR)
