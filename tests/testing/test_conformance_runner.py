"""The runner finds what a host does wrong; the hosts here do it on purpose."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from bare_host import RECOVERY, BareHost, BareSession, answer, played, recover

from continuity_core.testing.conformance import (
    HostResult,
    Result,
    Status,
    as_json,
    check_settings,
    run_scenarios,
    scenarios_of,
    selected,
)
from continuity_core.testing.conformance.parsing import ScenarioError


@pytest.mark.anyio
async def test_a_host_that_does_what_is_expected_passes() -> None:
    host = BareHost(answer)
    result = await played(
        host, expect={"requests": 1, "resumes": 0, "waits": [], "tools_run": {}, "final": {"text": "done"}}
    )
    assert (result.status, result.reasons) == (Status.PASS, ())
    assert str(result) == "pass  one [chat]"
    assert host.closed == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        ({"requests": 2}, "requests: expected 2, was 1"),
        ({"requests": [2, 3]}, "requests: expected 2 to 3, was 1"),
        ({"resumes": 1}, "resumes: expected 1, was 0"),
        ({"waits": [5, 10]}, "waits: expected [5, 10], was []"),
        ({"ended_waits": [1]}, "ended_waits: expected [1], was []"),
        ({"user_messages": 2}, "user_messages: expected 2, was 1"),
        ({"tools_run": {"step": 1}}, "tools_run.step: expected 1, was 0"),
        ({"request": {"1": {"has": ["absent"]}}}, 'request.1: lacks "absent"'),
        ({"request": {"1": {"lacks": ["Go"]}}}, 'request.1: has "Go"'),
        ({"request": {"2": {"has": ["Go"]}}}, "request.2: there were only 1"),
        ({"final": {"text": "more"}}, 'final.text: expected "more", was "done"'),
        ({"final": {"stop": "length"}}, 'final.stop: expected "length", was "stop"'),
        ({"final": {"aborted": True}}, "final.aborted: expected true, was false"),
        ({"final": {"cause": "empty"}}, 'final.cause: expected "empty", was nothing'),
    ],
)
async def test_each_difference_is_one_sentence(expect: dict[str, Any], reason: str) -> None:
    result = await played(BareHost(answer), expect=expect)
    assert (result.status, result.reasons) == (Status.FAIL, (reason,))
    assert str(result) == f"FAIL  one [chat]: {reason}"


@pytest.mark.anyio
async def test_a_tool_that_is_not_named_must_not_run() -> None:
    async def runs_it(session: BareSession, text: str) -> HostResult:
        session.play.tools[0].run(path="x")
        return await answer(session, text)

    result = await played(BareHost(runs_it), tools=[{"name": "step"}], expect={"tools_run": {}})
    assert result.reasons == ("tools_run.step: expected 0, was 1",)


@pytest.mark.anyio
async def test_an_error_is_shown_where_a_text_was_expected() -> None:
    async def fails(session: BareSession, text: str) -> HostResult:
        return HostResult(text=None, error=await session.say(text))

    result = await played(
        BareHost(fails),
        responses=[{"http": 503, "body": {"error": {"message": "overloaded"}}}],
        expect={"final": {"text": "done"}},
    )
    assert result.reasons == ('final.text: expected "done", was nothing (error: overloaded)',)


@pytest.mark.anyio
async def test_a_request_beyond_the_list_fails_whatever_is_expected() -> None:
    async def asks_twice(session: BareSession, text: str) -> HostResult:
        await session.say(text)
        return HostResult(text=await session.ask())

    result = await played(BareHost(asks_twice), expect={"requests": 2})
    assert result.reasons == ("request 2: beyond the script of 1 responses",)


@pytest.mark.anyio
async def test_a_request_that_no_provider_accepts_fails() -> None:
    async def sends_an_assistant_last(session: BareSession, text: str) -> HostResult:
        return HostResult(
            text=await session.ask(
                {"role": "user", "content": text}, {"role": "assistant", "content": "half"}
            )
        )

    result = await played(BareHost(sends_an_assistant_last))
    assert result.reasons[0].startswith("request 1: assistant last")


@pytest.mark.anyio
async def test_a_user_text_that_no_user_said_fails_unless_the_host_declares_or_starts_with_it() -> None:
    async def nudges(session: BareSession, text: str) -> HostResult:
        await session.ask(
            {"role": "user", "content": "Context of the host"}, {"role": "user", "content": text}
        )
        return HostResult(text=await session.say("Please go on"))

    keys: dict[str, Any] = {"responses": [{"text": ""}, {"text": "done"}], "expect": {"user_messages": 1}}
    result = await played(BareHost(nudges), **keys)
    assert result.reasons == (
        'a user text that no user said: "Please go on"',
        "user_messages: expected 1, was 2",
    )
    assert (await played(BareHost(nudges, adds="Please go on"), **keys)).status is Status.PASS
    allowed = {**keys, "settings": {"allow_injection": ["partial-checkpoint"]}, "expect": {}}
    assert (await played(BareHost(nudges), **allowed)).status is Status.PASS


@pytest.mark.anyio
async def test_prompts_follow_one_another_also_after_a_failed_run() -> None:
    result = await played(
        BareHost(answer),
        prompts=["First", "Second"],
        responses=[{"http": 500, "body": {"error": {"message": "broken"}}}, {"text": "done"}],
        expect={"requests": 2, "request": {"2": {"has": ["First", "Second"]}}, "final": {"text": "done"}},
    )
    assert result.status is Status.PASS


@pytest.mark.anyio
async def test_a_driver_that_raises_is_a_failure_and_the_next_scenario_is_played() -> None:
    async def raises_at_bad(session: BareSession, text: str) -> HostResult:
        if text == "Bad":
            raise KeyError("missing")
        return await answer(session, text)

    scenarios = scenarios_of(
        [
            {"name": name, "prompts": [name], "responses": [{"text": "done"}], "host": {"stream": False}}
            for name in ("Bad", "Good")
        ]
    )
    seen: list[Result] = []
    results = await run_scenarios(BareHost(raises_at_bad), scenarios, on_result=seen.append)
    assert [result.status for result in results] == [Status.FAIL, Status.PASS]
    assert results[0].reasons == ("the driver raised KeyError: 'missing'",)
    assert tuple(seen) == results


@pytest.mark.anyio
async def test_a_host_that_hangs_is_a_failure_after_the_time_limit() -> None:
    async def hangs(session: BareSession, text: str) -> HostResult:
        await session.say(text)
        await anyio.sleep_forever()
        raise AssertionError

    result = await played(BareHost(hangs), time_limit=0.2)
    assert result.reasons == ("no end after 0.2 s: prompt 1 of 1 was going on, 1 requests had come",)


def test_scenarios_are_chosen_by_a_glob() -> None:
    scenarios = scenarios_of(
        [{"name": name, "prompts": ["Go"], "responses": []} for name in ("cut-a", "cut-b", "Cut-c")]
    )
    assert [scenario.name for scenario in selected(scenarios, "cut-*")] == ["cut-a", "cut-b"]
    assert selected(scenarios, None) == scenarios


def test_settings_that_continuity_does_not_accept_are_found_before_anything_is_played() -> None:
    scenarios = scenarios_of(
        [
            {"name": "a", "prompts": ["Go"], "responses": [], "settings": {"max_resume": 1}},
            {
                "name": "b",
                "prompts": ["Go"],
                "responses": [],
                "settings": {"plugins": {"stream-recovery": {"retries": -1}}},
            },
        ]
    )
    with pytest.raises(ScenarioError) as caught:
        check_settings(scenarios, "f.json")
    first, second = map(str, caught.value.problems)
    assert first.startswith("f.json: a.settings: ")
    assert 'Did you mean "max_resumes"?' in first
    assert second.startswith("f.json: b.settings: ")
    assert "retries" in second


@pytest.mark.anyio
async def test_the_results_are_given_as_json() -> None:
    result = await played(BareHost(recover), **RECOVERY, expect={"requests": 3})
    value = json.loads(json.dumps(as_json("bare", "f.json", False, [result])))
    [told] = value.pop("results")
    assert value == {
        "host": "bare",
        "file": "f.json",
        "observe": False,
        "summary": {"pass": 0, "fail": 1, "unsupported": 0},
    }
    assert told.pop("seconds") > 0
    assert told == {
        "name": "one",
        "dialect": "chat",
        "stream": False,
        "status": "fail",
        "reasons": ["requests: expected 3, was 2"],
        "observed": {
            "requests": 2,
            "resumes": 1,
            "waits": [5.0],
            "ended_waits": [],
            "tools_run": {},
            "final": {"text": "done", "stop": "stop", "aborted": False, "error": None, "cause": "final"},
        },
    }
