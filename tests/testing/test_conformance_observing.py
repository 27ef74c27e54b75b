"""Observe mode is compared with the host alone."""

from __future__ import annotations

from typing import Any

import pytest
from bare_host import RECOVERY, BareHost, BareSession, Prompt, answer, recover

from continuity_core.testing.conformance import (
    HostResult,
    Result,
    Status,
    run_scenarios,
    scenarios_of,
)


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
