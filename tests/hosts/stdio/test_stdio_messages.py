"""Rubbish in: a JSON-RPC error out, and a living server."""

from __future__ import annotations

import json

import pytest
from stdio_client import SCHEMAS, serving, turn

from continuity_core.hosts.stdio.rpc import LINE_LIMIT


def call(method: str = "session/status", params: object = None, **more: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}, **more}).encode()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"rubbish", -32700),
        (b"\xff\xfe\x00", -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"n": NaN}}', -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"n": -Infinity}}', -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b"null", -32600),
        (b'{"id": 7, "method": "session/status"}', -32600),
        (call(jsonrpc="1.0"), -32600),
        (call(id=True), -32600),
        (call(id=1.5), -32600),
        (call(method=""), -32601),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": [1]}', -32602),
        (call("session/status", {"session": {"a": 1}}), -32602),
        (call("session/status", {"session": "unknown"}), -32002),
        (call("no/such/method"), -32601),
        (call("run/turn_ended", {"session": "s", "turn": {"stop_reason": "tired"}}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": {"stop_reason": "stop", "blocks": {}}}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": {"stop_reason": "stop", "blocks": [1]}}), -32602),
        (call("run/turn_ended", {"session": "s"}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": turn(usage={"output_tokens": -1})}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": turn(requests=True)}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": turn(), "host": {"deadline": "noon"}}), -32602),
        (call("run/turn_ended", {"session": "s", "turn": turn(failure={"headers": {"a": 1}})}), -32602),
        (call("run/before_settle", {"session": "s", "host": 5}), -32602),
        (call("run/project", {"session": "s", "entries": [{"ref": "a", "role": "ghost"}]}), -32602),
        (call("run/project", {"session": "s", "keep": 5}), -32004),
        (call("run/input_arrived", {"session": "s", "kind": "shout"}), -32602),
        (call("session/toggle", {"session": "s", "disable": ["no-such-plugin"]}), -32003),
        (call("run/unscheduled", {"session": "s", "why": "x"}), -32003),
        (call("initialize", {"protocol": 2}), -32001),
        (call("initialize", {"protocol": 1, "spec_version": [9, 9]}), -32001),
    ],
)
def test_rubbish_is_answered_by_an_error_and_the_server_lives(line: bytes, code: int) -> None:
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        client.write(line + b"\n")
        answer = client.message()
        while "error" not in answer:
            answer = client.message()
        assert answer["error"]["code"] == code, answer
        assert answer["error"]["message"]
        assert client.ask("session/status", session="s")["mode"] == "on"


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_read() -> None:
    with serving() as client:
        client.open()
        client.write(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (LINE_LIMIT * 2) + b'"}\n')
        assert client.message()["error"]["code"] == -32600
        assert client.ask("session/status", session="s")["mode"] == "on"


def test_params_are_not_nested_without_end() -> None:
    deep: object = "bottom"
    for _ in range(100):
        deep = {"deeper": deep}
    with serving() as client:
        client.open()
        code, message = client.refusal("session/open", session="t", settings={"a": deep})
        assert (code, "levels" in message) == (-32602, True)


def test_nothing_is_served_before_initialize() -> None:
    with serving() as client:
        assert client.refusal("session/open", session="s")[0] == -32000


def test_a_blank_line_is_no_message() -> None:
    with serving() as client:
        client.write(b"\n  \n")
        assert client.ask("initialize", protocol=1)["protocol"] == 1


def test_a_notification_is_never_answered_even_when_it_fails() -> None:
    with serving() as client:
        client.open(events=[])
        client.write(b'{"jsonrpc": "2.0", "method": "run/abort", "params": {"session": "s"}}\n')
        client.write(b'{"jsonrpc": "2.0", "method": "run/turn_ended", "params": {"session": "s"}}\n')
        client.write(b'{"jsonrpc": "2.0", "method": "no/such", "params": {}}\n')
        id = client.start("session/status", session="s")
        assert client.message()["id"] == id


def test_initialize_names_every_method_and_each_has_its_schema() -> None:
    with serving() as client:
        served = client.ask("initialize", protocol=1, client={"name": "test", "version": None})
    methods = {f"{name.replace('/', '.')}.json" for name in served["capabilities"]["methods"]}
    notifications = {f"notification.{name}.json" for name in served["capabilities"]["notifications"]}
    assert methods | notifications | {"common.json"} == set(SCHEMAS.files)


def test_texts_of_a_provider_with_lone_surrogates_pass() -> None:
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        client.write(
            b'{"jsonrpc":"2.0","id":"u","method":"run/turn_ended","params":{"session":"s",'
            b'"turn":{"stop_reason":"error","failure":{"message":"terminated \\ud83d"},"entry":"a"}}}\n'
        )
        assert client.answer("u")["result"]["outcome"] == "deferred"
