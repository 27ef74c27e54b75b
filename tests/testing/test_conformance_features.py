"""What a scenario asks of a host, and how a host says that it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from bare_host import BareHost, answer, played

from continuity_core.testing.conformance import (
    Feature,
    Mode,
    Status,
    run_scenarios,
    scenarios_of,
)
from continuity_core.testing.conformance.features import features_of


@pytest.mark.anyio
async def test_a_scenario_is_played_streaming_and_not_unless_it_is_pinned() -> None:
    keys: dict[str, Any] = {"prompts": ["Go"], "responses": [{"text": "done"}]}
    scenarios = scenarios_of(
        [
            {"name": "both", **keys},
            {"name": "stream", **keys, "host": {"stream": True}},
            {"name": "whole", **keys, "host": {"stream": False}},
        ]
    )
    results = await run_scenarios(BareHost(answer), scenarios)
    assert [f"{result.scenario.name} [{result.mode}]" for result in results] == [
        "both [chat stream]",
        "both [chat]",
        "stream [chat stream]",
        "whole [chat]",
    ]


@pytest.mark.anyio
async def test_what_a_host_cannot_do_is_unsupported_with_its_reason() -> None:
    host = BareHost(answer, cannot={Feature.STEER: "the loop takes no input", Feature.TOOLS: "never seen"})
    result = await played(host, actions=[{"at": "response:1", "do": "input", "as": "steer", "text": "More"}])
    assert result.status is Status.UNSUPPORTED
    assert str(result) == ("unsupported  one [chat]: steering input while it runs: the loop takes no input")
    assert host.opened == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("response", "actions", "status"),
    [
        ({"text": "half", "cut": "no_finish"}, [], Status.UNSUPPORTED),
        ({"hang": True}, [], Status.UNSUPPORTED),
        ({"hang": True}, [{"at": "response:1", "do": "abort"}], Status.PASS),
    ],
)
async def test_what_only_a_stream_can_do_is_unsupported_without_one(
    response: dict[str, Any], actions: list[dict[str, Any]], status: Status
) -> None:
    result = await played(BareHost(answer), responses=[response], actions=actions)
    assert result.status is status


@pytest.mark.anyio
async def test_every_feature_is_asked_for_by_some_scenario() -> None:
    asked: set[Feature] = set()

    class Curious(BareHost):
        def cannot(self, feature: Feature, mode: Mode) -> str | None:
            asked.add(feature)
            return "nothing is played"

    keys: dict[str, Any] = {"prompts": ["Go"]}
    inputs = [
        {"at": at, "do": "input", "as": kind, "text": "More"}
        for at in ("response:1", "wait:1")
        for kind in ("steer", "follow_up")
    ]
    scenarios = [
        {"name": "prompts", "prompts": ["a", "b"], "responses": []},
        {
            "name": "inputs",
            **keys,
            "responses": [],
            "actions": [*inputs, {"at": "wait:1", "do": "abort"}],
            "expect": {"request": {"1": {"lacks": ["More"]}}},
        },
        {
            "name": "rest",
            **keys,
            "host": {"native_retries": 1, "idle_timeout": 1},
            "tools": [{"name": "a", "ends_run": "on_purpose"}, {"name": "b", "ends_run": "unexplained"}],
            "responses": [
                {"text": "", "reasoning": "r"},
                {"text": "x", "stop": "length", "usage": {"output": 5}},
                {"text": "x", "tool_calls": [{"name": "a"}], "stop": "length"},
                {"text": "x", "stop": "content_filter"},
                {"text": "x", "sse_error": {}},
                {"text": "x", "cut": "rst"},
                {"http": 500},
            ],
            "actions": [
                {"at": "response:1", "do": "abort"},
                {"at": "wait:1", "do": "abort"},
                {"at": "wait:1", "do": "off"},
            ],
            "expect": {"final": {"text": "x"}},
        },
        {"name": "no finish", **keys, "responses": [{"text": "x", "cut": "no_finish"}]},
    ]
    await run_scenarios(Curious(answer), scenarios_of(scenarios))
    assert asked == set(Feature)


@pytest.mark.parametrize(
    ("scenario", "is_needed"),
    [
        ({"expect": {"final": {"text": "half of it"}}}, True),
        ({"expect": {"final": {"text": "half"}}}, True),
        ({"expect": {"request": {"2": {"has": ["half of it"]}}}}, True),
        (
            {"expect": {"request": {"2": {"has": ["half of it"]}}}, "settings": {"allow_injection": ["p"]}},
            False,
        ),
        ({"expect": {"request": {"2": {"lacks": ["half of it"]}}}}, False),
        ({"expect": {"final": {"text": "done"}}}, False),
        ({"expect": {"final": {"text": ""}}}, False),
        ({}, False),
    ],
)
def test_a_half_that_is_expected_again_must_have_been_returned(
    scenario: dict[str, Any], is_needed: bool
) -> None:
    responses = [{"text": "half of it", "stop": "length"}, {"stop": "length"}, {"http": 500}]
    [parsed] = scenarios_of([{"name": "a", "prompts": ["Go"], "responses": responses, **scenario}])
    assert (Feature.LENGTH_AS_RESULT in features_of(parsed, stream=True)) is is_needed


STEP = {"name": "step", "arguments": '{"path": "x"}'}


@pytest.mark.parametrize(
    ("calls", "text", "is_needed"),
    [([STEP], "half of it", True), ([STEP], "done", False), ([], "half of it", False)],
)
def test_a_half_beside_a_cut_call_is_returned_by_a_host_that_ends_there_only(
    calls: list[Any], text: str, is_needed: bool
) -> None:
    responses = [{"text": "half of it", "tool_calls": calls, "stop": "length"}, {"text": "done"}]
    scenario = {"expect": {"request": {"2": {"has": [text]}}}, "tools": [{"name": "step"}]}
    [parsed] = scenarios_of([{"name": "a", "prompts": ["Go"], "responses": responses, **scenario}])
    assert (Feature.CUT_CALL_AS_RESULT in features_of(parsed, stream=True)) is is_needed


@pytest.mark.parametrize(
    ("lacks", "then", "is_needed"),
    [(["Turn left"], "abort", True), (["Turn left"], "off", False), (["half"], "abort", False)],
)
def test_input_that_is_never_to_be_sent_after_an_abort_must_be_taken_back(
    lacks: list[str], then: str, is_needed: bool
) -> None:
    actions = [
        {"at": "response:1", "do": "input", "as": "steer", "text": "Turn left"},
        {"at": "response:1", "do": then},
    ]
    scenario = {"actions": actions, "expect": {"request": {"2": {"lacks": lacks}}}}
    responses = [{"text": "half of it"}, {"text": "done"}]
    [parsed] = scenarios_of([{"name": "a", "prompts": ["Go", "Again"], "responses": responses, **scenario}])
    assert (Feature.DROPPED_INPUT in features_of(parsed, stream=True)) is is_needed
