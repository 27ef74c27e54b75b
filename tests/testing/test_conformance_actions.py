"""Actions take effect at their moment, and what a host does afterwards is held against them."""

from __future__ import annotations

import anyio
import pytest
from bare_host import RECOVERY, BareHost, BareSession, answer, broken_turn, played, recover

from continuity_core.testing.conformance import (
    HostResult,
)


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
