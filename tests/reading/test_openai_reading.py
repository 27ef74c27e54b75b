"""Chat completions, whole and streamed, of OpenAI and of the servers that speak its format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from continuity_core.model.failure import Failure
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.reading.stop_words import NO_STOP_WORD
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Reasoning, Text, ToolCall, Turn


def completion(message: dict[str, Any], finish_reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion", "choices": [choice], **more}


def chunk(
    delta: dict[str, Any] | None = None, finish_reason: str | None = None, **more: Any
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **more}


def call_piece(
    index: int | None, arguments: Any, id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    piece = {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    return chunk({"tool_calls": [piece]})


def as_objects(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_objects(inner) for key, inner in value.items()})
    return [as_objects(inner) for inner in value] if isinstance(value, list) else value


def test_a_whole_answer_is_read_with_its_usage() -> None:
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    turn = Turn.from_openai(completion({"content": "done"}, usage=usage))
    assert (turn.stop_reason, turn.provider_stop, turn.failure) == (StopReason.STOP, "stop", None)
    assert turn.blocks == (Text("done"),)
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (12, 7)
    assert (turn.usage.cached_input_tokens, turn.usage.reasoning_tokens) == (4, 3)


def test_objects_and_dicts_read_alike() -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "step", "arguments": '{"n": 1}'}}]
    response = completion({"content": "hm", "tool_calls": calls}, "tool_calls", usage={"prompt_tokens": 3})
    assert Turn.from_openai(as_objects(response)) == Turn.from_openai(response)


def test_an_object_of_the_sdk_is_read() -> None:
    response = ChatCompletion.model_validate(
        completion({"content": "done", "reasoning_content": "because"}, created=1, model="m")
    )
    assert Turn.from_openai(response).blocks == (Reasoning("because"), Text("done"))


def test_the_raw_string_of_arguments_is_kept() -> None:
    calls = [{"id": "a", "function": {"name": "step", "arguments": '{ "path":"CUT'}}]
    turn = Turn.from_openai(completion({"content": None, "tool_calls": calls}, "length"))
    assert turn.stop_reason is StopReason.LENGTH
    assert turn.tool_calls == (ToolCall("a", "step", '{ "path":"CUT'),)
    assert turn.executable_calls == ()


def test_a_stream_is_read_in_the_order_of_its_pieces() -> None:
    turn = Turn.from_openai(
        [
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning_content": "let "}),
            chunk({"reasoning_content": "me see"}),
            chunk({"content": "I will "}),
            chunk({"content": "look"}),
            call_piece(0, "", "a", "step"),
            call_piece(0, '{"n"'),
            call_piece(0, ": 1}"),
            call_piece(1, "{}", "b", "other"),
            chunk({}, "tool_calls"),
            {"object": "chat.completion.chunk", "choices": [], "usage": {"completion_tokens": 9}},
        ]
    )
    assert turn.stop_reason is StopReason.TOOL_USE
    assert turn.blocks == (
        Reasoning("let me see"),
        Text("I will look"),
        ToolCall("a", "step", '{"n": 1}'),
        ToolCall("b", "other", "{}"),
    )
    assert turn.usage.output_tokens == 9


def test_text_after_a_call_is_a_block_of_its_own() -> None:
    turn = Turn.from_openai(
        [call_piece(0, "{}", "a", "step"), chunk({"content": "and so"}), chunk({}, "tool_calls")]
    )
    assert turn.last_substantive == Text("and so")


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([(0, "{}", "a", "one"), (0, "{}", "b", "two")], id="every call is numbered 0"),
        pytest.param([(None, "{}", "a", "one"), (None, "{}", "b", "two")], id="no call is numbered"),
        pytest.param([(1, "{}", "a", "one"), (4, "{}", "b", "two")], id="numbers have gaps"),
        pytest.param(
            [(0, "{", "a", "one"), (0, "}", "a", "one"), (1, "{}", "b", "two")],
            id="id and name come with every piece",
        ),
        pytest.param(
            [(None, "{", "a", "one"), (None, "}", None, None), (None, "{}", "b", "two")],
            id="a piece without number, id and name goes on with the last call",
        ),
        pytest.param(
            [(0, "{", "a", "one"), (1, "{", "b", "two"), (0, "}", None, None), (1, "}", None, None)],
            id="pieces of two calls alternate",
        ),
    ],
)
def test_calls_are_told_apart_however_a_server_numbers_them(pieces: list[tuple[Any, ...]]) -> None:
    turn = Turn.from_openai([*(call_piece(*piece) for piece in pieces), chunk({}, "tool_calls")])
    assert turn.tool_calls == (ToolCall("a", "one", "{}"), ToolCall("b", "two", "{}"))


def test_calls_without_ids_get_ids_that_differ() -> None:
    turn = Turn.from_openai(
        [call_piece(0, "{}", None, "one"), call_piece(1, "{}", None, "two"), chunk({}, "tool_calls")]
    )
    assert [call.id for call in turn.tool_calls] == ["c1-1", "c1-2"]


def test_arguments_sent_as_an_object_become_text() -> None:
    calls = [{"id": "a", "function": {"name": "step", "arguments": {"n": 1}}}]
    turn = Turn.from_openai(completion({"tool_calls": calls}, "tool_calls"))
    assert turn.tool_calls[0].arguments == '{"n": 1}'


def test_the_older_function_call_is_a_call() -> None:
    turn = Turn.from_openai(
        completion({"function_call": {"name": "step", "arguments": "{}"}}, "function_call")
    )
    assert turn.stop_reason is StopReason.TOOL_USE
    assert turn.tool_calls == (ToolCall("c1-1", "step", "{}"),)


def test_a_clean_end_without_a_finish_reason_is_a_failure() -> None:
    turn = Turn.from_openai([chunk({"content": "half an ans"})])
    assert turn.stop_reason is StopReason.ERROR
    assert turn.failure is not None
    assert turn.failure.message == NO_STOP_WORD
    assert turn.text == "half an ans"


@pytest.mark.parametrize("response", [completion({"content": "x"}, None), {"choices": []}, {}, []])
def test_a_response_without_a_finish_reason_is_a_failure(response: Any) -> None:
    turn = Turn.from_openai(response)
    assert turn.failure is not None
    assert turn.failure.message == NO_STOP_WORD


def test_the_last_finish_reason_counts() -> None:
    turn = Turn.from_openai([chunk({"content": "a"}, "stop"), chunk({"content": "b"}, "length")])
    assert turn.stop_reason is StopReason.LENGTH


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I cannot help with that."},
        {"content": [{"type": "refusal", "refusal": "I cannot help with that."}]},
    ],
)
def test_a_refusal_is_a_failure_although_the_finish_reason_is_stop(message: dict[str, Any]) -> None:
    turn = Turn.from_openai(completion(message))
    assert turn.stop_reason is StopReason.ERROR
    assert turn.failure is not None
    assert turn.failure.code == "refusal"
    assert "I cannot help with that." in turn.failure.message
    assert turn.text == "I cannot help with that."


def test_a_streamed_refusal_is_put_together() -> None:
    turn = Turn.from_openai([chunk({"refusal": "I "}), chunk({"refusal": "cannot."}), chunk({}, "stop")])
    assert turn.failure is not None
    assert turn.failure.message == "The model refused: I cannot."


def test_an_error_inside_a_chunk_is_the_failure() -> None:
    error = {"code": 502, "message": "Provider disconnected", "metadata": {"provider_name": "x"}}
    turn = Turn.from_openai([chunk({"content": "half"}), chunk({"content": ""}, "error", error=error)])
    assert turn.stop_reason is StopReason.ERROR
    assert turn.failure is not None
    assert (turn.failure.status, turn.failure.code) == (502, None)
    assert turn.failure.message == "Provider disconnected"
    assert "provider_name" in (turn.failure.body or "")
    assert turn.text == "half"


def test_an_error_inside_a_body_keeps_code_and_type() -> None:
    error = {"code": "rate_limit_exceeded", "type": "tokens", "message": "Slow down"}
    turn = Turn.from_openai({"error": error})
    assert turn.failure is not None
    assert (turn.failure.code, turn.failure.type, turn.failure.message) == (
        "rate_limit_exceeded",
        "tokens",
        "Slow down",
    )


def test_an_error_inside_a_choice_is_found() -> None:
    response = completion({"content": ""}, "error")
    response["choices"][0]["error"] = {"code": 429, "message": "Busy"}
    turn = Turn.from_openai(response)
    assert turn.failure is not None
    assert (turn.failure.status, turn.failure.message) == (429, "Busy")


def test_a_page_in_place_of_a_completion_is_a_failure_with_its_text() -> None:
    turn = Turn.from_openai("<html>Bad gateway</html>")
    assert turn.failure is not None
    assert turn.failure.body == "<html>Bad gateway</html>"


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "because"},
        {"reasoning": "because"},
        {"reasoning_content": "because", "reasoning": "because"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "because"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "because"}]}]},
    ],
)
def test_reasoning_is_read_once_wherever_it_stands(message: dict[str, Any]) -> None:
    assert Turn.from_openai(completion(message)).blocks == (Reasoning("because"),)


def test_encrypted_reasoning_is_redacted() -> None:
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    assert Turn.from_openai(completion({"reasoning_details": details})).blocks == (
        Reasoning("", redacted=True),
    )


def test_of_several_choices_the_first_is_read() -> None:
    second = {"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}
    both = chunk({"content": "A"})
    both["choices"].append(second)
    turn = Turn.from_openai([both, {**both, "choices": [second]}, chunk({}, "stop")])
    assert (turn.text, turn.stop_reason) == ("A", StopReason.STOP)


def test_a_broken_stream_gives_what_came_of_it() -> None:
    reader = ChatStreamReader()
    reader.feed(chunk({"content": "partial"}))
    reader.feed(call_piece(0, '{"pa', "a", "step"))
    turn = reader.turn(failure=Failure.from_text("terminated"))
    assert turn.stop_reason is StopReason.ERROR
    assert turn.failure is not None
    assert turn.failure.message == "terminated"
    assert turn.blocks == (Text("partial"), ToolCall("a", "step", '{"pa'))
    assert turn.executable_calls == ()


def test_an_exception_is_read_into_the_broken_turn() -> None:
    turn = ChatStreamReader().turn(error=ConnectionResetError(104, "reset"))
    assert turn.failure is not None
    assert turn.failure.exceptions == ("ConnectionResetError",)


def test_an_aborted_stream_is_aborted_whatever_it_said() -> None:
    reader = ChatStreamReader()
    reader.feed(chunk({"content": "partial"}, "stop"))
    turn = reader.turn(aborted=True)
    assert (turn.stop_reason, turn.text, turn.failure) == (StopReason.ABORTED, "partial", None)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "index",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "error",
                    "code",
                    "usage",
                    "finish_reason",
                    "refusal",
                    "reasoning",
                    "type",
                    "text",
                    "prompt_tokens",
                    "reasoning_details",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=60)
@given(st.lists(_JSON, max_size=4), _JSON)
def test_no_shape_of_data_makes_reading_raise(chunks: list[Any], response: Any) -> None:
    for turn in (Turn.from_openai(chunks), Turn.from_openai(response)):
        assert (turn.failure is not None) == (turn.stop_reason is StopReason.ERROR)


@settings(max_examples=60)
@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6))
def test_a_text_cut_anywhere_reads_as_the_whole(pieces: list[str]) -> None:
    turn = Turn.from_openai([*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop")])
    assert turn.blocks == Turn.from_openai(completion({"content": "".join(pieces)})).blocks
