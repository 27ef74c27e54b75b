"""The runner finds what a host does wrong; the hosts here do it on purpose."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from continuity_core import HostFacts, Run, StopReason, Text, Turn
from continuity_core.model.host_facts import InputKind
from continuity_core.testing.conformance import (
    Feature,
    HostResult,
    HostSession,
    Mode,
    Play,
    Result,
    Status,
    as_json,
    check_settings,
    run_scenarios,
    scenarios_of,
    selected,
)
from continuity_core.testing.conformance.features import features_of
from continuity_core.testing.conformance.parsing import ScenarioError

Prompt = Callable[["BareSession", str], Awaitable[HostResult]]


class BareSession:
    """A host of a few lines; what a prompt does is the test's."""

    def __init__(self, play: Play, client: httpx2.AsyncClient, prompt: Prompt) -> None:
        self.play = play
        self.client = client
        self.on_prompt = prompt
        self.messages: list[dict[str, Any]] = []
        self.run: Run | None = None
        self.scope = anyio.CancelScope()

    async def ask(self, *messages: dict[str, Any]) -> str:
        """Send a request with these messages added; the answer's text, or the error's."""
        self.messages += messages
        response = await self.client.post(
            f"{self.play.base_url}/chat/completions", json={"model": "m", "messages": self.messages}
        )
        if response.status_code != 200:
            return str(response.json()["error"]["message"])
        return str(response.json()["choices"][0]["message"]["content"])

    async def say(self, text: str) -> str:
        return await self.ask({"role": "user", "content": text})

    async def prompt(self, text: str) -> HostResult:
        with anyio.CancelScope() as self.scope:
            return await self.on_prompt(self, text)
        return HostResult(aborted=True)

    async def abort(self) -> None:
        self.scope.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        raise RuntimeError(f"no {kind} here")

    async def switch(self, on: bool) -> None:
        assert self.play.continuity is not None
        if on:
            self.play.continuity.enable()
        else:
            self.play.continuity.disable()


class BareHost:
    name = "bare"
    dialects = ("chat",)

    def __init__(self, prompt: Prompt, cannot: dict[Feature, str] | None = None, adds: str = "") -> None:
        self.on_prompt = prompt
        self.table = cannot or {}
        self.adds = adds
        self.opened: list[BareSession] = []
        self.closed = 0

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        return self.table.get(feature)

    def adds_text(self, text: str) -> bool:
        return text == self.adds

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=5) as client:
            session = BareSession(play, client, self.on_prompt)
            self.opened.append(session)
            yield session

    async def aclose(self) -> None:
        self.closed += 1


async def answer(session: BareSession, text: str) -> HostResult:
    """What a good host without recovery does."""
    return HostResult(text=await session.say(text), stop="stop")


async def played(host: BareHost, time_limit: float = 5.0, **keys: Any) -> Result:
    scenario = {"name": "one", "prompts": ["Go"], "responses": [{"text": "done"}], **keys}
    scenario.setdefault("host", {"stream": False})
    [result] = await run_scenarios(host, scenarios_of([scenario]), time_limit=time_limit)
    return result


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


# ------------------------------------------------------------------------------------------ actions


@pytest.mark.anyio
async def test_an_action_that_finds_no_moment_fails() -> None:
    result = await played(
        BareHost(answer), actions=[{"at": "response:2", "do": "off"}, {"at": "wait:1", "do": "abort"}]
    )
    assert result.reasons == ("off at response:2 found no moment", "abort at wait:1 found no moment")


@pytest.mark.anyio
async def test_an_action_that_raises_is_named() -> None:
    result = await played(
        BareHost(answer), actions=[{"at": "response:1", "do": "input", "as": "steer", "text": "More"}]
    )
    assert result.reasons == ("input at response:1 raised RuntimeError: no steer here",)


@pytest.mark.anyio
async def test_an_abort_at_a_response_waits_until_the_client_is_gone() -> None:
    result = await played(
        BareHost(answer),
        prompts=["First", "Second"],
        responses=[{"text": "never read"}, {"text": "done"}],
        actions=[{"at": "response:1", "do": "abort"}],
        expect={"requests": 2, "final": {"text": "done", "aborted": False}},
    )
    assert result.reasons == ()


@pytest.mark.anyio
async def test_a_host_that_reads_on_after_an_abort_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("continuity_core.testing.conformance.directing.CLIENT_GONE_SECONDS", 0.05)

    async def shielded(session: BareSession, text: str) -> HostResult:
        with anyio.CancelScope(shield=True):
            return await answer(session, text)

    result = await played(BareHost(shielded), actions=[{"at": "response:1", "do": "abort"}])
    assert result.reasons == ("the host kept reading response 1 after the abort",)


@pytest.mark.anyio
async def test_a_request_after_the_abort_of_its_run_fails() -> None:
    async def asks_again(session: BareSession, text: str) -> HostResult:
        with anyio.CancelScope() as session.scope:
            await session.say(text)
        return HostResult(text=await session.ask(), aborted=True)

    result = await played(
        BareHost(asks_again),
        responses=[{"text": "never read"}, {"text": "done"}],
        actions=[{"at": "response:1", "do": "abort"}],
    )
    assert result.reasons == ("request 2 was sent after the abort of its run",)


def broken_turn() -> Turn:
    return Turn.from_exception(ConnectionResetError(104, "Connection reset by peer"))


async def recover(session: BareSession, text: str) -> HostResult:
    """Ask continuity after a broken stream that this host makes up, until it does not resume any more."""
    assert session.play.continuity is not None
    told = await session.say(text)
    with session.play.continuity.start_run("s") as run:
        session.run = run
        result = await run.turn_ended(broken_turn())
        resumed = result.resume or (await run.before_settle()).resume
        if resumed:
            session.run.project([])
            told = await session.ask()
            await run.turn_ended(Turn(stop_reason=StopReason.STOP, blocks=(Text(told),)), HostFacts())
        return HostResult(text=told, stop="stop" if resumed else "error", aborted=run.aborted)


RECOVERY: dict[str, Any] = {"responses": [{"text": "half"}, {"text": "done"}]}


@pytest.mark.anyio
async def test_waits_resumes_and_the_cause_come_from_continuity() -> None:
    result = await played(
        BareHost(recover),
        **RECOVERY,
        expect={"requests": 2, "resumes": 1, "waits": [5], "ended_waits": [], "final": {"cause": "final"}},
    )
    assert result.reasons == ()


@pytest.mark.anyio
async def test_recovery_switched_off_during_a_wait_ends_it() -> None:
    result = await played(
        BareHost(recover),
        **RECOVERY,
        actions=[{"at": "wait:1", "do": "off"}],
        expect={
            "requests": 1,
            "resumes": 0,
            "waits": [5],
            "ended_waits": [1],
            "final": {"cause": "transient", "stop": "error"},
        },
    )
    assert result.reasons == ()


@pytest.mark.anyio
async def test_recovery_switched_on_while_it_is_on_ends_no_wait() -> None:
    result = await played(
        BareHost(recover),
        **RECOVERY,
        actions=[{"at": "wait:1", "do": "on"}],
        expect={"requests": 2, "resumes": 1, "waits": [5], "ended_waits": []},
    )
    assert result.reasons == ()


@pytest.mark.anyio
async def test_a_wait_within_a_second_of_what_is_expected_passes_and_a_longer_one_does_not() -> None:
    assert (await played(BareHost(recover), **RECOVERY, expect={"waits": [[5.9, 7]]})).reasons == ()
    result = await played(BareHost(recover), **RECOVERY, expect={"waits": [6.5]})
    assert result.reasons == ("waits: expected [6.5], was [5]",)


@pytest.mark.anyio
async def test_a_run_that_was_never_settled_fails() -> None:
    async def forgets(session: BareSession, text: str) -> HostResult:
        assert session.play.continuity is not None
        session.run = session.play.continuity.start_run("s")
        return await answer(session, text)

    assert (await played(BareHost(forgets))).reasons == ("1 runs of continuity were never settled",)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_wait_on_a_worker_thread_takes_its_actions_too() -> None:
    def recover_on_a_thread(session: BareSession) -> bool:
        assert session.play.continuity is not None
        with session.play.continuity.start_sync_run("s") as run:
            return run.turn_ended(broken_turn()).resume or run.before_settle().resume

    async def prompt(session: BareSession, text: str) -> HostResult:
        told = await session.say(text)
        resumed = await anyio.to_thread.run_sync(recover_on_a_thread, session)
        return HostResult(text=told, stop="stop" if resumed else "error")

    result = await played(
        BareHost(prompt),
        **RECOVERY,
        actions=[{"at": "wait:1", "do": "off"}],
        expect={"waits": [5], "ended_waits": [1], "resumes": 0, "final": {"stop": "error"}},
    )
    assert result.reasons == ()


# ------------------------------------------------------------------------------------------ modes


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


# ------------------------------------------------------------------------------------------ observe mode


async def observed(prompt: Prompt, **keys: Any) -> Result:
    scenario = {"name": "one", "prompts": ["Go"], "host": {"stream": False}, **RECOVERY, **keys}
    [result] = await run_scenarios(BareHost(prompt), scenarios_of([scenario]), observe=True, time_limit=5)
    return result


async def observe(session: BareSession, text: str) -> HostResult:
    """A host that asks continuity where it is there, and does what it says."""
    if session.play.continuity is None:
        return HostResult(text=await session.say(text), stop="error")
    return await recover(session, text)


@pytest.mark.anyio
async def test_observing_passes_where_both_plays_are_the_same_and_leaves_out_actions_at_waits() -> None:
    assert (await observed(observe, actions=[{"at": "wait:1", "do": "abort"}])).reasons == ()


@pytest.mark.anyio
async def test_observing_fails_where_requests_results_or_tools_differ() -> None:
    async def differs(session: BareSession, text: str) -> HostResult:
        if session.play.continuity is None:
            return await answer(session, text)
        session.play.tools[0].run()
        session.messages.append({"role": "system", "content": "extra"})
        await session.say(text)
        return HostResult(text=await session.ask(), stop="stop")

    result = await observed(differs, tools=[{"name": "step"}])
    assert result.status is Status.FAIL
    assert result.reasons == (
        "requests: 1 without, 2 observed",
        "request.1: .messages[1].role: 'user' without, 'system' observed",
        "tools_run: {} without, {'step': 1} observed",
        "result[1].text: 'half' without, 'done' observed",
    )


@pytest.mark.anyio
async def test_observing_names_the_first_place_where_a_request_differs() -> None:
    def asking(without: dict[str, Any], observed: dict[str, Any]) -> Prompt:
        async def ask(session: BareSession, text: str) -> HostResult:
            extra = without if session.play.continuity is None else observed
            content = [{"type": "text", "text": text}, *extra.pop("parts", [])]
            return HostResult(text=await session.ask({"role": "user", "content": content, **extra}))

        return ask

    async def reasons(without: dict[str, Any], observed_: dict[str, Any]) -> tuple[str, ...]:
        return (await observed(asking(without, observed_))).reasons

    more = {"type": "image_url", "image_url": {"url": "data:,"}}
    assert await reasons({}, {"name": "x"}) == ("request.1: .messages[1].name: only observed",)
    assert await reasons({"name": "x"}, {}) == ("request.1: .messages[1].name: only without",)
    assert await reasons({}, {"parts": [more]}) == (
        "request.1: .messages[1].content: 1 items without, 2 observed",
    )
    uuids = ("b0c0f0de-0000-4000-8000-000000000001", "b0c0f0de-0000-4000-8000-000000000002")
    assert await reasons({"name": uuids[0]}, {"name": uuids[1]}) == ()


@pytest.mark.anyio
async def test_observing_fails_where_a_play_does_not_come_to_its_end_even_if_both_do_not() -> None:
    async def raises(session: BareSession, text: str) -> HostResult:
        raise KeyError("missing")

    assert (await observed(raises)).reasons == (
        "alone: the driver raised KeyError: 'missing'",
        "observed: the driver raised KeyError: 'missing'",
    )


@pytest.mark.anyio
async def test_observing_fails_where_continuity_waits_or_resumes_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("continuity_core.testing.conformance.running.observe_settings", dict)
    reasons = (await observed(observe)).reasons
    assert "resumes: 1 in observe mode" in reasons
    assert "waits: 1 begun in observe mode" in reasons


@pytest.mark.anyio
async def test_observing_does_not_compare_ids_but_which_of_them_are_the_same() -> None:
    async def call_with(session: BareSession, text: str, name: str, answered: str) -> HostResult:
        call = {"id": name, "type": "function", "function": {"name": "step", "arguments": "{}"}}
        told = await session.ask(
            {"role": "user", "content": text},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": answered, "content": "r"},
        )
        return HostResult(text=told)

    async def other_ids(session: BareSession, text: str) -> HostResult:
        name = "a" if session.play.continuity is None else "b"
        return await call_with(session, text, name, name)

    async def wrong_id(session: BareSession, text: str) -> HostResult:
        return await call_with(session, text, "a", "a" if session.play.continuity is None else "z")

    assert (await observed(other_ids)).reasons == ()
    assert "tool_call_id" in (await observed(wrong_id)).reasons[0]


# ------------------------------------------------------------------------------------------ around it


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
