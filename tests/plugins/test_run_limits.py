"""Ending a run that costs more than its owner allows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from boundaries import at, said_by
from continuity_plugins.run_limits import RunLimits
from runs import answer, bundled, calls, cut, failed, make, play, waits_of

from continuity_core import (
    CauseKind,
    Guidance,
    Halt,
    HostFacts,
    Mode,
    Proposal,
    Resume,
    RunOutcome,
    Usage,
    Wait,
)
from continuity_core.engine.join import join
from continuity_core.model.proposal import Bundle
from continuity_core.testing.strategies import NOW

pytestmark = pytest.mark.anyio


def proposing(*decisions: Any) -> Proposal:
    return join([Bundle("other", 0, decisions)], NOW)


def reason(
    options: dict[str, Any], proposal: Proposal | None = None, turn: Any = None, **view: Any
) -> str | None:
    """Why the plugin ends the run; ``None`` where it does not."""
    said = said_by(RunLimits(RunLimits.Options(**options)), at(turn or calls("step"), **view), proposal)
    if not said:
        return None
    [halt] = said
    assert isinstance(halt, Halt)
    assert halt.end_run
    return halt.reason


def test_there_are_no_limits_by_default() -> None:
    view = {"requests": 10**6, "output_tokens": 10**9, "started_at": NOW - timedelta(days=300)}
    assert reason({}, **view) is None


@pytest.mark.parametrize(
    ("options", "view", "told"),
    [
        ({"max_requests": 5}, {"requests": 4}, None),
        ({"max_requests": 5}, {"requests": 5}, "made 5 of 5 requests"),
        ({"max_requests": 5}, {"requests": 9}, "made 9 of 5 requests"),
        ({"max_requests": 0}, {"requests": 1}, "made 1 of 0 requests"),
        ({"max_output_tokens": 100}, {"output_tokens": 99}, None),
        ({"max_output_tokens": 100}, {"output_tokens": 100}, "used 100 of 100 output tokens"),
        ({"deadline": "10min"}, {"started_at": NOW - timedelta(seconds=599)}, None),
        ({"deadline": "10min"}, {"started_at": NOW - timedelta(seconds=600)}, "deadline of 600 s"),
        ({"deadline": 0}, {}, "deadline of 0 s"),
    ],
)
def test_a_limit_that_is_reached_ends_the_run_and_says_which(
    options: dict[str, Any], view: dict[str, Any], told: str | None
) -> None:
    said = reason(options, **view)
    assert said is None if told is None else told in (said or "")


@pytest.mark.parametrize(
    ("wait", "ends"),
    [
        (Wait(seconds=59, why="w"), False),
        (Wait(seconds=60, why="w"), True),
        (Wait(seconds=61, why="w"), True),
        (Wait(until=NOW + timedelta(seconds=61), why="w", stated=True), True),
        (Wait(seconds=7200, why="w", cap=30), False),
    ],
)
def test_a_wait_that_would_not_end_before_the_deadline_is_not_begun(wait: Wait, ends: bool) -> None:
    options = {"deadline": 120}
    said = reason(options, proposing(Resume("again"), wait), cut(), started_at=NOW - timedelta(seconds=60))
    assert ("a wait would reach" in said) if ends and said else (said is None and not ends)


def test_a_whole_answer_is_not_taken_away_however_dear_it_was() -> None:
    dear = {"requests": 99}
    assert reason({"max_requests": 5}, turn=answer(), **dear) is None
    assert reason({"max_requests": 5}, proposing(Resume("more")), answer(), **dear) is not None


@pytest.mark.parametrize(
    "options",
    [
        {"max_requests": -1},
        {"max_output_tokens": "many"},
        {"deadline": "soon"},
        {"deadline": -1},
        {"max_requests": True},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        RunLimits.Options(**options)


@pytest.mark.parametrize("word", [None, "unlimited"])
def test_unlimited_is_a_word_of_every_limit(word: Any) -> None:
    options = RunLimits.Options(max_requests=word, max_output_tokens=word, deadline=word)
    assert options == RunLimits.Options()


async def test_native_retries_count_where_the_host_reports_them() -> None:
    run = make(bundled(run_limits={"max_requests": 4})).start_run()
    assert (await run.turn_ended(calls("a", requests=3))).end_run is None
    result = await run.turn_ended(calls("b"))
    assert result.end_run == "the run made 4 of 4 requests"
    assert not (await run.turn_ended(cut())).resume


async def test_the_resume_it_guards_against_falls_with_its_wait() -> None:
    run = make(bundled(run_limits={"max_requests": 2})).start_run()
    played = await play(run, [failed(), failed(), answer()])
    assert played.resumes == 1
    assert waits_of(run) == [5]
    assert played.results[-1][1].end_run is not None
    assert "run-limits halted recovery" in (run.report().no_resume or "")
    assert run.settled().outcome is RunOutcome.FAILED


async def test_output_tokens_are_those_that_the_provider_reports() -> None:
    run = make(bundled(run_limits={"max_output_tokens": 100})).start_run()
    assert (await run.turn_ended(calls("a", usage=Usage(output_tokens=None)))).end_run is None
    assert (await run.turn_ended(calls("a", usage=Usage(output_tokens=99)))).end_run is None
    assert (await run.turn_ended(calls("a", usage=Usage(output_tokens=1)))).end_run is not None


async def test_a_wait_of_hours_is_not_begun_under_a_deadline_of_minutes() -> None:
    plugins = bundled(guidance=(Guidance(seconds=7200),), run_limits={"deadline": "10min"})
    run = make(plugins).start_run()
    result = await run.turn_ended(failed(CauseKind.USAGE_LIMIT))
    assert result.end_run is not None
    assert waits_of(run) == []


async def test_observing_it_ends_nothing() -> None:
    run = make(bundled(run_limits={"max_requests": 0}), mode=Mode.OBSERVE).start_run()
    result = await run.turn_ended(calls("a"), HostFacts())
    assert result.end_run is None
    assert run.state.halted is None
