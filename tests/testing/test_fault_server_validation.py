"""What the server makes of a request: its normalised form, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from continuity_core.testing.fault_server import (
    FaultServer,
    LoggedRequest,
    ReceivedCall,
    ReceivedResult,
    ThreadedFaultServer,
)

USER = {"role": "user", "content": "task"}


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedFaultServer]:
    with FaultServer.in_thread() as running:
        yield running


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=5, trust_env=False) as client:
        yield client


def post(
    server: ThreadedFaultServer, http: httpx2.Client, endpoint: str, payload: Any
) -> tuple[httpx2.Response, LoggedRequest]:
    server.play([{"text": "done"}])
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    response = http.post(server.base_url + endpoint, content=content)
    (logged,) = server.requests
    return response, logged


def chat_call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "step", "arguments": "{}"}}


def chat_result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "result"}


def claude_call(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "step", "input": {}}


def claude_result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "result"}


CHAT_CALLS = {"role": "assistant", "content": None, "tool_calls": [chat_call("a"), chat_call("b")]}
CLAUDE_CALLS = {"role": "assistant", "content": [claude_call("a"), claude_call("b")]}
NEXT = {"role": "user", "content": "next"}


def response_call(call_id: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": "step",
        "arguments": "{}",
    }


def response_result(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "result"}


RESPONSE_REASONING = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
RESPONSE_CALLS = [RESPONSE_REASONING, response_call("a"), response_call("b")]
RESPONSE_WORDS = {
    "type": "message",
    "role": "assistant",
    "id": "msg",
    "status": "completed",
    "content": [{"type": "output_text", "text": "words", "annotations": []}],
}


def field_of(endpoint: str) -> str:
    return "input" if endpoint == "/responses" else "messages"


VALID: list[tuple[str, Any]] = [
    ("/chat/completions", [USER]),
    ("/chat/completions", [{"role": "developer", "content": "be brief"}, USER]),
    ("/chat/completions", [USER, CHAT_CALLS, chat_result("b"), chat_result("a")]),
    ("/chat/completions", [USER, CHAT_CALLS, chat_result("a"), chat_result("b"), NEXT]),
    ("/chat/completions", [USER, {"role": "assistant", "content": "words"}, NEXT]),
    ("/chat/completions", [USER, {"role": "assistant", "content": None, "refusal": "no"}, NEXT]),
    ("/chat/completions", [{"role": "user", "content": [{"type": "text", "text": "task"}]}, NEXT]),
    ("/messages", [USER]),
    (
        "/messages",
        [USER, CLAUDE_CALLS, {"role": "user", "content": [claude_result("b"), claude_result("a")]}],
    ),
    (
        "/messages",
        [
            USER,
            CLAUDE_CALLS,
            {"role": "user", "content": [claude_result("a")]},
            {"role": "user", "content": [claude_result("b"), {"type": "text", "text": "next"}]},
        ],
    ),
    ("/messages", [USER, {"role": "assistant", "content": [{"type": "text", "text": "words"}]}, NEXT]),
    ("/messages", [USER, {"role": "system", "content": "be brief"}]),
    ("/responses", "task"),
    ("/responses", [USER]),
    ("/responses", [{"role": "developer", "content": "be brief"}, USER]),
    ("/responses", [USER, *RESPONSE_CALLS, response_result("b"), response_result("a")]),
    ("/responses", [USER, RESPONSE_WORDS, response_call("a"), response_result("a"), NEXT]),
    ("/responses", [USER, RESPONSE_REASONING, RESPONSE_WORDS, NEXT]),
    ("/responses", [{"role": "user", "content": [{"type": "input_text", "text": "task"}]}, NEXT]),
    (
        "/responses",
        [USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, NEXT],
    ),
]

INVALID: list[tuple[str, Any, str]] = [
    ("/chat/completions", [], "there are no messages"),
    ("/chat/completions", [USER, chat_result("a")], "orphan tool result: message 2 answers 'a'"),
    (
        "/chat/completions",
        [USER, CHAT_CALLS, chat_result("a"), chat_result("b"), chat_result("b")],
        "orphan tool result: message 5",
    ),
    ("/chat/completions", [USER, CHAT_CALLS, chat_result("a")], "unanswered call: step (b)"),
    ("/chat/completions", [USER, CHAT_CALLS, chat_result("a"), NEXT], "(b) has no result before message 4"),
    ("/chat/completions", [USER, {"role": "assistant", "content": ""}, NEXT], "empty assistant: message 2"),
    ("/chat/completions", [USER, {"role": "assistant", "content": " \n"}, NEXT], "empty assistant"),
    (
        "/chat/completions",
        [USER, {"role": "assistant", "content": None, "reasoning_content": "hm"}, NEXT],
        "empty assistant",
    ),
    ("/chat/completions", [USER, {"role": "assistant", "content": "words"}], "assistant last"),
    ("/chat/completions", "text", "malformed: messages must be a list of objects"),
    ("/chat/completions", [{"role": "robot", "content": "x"}], "malformed: a message has the role 'robot'"),
    (
        "/chat/completions",
        [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]}],
        "malformed: a tool call needs",
    ),
    ("/messages", [], "there are no messages"),
    ("/messages", [{"role": "user", "content": [claude_result("a")]}], "orphan tool result: message 1"),
    ("/messages", [USER, CLAUDE_CALLS, NEXT], "unanswered call: step (a) has no result before message 3"),
    (
        "/messages",
        [
            USER,
            CLAUDE_CALLS,
            {"role": "user", "content": [claude_result("a"), {"type": "text", "text": "next"}]},
        ],
        "unanswered call: step (b)",
    ),
    ("/messages", [USER, {"role": "assistant", "content": []}, NEXT], "empty assistant: message 2"),
    (
        "/messages",
        [
            USER,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
            NEXT,
        ],
        "empty assistant",
    ),
    ("/messages", [USER, {"role": "assistant", "content": "words"}], "assistant last"),
    ("/messages", [{"role": "system", "content": "x"}], "there are no messages but the system's"),
    ("/messages", [{"role": "robot", "content": "x"}], "malformed: a message has the role 'robot'"),
    ("/messages", [{"role": "user", "content": ["x"]}], "malformed: content must be a list of objects"),
    (
        "/messages",
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "{}"}]}],
        "malformed: a tool_use block needs",
    ),
    ("/responses", [], "there are no messages"),
    ("/responses", [USER, response_result("a")], "orphan tool result: message 2 answers 'a'"),
    ("/responses", [USER, *RESPONSE_CALLS, response_result("a")], "unanswered call: step (b)"),
    (
        "/responses",
        [USER, *RESPONSE_CALLS, response_result("a"), NEXT],
        "(b) has no result before message 4",
    ),
    ("/responses", [USER, {"role": "assistant", "content": ""}, NEXT], "empty assistant: message 2"),
    ("/responses", [USER, RESPONSE_REASONING, NEXT], "empty assistant: message 2"),
    ("/responses", [USER, RESPONSE_WORDS], "assistant last"),
    ("/responses", 7, "malformed: input must be a list of objects"),
    ("/responses", [{"role": "robot", "content": "x"}], "malformed: a message has the role 'robot'"),
    ("/responses", [{"role": "user", "content": ["x"]}], "malformed: content must be a list of objects"),
    (
        "/responses",
        [{"type": "function_call", "call_id": "a", "name": "f", "arguments": {}}],
        "malformed: a function_call needs",
    ),
    (
        "/responses",
        [{"type": "function_call_output", "call_id": "a", "output": None}],
        "malformed: a function_call_output needs",
    ),
    (
        "/responses",
        [{"type": "item_reference", "id": "msg_1"}],
        "malformed: item 'msg_1' is referred to, and nothing is stored here",
    ),
]


@pytest.mark.parametrize(("endpoint", "messages"), VALID)
def test_a_valid_conversation_is_answered(
    server: ThreadedFaultServer, http: httpx2.Client, endpoint: str, messages: Any
) -> None:
    payload = {"model": "m", "max_tokens": 9, field_of(endpoint): messages}
    response, logged = post(server, http, endpoint, payload)
    assert response.status_code == 200
    assert logged.problems == ()
    assert server.violations == []


@pytest.mark.parametrize(("endpoint", "messages", "problem"), INVALID)
def test_an_invalid_conversation_is_refused_in_the_dialects_own_form(
    server: ThreadedFaultServer, http: httpx2.Client, endpoint: str, messages: Any, problem: str
) -> None:
    payload = {"model": "m", "max_tokens": 9, "system": "be brief", field_of(endpoint): messages}
    response, logged = post(server, http, endpoint, payload)
    assert response.status_code == 400
    body = response.json()
    assert problem in body["error"]["message"]
    assert body["error"]["type"] == "invalid_request_error"
    assert ("type" in body) is (endpoint == "/messages")
    assert any(problem in found for found in logged.problems)
    assert server.violations == [f"request 1: {found}" for found in logged.problems]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'"x"', b"[" * 100_000])
@pytest.mark.parametrize("endpoint", ["/chat/completions", "/responses", "/messages"])
def test_a_body_that_is_no_json_object_is_refused(
    server: ThreadedFaultServer, http: httpx2.Client, endpoint: str, body: bytes
) -> None:
    response, logged = post(server, http, endpoint, body)
    assert response.status_code == 400
    assert logged.problems[0].startswith("malformed: ")
    assert logged.body == body


def test_an_invalid_request_takes_its_place_in_the_script(
    server: ThreadedFaultServer, http: httpx2.Client
) -> None:
    server.play([{"text": "first"}, {"text": "second"}])
    url = server.base_url + "/chat/completions"
    assert http.post(url, json={"messages": []}).status_code == 400
    assert http.post(url, json={"messages": [USER]}).json()["choices"][0]["message"]["content"] == "second"


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_responses_request_that_builds_on_something_stored_is_refused(
    server: ThreadedFaultServer, http: httpx2.Client, key: str
) -> None:
    response, logged = post(server, http, "/responses", {"input": [USER], key: "stored-1"})
    assert response.status_code == 400
    assert logged.problems == (f"malformed: {key} is set, and nothing is stored here",)


@pytest.mark.parametrize("endpoint", ["/chat/completions", "/responses", "/messages"])
def test_a_request_beyond_the_script_is_a_violation(
    server: ThreadedFaultServer, http: httpx2.Client, endpoint: str
) -> None:
    server.play([])
    response = http.post(server.base_url + endpoint, json={field_of(endpoint): [USER]})
    assert response.status_code == 500
    assert server.violations == ["request 1: beyond the script of 0 responses"]
    assert response.json()["error"]["message"] == server.violations[0]


def test_other_endpoints_take_no_response(server: ThreadedFaultServer, http: httpx2.Client) -> None:
    server.play([{"text": "done"}])
    assert http.get(server.base_url + "/models").status_code == 404
    assert http.get(server.base_url + "/chat/completions").status_code == 405
    assert server.unserved == ["GET /v1/models (404)", "GET /v1/chat/completions (405)"]
    assert server.requests == []
    assert server.violations == []


def test_a_chat_request_is_logged_in_normalised_form(
    server: ThreadedFaultServer, http: httpx2.Client
) -> None:
    arguments = json.dumps({"id": "in the arguments", "deep": ['say "hi"']})
    call = {"id": "call_1", "type": "function", "function": {"name": "step", "arguments": arguments}}
    messages = [
        {"role": "system", "content": "SYSTEM"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": "words", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "RESULT"}]},
        {"role": "user", "content": "three"},
    ]
    payload = {"model": "m", "max_tokens": 5, "max_completion_tokens": 6, "messages": messages}
    _, logged = post(server, http, "/chat/completions?api-version=1", payload)
    assert (logged.number, logged.method, logged.dialect) == (1, "POST", "chat")
    assert logged.path == "/v1/chat/completions?api-version=1"
    assert logged.header("Content-Length") == str(len(logged.body))
    assert json.loads(logged.body) == payload
    assert (logged.decoded.model, logged.decoded.output_limit, logged.decoded.stream) == ("m", 6, False)
    assert [message.role for message in logged.messages] == ["system", "user", "assistant", "tool", "user"]
    assert logged.user_texts == ("one", "two", "three")
    assert logged.messages[2].calls == (ReceivedCall(id="call_1", name="step", arguments=arguments),)
    assert logged.messages[3].results == (ReceivedResult(call_id="call_1", text="RESULT"),)
    assert logged.strings == (
        *("one", "two", "words", "step", arguments, "in the arguments", 'say "hi"', "RESULT", "three"),
    )
    assert logged.mentions('say "hi"')
    assert not logged.mentions("SYSTEM")
    assert not logged.mentions("call_1")


def test_an_anthropic_request_is_logged_in_normalised_form(
    server: ThreadedFaultServer, http: httpx2.Client
) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "step", "input": {"type": "in the input", "n": 1}}
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "is_error": True,
        "content": [{"type": "text", "text": "RESULT"}],
    }
    thinking = {"type": "thinking", "thinking": "THOUGHT", "signature": "SIGNATURE"}
    messages = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "words"}, use]},
        {"role": "user", "content": [result, {"type": "text", "text": "two"}]},
    ]
    payload = {
        "model": "m",
        "max_tokens": 5,
        "system": [{"type": "text", "text": "SYSTEM"}],
        "messages": messages,
    }
    _, logged = post(server, http, "/messages", payload)
    assert (logged.dialect, logged.decoded.output_limit) == ("anthropic", 5)
    assert [message.role for message in logged.messages] == ["user", "assistant", "user"]
    assert logged.decoded.instructions == ("SYSTEM",)
    assert logged.user_texts == ("one", "two")
    assert [json.loads(call.arguments) for call in logged.messages[1].calls] == [
        {"type": "in the input", "n": 1}
    ]
    assert logged.messages[2].results == (ReceivedResult(call_id="toolu_1", text="RESULT", is_error=True),)
    assert logged.strings == (
        *("one", "THOUGHT", "SIGNATURE", "words", "step", "in the input", "RESULT", "two"),
    )
    assert not logged.mentions("SYSTEM")
    assert not logged.mentions("toolu_1")


def test_a_responses_request_is_logged_in_normalised_form(
    server: ThreadedFaultServer, http: httpx2.Client
) -> None:
    arguments = json.dumps({"id": "in the arguments", "deep": ['say "hi"']})
    call = {**response_call("call_1"), "arguments": arguments, "status": "completed"}
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "THOUGHT"}],
        "encrypted_content": "SIGNATURE",
    }
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "one"}]},
        reasoning,
        RESPONSE_WORDS,
        call,
        {**response_result("call_1"), "output": [{"type": "input_text", "text": "RESULT"}]},
        {"role": "user", "content": "two"},
    ]
    payload = {"model": "m", "max_output_tokens": 5, "instructions": "SYSTEM", "input": items}
    _, logged = post(server, http, "/responses", payload)
    assert (logged.dialect, logged.decoded.output_limit, logged.decoded.stream) == ("responses", 5, False)
    assert [message.role for message in logged.messages] == ["user", "assistant", "tool", "user"]
    assert logged.decoded.instructions == ("SYSTEM",)
    assert logged.user_texts == ("one", "two")
    assert logged.messages[1].texts == ("words",)
    assert logged.messages[1].calls == (ReceivedCall(id="call_1", name="step", arguments=arguments),)
    assert logged.messages[2].results == (ReceivedResult(call_id="call_1", text="RESULT"),)
    assert logged.strings == (
        *("one", "THOUGHT", "SIGNATURE", "words", "step", arguments, "in the arguments", 'say "hi"'),
        *("RESULT", "two"),
    )
    assert not logged.mentions("SYSTEM")
    assert not logged.mentions("call_1")
    assert not logged.mentions("completed")
