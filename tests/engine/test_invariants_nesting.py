"""Runs under runs, and moments at which two things happen at once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from runs import KindReader, answer, bundled, calls, cut, failed, make, play
from saying import Saying, saying

from continuity_core import CauseKind, EventKind, Outcome, Resume, RunOutcome, Wait
from continuity_core.testing.clocks import VirtualClock

pytestmark = pytest.mark.anyio


async def test_what_a_grandchild_costs_counts_against_every_run_above_it() -> None:
    continuity = make([KindReader(), saying(Resume("again"), Wait(seconds=5, why="rest"))], max_resumes=None)
    top = continuity.start_run("s")
    child = continuity.start_run(parent=top)
    grandchild = continuity.start_run(parent=child)
    await grandchild.turn_ended(cut())
    assert [(run.state.resumes, run.state.held) for run in (top, child, grandchild)] == [(1, 5)] * 3
    assert [run.state.charged for run in (top, child, grandchild)] == [0, 0, 1]
    grandchild.unscheduled("no")
    assert [(run.state.resumes, run.state.held) for run in (top, child, grandchild)] == [(0, 5)] * 3


async def test_a_grandchild_is_bounded_by_what_is_left_at_the_top() -> None:
    continuity = make([KindReader(), saying(Resume("again"))], max_resumes=None, ceiling_resumes=2)
    top = continuity.start_run("s")
    await top.turn_ended(cut())
    grandchild = continuity.start_run(parent=continuity.start_run(parent=top))
    assert (await grandchild.turn_ended(cut("a"))).resume
    assert not (await grandchild.turn_ended(cut("b"))).resume


async def test_an_abort_reaches_every_run_below_and_settling_ends_them() -> None:
    continuity = make()
    top = continuity.start_run("s")
    child = continuity.start_run(parent=top)
    grandchild = continuity.start_run(parent=child)
    top.abort()
    assert child.aborted
    assert grandchild.aborted
    top.settled()
    assert continuity.status()["runs"] == []
    assert grandchild.report().outcome is RunOutcome.ABORTED


async def test_a_child_that_settles_frees_its_parent_of_it() -> None:
    continuity = make()
    top = continuity.start_run("s")
    child = continuity.start_run(parent=top)
    await play(child, [answer()])
    child.settled()
    top.abort()
    assert not child.aborted
    assert child.report().outcome is RunOutcome.COMPLETED


class ArmedClock(VirtualClock):
    """Calls ``then`` once, the next time it is looked at."""

    then: Any = None

    def now(self) -> datetime:
        then, self.then = self.then, None
        if then is not None:
            then()
        return super().now()


async def test_an_abort_that_comes_just_before_the_wait_begins_is_not_lost() -> None:
    clock = ArmedClock()

    def says(*_: object) -> list[Any]:
        clock.then = run.abort
        return [Resume("again"), Wait(seconds=3600, why="rest")]

    run = make([KindReader(), Saying("sayer", says)], clock=clock).start_run()
    result = await run.turn_ended(cut())
    assert result.outcome is Outcome.CANCELLED
    assert not result.resume
    assert [wait.held for wait in run.report().waits] == [0]


async def test_an_abort_by_whoever_hears_an_event_counts_at_once() -> None:
    def heard(event: Any) -> None:
        if event.kind is EventKind.WAIT_STARTED:
            run.abort()

    run = make(on_event=heard).start_run()
    result = await run.turn_ended(answer(""))
    assert result.outcome is Outcome.CANCELLED
    assert run.report().waits[0].ended_by == "abort"
    assert run.report().waits[0].held == 0


async def test_input_that_comes_as_the_wait_ends_wins_over_the_resume() -> None:
    def heard(event: Any) -> None:
        if event.kind is EventKind.WAIT_ENDED:
            run.input_arrived("steer")

    run = make(on_event=heard).start_run()
    result = await run.turn_ended(answer(""))
    assert result.outcome is Outcome.SUPERSEDED
    assert run.state.resumes == 0
    assert run.state.held == 5


async def test_an_exhausted_window_stays_longer_over_any_number_of_other_turns() -> None:
    continuity = make(bundled(usage_limit_wait={"waits": 1, "later_waits": 2}), max_resumes=None)
    limit = failed(CauseKind.USAGE_LIMIT)
    with continuity.start_run("s") as first:
        assert (await play(first, [limit, limit])).resumes == 1
    with continuity.start_run("s") as second:
        await play(second, [calls("a"), calls("b"), answer()])
    assert (await play(continuity.start_run("s"), [limit] * 4)).resumes == 2
