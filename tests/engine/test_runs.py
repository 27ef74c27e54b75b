"""Waiting, and what ends it: on asyncio, on trio and on a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from runs import answer, bundled, calls, cut, failed, make, play, play_sync, waits_of

from continuity_core import (
    CauseKind,
    Continuity,
    EventKind,
    Guidance,
    HostFacts,
    Incomplete,
    IncompleteRun,
    Mode,
    Order,
    Outcome,
    Run,
    RunError,
    RunOutcome,
    Stage,
    hookimpl,
)
from continuity_core.testing.clocks import VirtualClock

pytestmark = pytest.mark.anyio

ENDINGS: dict[str, tuple[Callable[[Continuity, Run], object], str, Outcome]] = {
    "abort": (lambda _, run: run.abort(), "abort", Outcome.CANCELLED),
    "abort_all": (lambda continuity, _: continuity.abort_all(), "abort", Outcome.CANCELLED),
    "disable": (lambda continuity, _: continuity.disable(), "mode off", Outcome.CANCELLED),
    "observe": (
        lambda continuity, _: setattr(continuity, "mode", Mode.OBSERVE),
        "mode observe",
        Outcome.CANCELLED,
    ),
    "one plugin": (lambda continuity, _: continuity.disable("stream-recovery"), "off", Outcome.CANCELLED),
    "steer": (lambda _, run: run.input_arrived("steer"), "input", Outcome.SUPERSEDED),
    "follow_up": (lambda _, run: run.input_arrived("follow_up"), "input", Outcome.SUPERSEDED),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_a_wait_is_ended_at_once_and_nothing_is_charged(ending: str) -> None:
    act, reason, outcome = ENDINGS[ending]
    clock = VirtualClock(auto_advance=False)
    continuity = make(clock=clock)
    run = continuity.start_run()
    order: list[str] = []

    async def hold() -> None:
        result = await run.turn_ended(answer(""))
        order.append("boundary returned")
        assert not result.resume
        assert result.outcome is outcome

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            await anyio.wait_all_tasks_blocked()
            assert run.status()["waiting"]
            order.append("ended")
            act(continuity, run)
    assert order == ["ended", "boundary returned"]
    assert [wait.ended_by for wait in run.report().waits] == [reason]
    assert run.state.resumes == 0
    assert run.state.waits.get("stream-recovery") is None or run.state.waits["stream-recovery"].count == 0
    assert not (await run.before_settle()).resume


@pytest.mark.parametrize("ending", ENDINGS)
async def test_what_comes_while_a_wait_is_being_decided_ends_it_as_it_begins(ending: str) -> None:
    act, _, outcome = ENDINGS[ending]

    class Meanwhile:
        order = Order(stage=Stage.GUARD)

        @hookimpl
        def continuity_turn_ended(self, boundary: object) -> None:
            act(continuity, run)  # As another thread would.

    continuity = make([*bundled(), Meanwhile()], clock=VirtualClock(auto_advance=False))
    run = continuity.start_run()
    with anyio.fail_after(5):
        result = await run.turn_ended(answer(""))
    assert not result.resume
    assert result.outcome is outcome
    assert sum(wait.held for wait in run.report().waits) == 0
    assert run.state.resumes == 0


async def test_cancelling_the_hosts_task_ends_the_wait_and_leaves_the_run_usable() -> None:
    run = make(clock=VirtualClock(auto_advance=False)).start_run()
    with anyio.move_on_after(0.01):
        await run.turn_ended(answer(""))
    assert [wait.ended_by for wait in run.report().waits] == ["cancelled"]
    assert run.state.resumes == 0
    run.abort()
    assert not (await run.turn_ended(cut())).resume
    assert run.settled().outcome is RunOutcome.ABORTED


async def test_the_delay_does_not_move_on_when_its_wait_was_ended() -> None:
    clock = VirtualClock(auto_advance=False)
    run = make(bundled(stream_recovery={"wait": "chain(fixed(5), fixed(9))"}), clock=clock).start_run()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run.turn_ended, failed())
        await anyio.wait_all_tasks_blocked()
        run.input_arrived("steer")
    run.project([])
    clock.auto_advance = True
    await run.turn_ended(failed())
    assert waits_of(run) == [5, 5]


async def test_input_before_a_wait_prevents_it_until_the_host_picks_it_up() -> None:
    run = make().start_run()
    run.input_arrived("steer")
    assert not (await run.turn_ended(answer(""))).resume
    assert waits_of(run) == []
    run.project([])
    assert (await run.turn_ended(answer(""))).resume


async def test_a_wait_to_an_instant_follows_the_wall_clock_over_a_suspended_machine() -> None:
    clock = VirtualClock(auto_advance=False)
    hint = Guidance(until=datetime(2026, 3, 1, 14, tzinfo=UTC))
    run = make(bundled(guidance=(hint,)), clock=clock).start_run()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run.turn_ended, failed(CauseKind.USAGE_LIMIT))
        await anyio.wait_all_tasks_blocked()
        clock.suspend(2 * 3600)
    assert (await run.before_settle()).resume
    assert clock.monotonic() == 0
    assert run.state.held == 2 * 3600


async def test_many_runs_wait_side_by_side() -> None:
    continuity = make()
    runs = [continuity.start_run() for _ in range(50)]
    async with anyio.create_task_group() as tasks:
        for run in runs:
            tasks.start_soon(run.turn_ended, answer(""))
    assert {run.state.held for run in runs} == {5}


async def test_a_boundary_is_decided_one_at_a_time() -> None:
    run = make(clock=VirtualClock(auto_advance=False)).start_run()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run.turn_ended, answer(""))
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(RunError, match="another boundary"):
            await run.before_settle()
        run.abort()


async def test_steps_out_of_order_are_named() -> None:
    run = make().start_run()
    with pytest.raises(RunError, match="call turn_ended first"):
        await run.before_settle()
    with pytest.raises(RunError, match="no resume"):
        run.unscheduled("nothing was asked for")
    run.settled()
    with pytest.raises(RunError, match="start a new run"):
        await run.turn_ended(answer())


def test_a_session_has_one_run_at_a_time() -> None:
    continuity = make()
    first = continuity.start_run("s")
    with pytest.raises(RunError, match="settle it first"):
        continuity.start_run("s")
    first.settled()
    continuity.start_run("s").settled()
    with pytest.raises(RunError, match="is over"):
        continuity.start_run(parent=first)
    with pytest.raises(ValueError, match="time zone"):
        continuity.start_run(deadline=datetime(2026, 3, 1))  # noqa: DTZ001


async def test_a_wait_is_announced_with_its_end_and_how_to_end_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="continuity"):
        await make().start_run().turn_ended(failed())
    assert "waits 5 s, until 2026-03-01 12:00:05" in caplog.text
    assert "run.abort()" in caplog.text


async def test_a_run_that_ends_without_a_whole_answer_is_a_warning_and_never_a_success(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = make(max_resumes=0).start_run()
    await play(run, [cut()])
    report = run.settled()
    assert report.outcome is RunOutcome.INCOMPLETE
    assert "incomplete" in caplog.text
    assert run.settled() == report


@pytest.mark.parametrize(
    ("limit", "outcome"), [(0, RunOutcome.INCOMPLETE), (8, RunOutcome.COMPLETED)], ids=["refused", "resumed"]
)
async def test_results_that_no_turn_answered_are_no_whole_answer(limit: int, outcome: RunOutcome) -> None:
    run = make(max_resumes=limit).start_run()
    await run.turn_ended(calls("step"), HostFacts())
    result = await run.before_settle(HostFacts())
    assert result.resume is (limit > 0)
    if result.resume:
        await play(run, [answer()])
    assert run.settled().outcome is outcome


async def test_results_at_an_end_on_purpose_are_a_whole_answer() -> None:
    run = make(max_resumes=0).start_run()
    await run.turn_ended(calls("step"), HostFacts())
    await run.before_settle(HostFacts(ended_on_purpose=True))
    assert run.settled().outcome is RunOutcome.COMPLETED


@pytest.mark.parametrize(
    ("host", "outcome"),
    [
        (HostFacts(), RunOutcome.INCOMPLETE),
        (HostFacts(ending_tools=frozenset({"step"})), RunOutcome.COMPLETED),
    ],
    ids=["going on", "on purpose"],
)
async def test_calls_behind_which_a_plugin_ended_the_run_are_no_whole_answer(
    host: HostFacts, outcome: RunOutcome
) -> None:
    run = make(bundled(run_limits={"max_requests": 1})).start_run()
    result = await run.turn_ended(calls("step"), host)
    assert result.end_run is not None
    assert run.settled().outcome is outcome


async def test_for_unattended_work_an_incomplete_run_can_raise_with_the_partial() -> None:
    continuity = make(max_resumes=0, incomplete=Incomplete.RAISE)
    run = continuity.start_run("s")
    with pytest.raises(IncompleteRun, match="max_resumes is 0") as caught, run:
        await play(run, [cut("half")])
    assert caught.value.partial is not None
    assert caught.value.partial.text == "half"
    error = ConnectionError("gone")
    failing = continuity.start_run("s")
    await play(failing, [failed()])
    with pytest.raises(IncompleteRun) as raised:
        failing.settled(error=error)
    assert raised.value.__cause__ is error
    complete = continuity.start_run("s")
    await play(complete, [answer()])
    assert complete.settled().outcome is RunOutcome.COMPLETED


async def test_leaving_the_block_settles_the_run_whatever_happened_in_it() -> None:
    continuity = make()
    with continuity.start_run("s") as run:
        await play(run, [answer()])
    assert run.report().outcome is RunOutcome.COMPLETED
    with pytest.raises(ZeroDivisionError), continuity.start_run("s") as broken:
        raise ZeroDivisionError
    assert broken.report().outcome is RunOutcome.FAILED
    with pytest.raises(KeyboardInterrupt), continuity.start_run("s") as interrupted:
        raise KeyboardInterrupt
    assert interrupted.report().outcome is RunOutcome.ABORTED


async def test_every_event_reaches_the_callable_and_one_that_raises_harms_nothing() -> None:
    kinds: list[str] = []

    def note(event: Any) -> None:
        kinds.append(event.kind)
        raise RuntimeError("the observer is broken")

    run = make(on_event=note).start_run()
    await play(run, [answer(""), answer()])
    run.settled()
    assert kinds == [
        EventKind.RUN_STARTED,
        EventKind.WAIT_STARTED,
        EventKind.WAIT_ENDED,
        EventKind.BOUNDARY,
        EventKind.BOUNDARY,
        EventKind.BOUNDARY,
        EventKind.RUN_SETTLED,
    ]


def test_a_synchronous_run_sleeps_on_the_callers_thread() -> None:
    continuity = make()
    run = continuity.start_sync_run()
    played = play_sync(run, [failed(), calls("step"), cut(), answer()])
    assert (played.turns, played.resumes) == (4, 2)
    assert waits_of(run) == [5]


@pytest.mark.parametrize("how", ["abort", "disable", "input"])
def test_a_synchronous_wait_is_ended_from_another_thread(how: str) -> None:
    waiting = threading.Event()
    clock = VirtualClock(auto_advance=False, on_wait=lambda *_: waiting.set())
    continuity = make(clock=clock)
    run = continuity.start_sync_run()

    def end() -> None:
        assert waiting.wait(5)
        {"abort": run.abort, "disable": continuity.disable, "input": lambda: run.input_arrived("steer")}[
            how
        ]()

    other = threading.Thread(target=end)
    other.start()
    result = run.turn_ended(answer(""))
    other.join()
    assert not result.resume
    assert run.report().waits[0].ended_by is not None
    assert run.state.resumes == 0


def test_a_synchronous_run_settles_like_any_other() -> None:
    with make().start_sync_run("s") as run:
        play_sync(run, [answer()])
    assert run.report().outcome is RunOutcome.COMPLETED


def test_status_is_plain_data() -> None:
    import json

    continuity = make()
    run = continuity.start_run("s")
    status = json.loads(json.dumps(continuity.status()))
    assert status["runs"][0]["run"] == run.id
    assert status["mode"] == "on"
    assert "tool-tail" in status["plugins"]
    assert run.session == "s"


async def test_the_report_tells_the_story() -> None:
    import json

    run = make().start_run()
    await play(run, [failed(), answer()])
    report = run.settled()
    data = json.loads(json.dumps(report.to_dict()))
    assert data["outcome"] == "completed"
    assert data["waits"][0]["seconds"] == 5
    boundaries = [event for event in data["events"] if event["kind"] == "boundary"]
    assert [boundary["outcome"] for boundary in boundaries] == ["deferred", "scheduled", "none", "none"]
    assert boundaries[1]["resume"] == {
        "plugin": "stream-recovery",
        "reason": "the provider or the connection failed",
        "budget": "retries",
    }
