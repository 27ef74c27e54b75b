"""Reading files of scenarios."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from continuity_core.testing.conformance import Scenario, ScenarioError, parse_scenarios, read_scenarios
from continuity_core.testing.conformance.scenario import Range
from continuity_core.testing.fault_server import HttpResponse

SCENARIOS = Path(__file__).resolve().parents[1] / "data" / "scenarios.json"


def one(**keys: Any) -> dict[str, Any]:
    return {"name": "one", "prompts": ["Go"], "responses": [{"text": "done"}], **keys}


def parsed(*scenarios: Any) -> tuple[Scenario, ...]:
    return parse_scenarios(json.dumps(list(scenarios)), "f.json")


def problems_of(*scenarios: Any) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        parsed(*scenarios)
    return [str(problem) for problem in caught.value.problems]


def test_every_scenario_of_the_project_is_read() -> None:
    scenarios = read_scenarios(SCENARIOS)
    assert len(scenarios) == 45
    assert len({scenario.name for scenario in scenarios}) == 45


def test_what_is_not_written_has_the_format_s_defaults() -> None:
    [scenario] = parsed(one(tools=[{"name": "step"}]))
    assert scenario.now == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert scenario.settings == {}
    assert (scenario.host.native_retries, scenario.host.idle_timeout, scenario.host.stream) == (0, None, None)
    assert scenario.tools[0].result == "result of step"
    assert scenario.tools[0].ends_run is None
    assert scenario.expect.requests is None
    assert scenario.expect.final.aborted is None


def test_every_key_is_read() -> None:
    [scenario] = parsed(
        one(
            why="because",
            now="2026-04-01T00:30:00+02:00",
            settings={"max_resumes": 1},
            host={"native_retries": 2, "idle_timeout": 0.5, "stream": False},
            tools=[
                {"name": "a", "result": "r", "ends_run": False},
                {"name": "b", "ends_run": "on_purpose"},
                {"name": "c", "ends_run": "unexplained"},
            ],
            responses=[{"http": 429, "headers": {"retry-after": "7"}, "body": "<html>"}],
            actions=[
                {"at": "response:1", "do": "input", "as": "follow_up", "text": "More"},
                {"at": "wait:12", "do": "abort"},
            ],
            expect={
                "requests": [1, 2],
                "resumes": 0,
                "waits": [5, [6, 7]],
                "ended_waits": [2],
                "tools_run": {"a": [0, 1]},
                "request": {"2": {"has": ["x"], "lacks": ["y"]}},
                "user_messages": 1,
                "final": {"text": "", "stop": "tool_calls", "aborted": False, "cause": "rate_limit"},
            },
        )
    )
    assert scenario.now == datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
    assert [tool.ends_run for tool in scenario.tools] == [None, "on_purpose", "unexplained"]
    assert isinstance(scenario.responses[0], HttpResponse)
    assert [str(action) for action in scenario.actions] == ["input at response:1", "abort at wait:12"]
    assert scenario.user_texts == {"Go", "More"}
    expect = scenario.expect
    assert expect.requests == Range(1, 2)
    assert expect.waits == (Range(5, 5), Range(6, 7))
    assert expect.request[2].lacks == ("y",)
    assert (expect.final.text, expect.final.stop) == ("", "tool_use")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"promts": []}, 'f.json: one.promts: is no key of the format. Did you mean "prompts"?'),
        (
            {"host": {"retries": 1}},
            'f.json: one.host.retries: is no key of the format. Did you mean "native_retries"?',
        ),
        ({"name": " "}, "must be a text with words in it, not ' '"),
        ({"prompts": []}, "f.json: one.prompts: needs at least one text"),
        ({"prompts": "Go"}, "f.json: one.prompts: must be a list, not 'Go'"),
        ({"prompts": [1]}, "f.json: one.prompts[1]: must be a text, not 1"),
        ({"now": "yesterday"}, 'f.json: one.now: is no instant. Write it as "2026-03-01T12:00:00Z".'),
        ({"now": "2026-03-01T12:00:00"}, "f.json: one.now: has no time zone"),
        ({"settings": []}, "f.json: one.settings: must be an object, not []"),
        ({"host": {"idle_timeout": 0}}, "f.json: one.host.idle_timeout: must be more than 0 seconds"),
        ({"host": {"native_retries": 1.5}}, "must be a whole number of at least 0, not 1.5"),
        ({"host": {"stream": "yes"}}, "must be true or false, not 'yes'"),
        ({"tools": [{"name": "a"}, {"name": "a"}]}, 'f.json: one.tools: has two tools named "a"'),
        ({"tools": [{"result": "r"}]}, "f.json: one.tools[1]: has no name"),
        ({"tools": [{"name": 1}]}, "f.json: one.tools[1].name: must be a text, not 1"),
        ({"tools": [{"name": "a", "ends_run": True}]}, "must be false, on_purpose or unexplained, not True"),
        ({"responses": {}}, "f.json: one.responses: must be a list of responses"),
        ({"responses": [{"cut": "half"}]}, "response 1: cut: must be one of rst, fin, mid_json, no_finish"),
        ({"responses": [{"text": "a", "hang": True, "cut": "rst"}]}, "a response ends in one way"),
        ({"actions": [{"do": "off"}]}, "f.json: one.actions[1]: has no at"),
        ({"actions": [{"at": "response:0", "do": "off"}]}, "Write response:N or wait:N, N from 1."),
        ({"actions": [{"at": "wait:1", "do": "of"}]}, 'Did you mean "off"?'),
        ({"actions": [{"at": "wait:1", "do": "input", "as": "steer"}]}, "is an input and has no text"),
        (
            {"actions": [{"at": "wait:1", "do": "abort", "text": "x"}]},
            "belongs to an input, and this is abort",
        ),
        ({"expect": {"requests": -1}}, "must be a number of at least 0, not -1"),
        (
            {"expect": {"requests": [2, 1]}},
            "f.json: one.expect.requests: must be a number, or a range [least, most]",
        ),
        ({"expect": {"waits": 5}}, "f.json: one.expect.waits: must be a list, not 5"),
        ({"expect": {"request": {"0": {}}}}, "is no number of a request"),
        ({"expect": {"request": {"1": {"has": "x"}}}}, "f.json: one.expect.request.1.has: must be a list"),
        ({"expect": {"final": {"stop": "lenght"}}}, 'Did you mean "length"?'),
        (
            {"expect": {"final": {"cause": "weather"}}},
            "f.json: one.expect.final.cause: must be one of final,",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(keys: dict[str, Any], message: str) -> None:
    [problem] = problems_of(one(**keys))
    assert message in problem


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    problems = problems_of(one(now=1, why=2), {"name": "two"}, one(name="three"), one(name="three"), [])
    assert len(problems) == 6
    assert problems[0].startswith("f.json: one.now: must be a text")
    assert problems[1].startswith("f.json: one.why: must be a text")
    assert "f.json: two: has no prompts" in problems
    assert "f.json: two: has no responses" in problems
    assert "f.json: scenario 5: must be an object, not []" in problems
    assert problems[-1] == "f.json: three: is the name of two scenarios"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "f.json: is no JSON: Expecting value"),
        ('[{"expect": {"requests": NaN}}]', "f.json: is no JSON: NaN is no number of JSON"),
        ("{}", "f.json: must be a list, not {}"),
        ("[" * 100_000, "f.json: is no JSON"),
    ],
)
def test_a_file_that_is_no_list_of_scenarios_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenarios(text, "f.json")
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.json: cannot be read: No such file"):
        read_scenarios(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b"[\xff]")
    with pytest.raises(ScenarioError, match="cannot be read: it is not UTF-8"):
        read_scenarios(tmp_path / "latin.json")
