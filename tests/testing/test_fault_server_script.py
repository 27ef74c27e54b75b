from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from continuity_core.testing.fault_server import (
    Cut,
    HttpResponse,
    ModelResponse,
    ScriptedToolCall,
    ScriptError,
    Stop,
    TokenUsage,
    parse_script,
)

SCENARIOS = json.loads((Path(__file__).parents[1] / "data" / "scenarios.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_the_responses_of_every_known_scenario_can_be_read(scenario: dict[str, Any]) -> None:
    assert len(parse_script(scenario["responses"])) == len(scenario["responses"])


def test_a_response_is_read_with_all_its_keys() -> None:
    written = {
        "text": "t",
        "reasoning": "r",
        "tool_calls": [{"name": "step", "arguments": '{"cut'}],
        "stop": "length",
        "usage": {"input": 3, "output": 4},
        "cut": "mid_json",
    }
    assert parse_script([written]) == (
        ModelResponse(
            text="t",
            reasoning="r",
            tool_calls=(ScriptedToolCall(name="step", arguments='{"cut'),),
            stop=Stop.LENGTH,
            usage=TokenUsage(input=3, output=4),
            cut=Cut.MID_JSON,
        ),
    )


def test_an_http_response_is_read_with_all_its_keys() -> None:
    written = {"http": 429, "headers": {"Retry-After": 7}, "body": {"detail": "x"}}
    assert parse_script([written]) == (
        HttpResponse(status=429, headers={"Retry-After": "7"}, body={"detail": "x"}),
    )


def test_responses_made_in_code_pass_unchanged() -> None:
    response = ModelResponse(text="done")
    assert parse_script([response, {"text": "done"}]) == (response, response)


def test_the_stop_follows_from_the_content_unless_it_is_given() -> None:
    call = {"name": "step"}
    plain, calls, stated = parse_script(
        [{"text": "x"}, {"tool_calls": [call]}, {"tool_calls": [call], "stop": "stop"}]
    )
    assert isinstance(plain, ModelResponse)
    assert isinstance(calls, ModelResponse)
    assert isinstance(stated, ModelResponse)
    assert (plain.stop, calls.stop, stated.stop) == (Stop.STOP, Stop.TOOL_CALLS, Stop.STOP)


def test_a_length_stop_reports_the_limit_that_was_asked_for() -> None:
    assert ModelResponse(stop="length").tokens(33)[1] == 33
    assert ModelResponse(stop="length").tokens(None)[1] == 64
    assert ModelResponse(text="x").tokens(33)[1] < 33
    assert ModelResponse(stop="length", usage=TokenUsage(input=1, output=2)).tokens(33) == (1, 2)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("text", "must be an object, not 'text'"),
        ({"txt": "x"}, "txt: no such key in a response; did you mean text?"),
        ({"qqq": "x"}, "qqq: no such key in a response; known are text, reasoning, tool_calls"),
        ({"text": 1}, "text: must be text, not 1"),
        ({"reasoning": []}, "reasoning: must be text"),
        ({"stop": "lenght"}, "stop: must be one of stop, length, tool_calls, content_filter, not 'lenght'"),
        ({"stop": ["stop"]}, "stop: must be one of"),
        ({"cut": "rts"}, "cut: must be one of rst, fin, mid_json, no_finish, not 'rts'"),
        ({"tool_calls": {"name": "x"}}, "tool_calls: must be a list"),
        ({"tool_calls": ["x"]}, "tool_calls: call 1 must be an object"),
        ({"tool_calls": [{"name": "x"}, {"arguments": "{}"}]}, "tool_calls: call 2 needs a name"),
        (
            {"tool_calls": [{"name": "x", "arguments": {}}]},
            "tool_calls: call 1, arguments: must be the raw string",
        ),
        ({"tool_calls": [{"name": "x", "id": "1"}]}, "tool_calls: call 1, id: no such key in a call"),
        ({"usage": 5}, "usage: must be an object"),
        ({"usage": {"output": -1}}, "usage, output: must be a whole number of tokens >= 0, not -1"),
        ({"usage": {"output": True}}, "usage, output: must be a whole number of tokens >= 0, not True"),
        ({"usage": {"total": 1}}, "usage, total: no such key in usage"),
        ({"hang": 1}, "hang: must be true or false, not 1"),
        ({"sse_error": {"n": float("nan")}}, "sse_error: cannot be written as JSON"),
        ({"sse_error": {"message": "m"}, "cut": "rst"}, "sse_error: a response ends in one way"),
        ({"cut": "fin", "hang": True}, "hang: a response ends in one way, and cut is given too"),
        ({"status": 503}, "status: belongs to sse_error"),
        ({"sse_error": {}, "status": 99}, "status: must be an HTTP status from 200 to 599, not 99"),
        ({"headers": {}}, "headers: belongs to a response with http"),
        ({"http": "503"}, "http: must be an HTTP status from 200 to 599, not '503'"),
        ({"http": True}, "http: must be an HTTP status from 200 to 599, not True"),
        ({"http": 503, "text": "x"}, "text: no such key next to http"),
        ({"http": 503, "headers": ["x"]}, "headers: must map names to texts"),
        ({"http": 503, "headers": {"x y": "1"}}, "headers: 'x y' is not the name of a header"),
        ({"http": 503, "headers": {"x": "1\r\ny: 2"}}, "headers: 'x' must be a line of printable ASCII"),
        ({"http": 503, "headers": {"x": 1.5}}, "headers: 'x' must be a line of printable ASCII"),
        ({"http": 503, "headers": {"Content-Length": "1"}}, "headers: 'Content-Length' is set by the server"),
        ({"http": 503, "body": {1, 2}}, "body: cannot be written as JSON"),
    ],
)
def test_a_wrong_response_is_named_with_its_number_its_key_and_the_reason(
    written: Any, complaint: str
) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script([{"text": "fine"}, written])
    assert str(caught.value).startswith(f"response 2: {complaint}")


def test_all_wrong_responses_are_named_at_once() -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script([{"cut": "x"}, {"text": "fine"}, {"hang": "x"}])
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["response 1", "response 3"]


def test_responses_made_in_code_are_checked_as_well() -> None:
    with pytest.raises(ValueError, match="tool_calls: must be scripted tool calls"):
        ModelResponse(tool_calls=[{"name": "x"}])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="'x' is not a valid Cut"):
        ModelResponse(cut="x")


def test_only_a_missing_finish_needs_streaming() -> None:
    assert ModelResponse(cut="no_finish").needs_streaming
    assert not ModelResponse(cut="mid_json").needs_streaming
