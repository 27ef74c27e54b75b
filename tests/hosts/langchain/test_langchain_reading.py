"""Messages and errors of LangChain as continuity reads them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage

from continuity_core import Reasoning, StopReason, Text, ToolCall
from continuity_core.hosts.langchain.listening import Listener
from continuity_core.hosts.langchain.live import Invocation
from continuity_core.hosts.langchain.projecting import Reader
from continuity_core.hosts.langchain.reading import failure_of, turn_of, usage_of


def answered(content: Any = "", **metadata: Any) -> AIMessage:
    return AIMessage(content, response_metadata=metadata)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"finish_reason": "stop"}, StopReason.STOP),
        ({"finish_reason": "stopstop"}, StopReason.STOP),
        ({"finish_reason": "length"}, StopReason.LENGTH),
        ({"stop_reason": "max_tokens"}, StopReason.LENGTH),
        ({"stopReason": "tool_use"}, StopReason.TOOL_USE),
        ({"finish_reason": "MAX_TOKENS"}, StopReason.LENGTH),
        ({"done_reason": "length"}, StopReason.LENGTH),
        ({"status": "completed"}, StopReason.STOP),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, StopReason.LENGTH),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, StopReason.ERROR),
        ({"status": "incomplete"}, StopReason.ERROR),
        ({"finish_reason": "content_filter"}, StopReason.ERROR),
        ({"finish_reason": None, "model_provider": "openai"}, StopReason.ERROR),
        ({"model_provider": "anthropic"}, StopReason.ERROR),
        ({"model_provider": "scripted"}, StopReason.STOP),
        ({}, StopReason.STOP),
    ],
)
def test_the_stop_reason_is_read_from_every_integrations_word(
    metadata: dict[str, Any], reason: StopReason
) -> None:
    assert turn_of(answered("text", **metadata)).stop_reason is reason


def test_a_paused_turn_belongs_to_the_host() -> None:
    assert turn_of(answered("text", stop_reason="pause_turn")).unfinished


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "I will not"}),
        AIMessage([{"type": "refusal", "refusal": "I will not"}]),
    ],
)
def test_a_refusal_is_a_failure_with_a_code(message: AIMessage) -> None:
    failure = turn_of(message).failure
    assert failure is not None
    assert (failure.code, "I will not" in failure.message) == ("refusal", True)


def test_blocks_stand_in_the_order_of_the_content() -> None:
    message = AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "t", "name": "step", "input": {}},
            {"type": "text", "text": "after"},
        ],
        tool_calls=[{"name": "step", "args": {}, "id": "t"}],
        response_metadata={"model_provider": "anthropic", "stop_reason": "end_turn"},
    )
    assert turn_of(message).blocks == (Reasoning("hm"), ToolCall("t", "step", "{}"), Text("after"))


def test_a_call_whose_arguments_do_not_parse_is_a_call_too() -> None:
    message = AIMessage(
        "plan",
        tool_calls=[{"name": "a", "args": {"x": 1}, "id": "1"}],
        invalid_tool_calls=[{"name": "b", "args": '{"y', "id": "2", "error": "cut"}],
    )
    assert turn_of(message).blocks == (
        Text("plan"),
        ToolCall("1", "a", '{"x": 1}'),
        ToolCall("2", "b", '{"y'),
    )


def test_the_tokens_are_read_with_their_details() -> None:
    message = AIMessage(
        "",
        usage_metadata={
            "input_tokens": 10,
            "output_tokens": 7,
            "total_tokens": 17,
            "input_token_details": {"cache_read": 4},
            "output_token_details": {"reasoning": 3},
        },
    )
    usage = usage_of(message)
    assert (usage.input_tokens, usage.output_tokens) == (10, 7)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (4, 3)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("server_error: The server had an error"), "server_error", "The server had an error"),
        (ValueError("code='server_error' message='It broke'"), "server_error", "It broke"),
        (ValueError({"code": "rate_limit_exceeded", "message": "Slow"}), "rate_limit_exceeded", "Slow"),
        (ValueError("No code here"), None, "No code here"),
        (KeyError("server_error: no ValueError"), None, None),
    ],
)
def test_the_code_of_an_error_inside_a_response_is_found_in_its_bare_exception(
    error: Exception, code: str | None, message: str | None
) -> None:
    failure = failure_of(error)
    assert failure.code == code
    assert message is None or failure.message == message


def test_a_message_is_read_once_and_again_where_it_was_changed_in_place() -> None:
    reader = Reader()
    message = AIMessage("plan", id="m", tool_calls=[{"name": "a", "args": {}, "id": "1"}])
    first = reader.read([message]).entries()
    assert reader.read([message]).entries()[0] is first[0]
    message.tool_calls = []
    assert reader.read([message]).entries()[0].calls == ()


def test_a_result_goes_with_the_nearest_call_of_its_id() -> None:
    def call(name: str) -> AIMessage:
        return AIMessage("", id=name, tool_calls=[{"name": "a", "args": {}, "id": "same"}])

    messages = [
        HumanMessage("hi", id="h"),
        call("m1"),
        ToolMessage("r1", tool_call_id="same", id="t1"),
        call("m2"),
        ToolMessage("r2", tool_call_id="same", id="t2"),
    ]
    history = Reader().read(messages)
    entry = history.lookup(history.ref(messages[3]))
    assert entry is not None
    assert [partner.key for partner in entry.partners] == ["id:t2"]


def test_what_came_before_a_stream_broke_is_put_together() -> None:
    listener = Listener()
    run: Any = "call"
    listener.on_chat_model_start({}, [], run_id=run)
    for text in ("half ", "an answer"):
        chunk = type("Chunk", (), {"message": AIMessageChunk(text, id="x")})
        listener.on_llm_new_token(text, chunk=chunk, run_id=run)
    listener.on_llm_error(RuntimeError("cut"), run_id=run)
    partial = listener.partial()
    assert partial is not None
    assert (partial.text, type(partial)) == ("half an answer", AIMessage)
    listener.on_chat_model_start({}, [], run_id=run)
    assert (listener.partial(), listener.error, listener.calls) == (None, None, 2)


def test_a_hook_outside_a_graph_is_an_invocation_without_a_thread() -> None:
    assert Invocation.of(None) == Invocation()
