"""Going on after a broken stream, a throttle, an empty answer or an error that nobody can diagnose."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from boundaries import at, said_by
from continuity_plugins.stream_recovery import StreamRecovery
from runs import answer, bundled, calls, cut, failed, make, play, waits_of
from tenacity import stop_after_attempt, stop_after_delay, wait_exponential, wait_fixed, wait_incrementing

from continuity_core import Budget, CauseKind, Guidance, HostFacts, Omit, Point, Resume, Text, Wait
from continuity_core.testing.strategies import NOW

RECOVERED = [CauseKind.TRANSIENT, CauseKind.RATE_LIMIT, CauseKind.EMPTY, CauseKind.UNKNOWN]


def waits_at(options: dict[str, Any], waits: int = 0, **facts: Any) -> list[Wait]:
    plugin = StreamRecovery(StreamRecovery.Options(**options))
    boundary = at(failed(), CauseKind.TRANSIENT, waits=waits, **facts)
    return [one for one in said_by(plugin, boundary) if isinstance(one, Wait)]


@pytest.mark.parametrize("kind", CauseKind)
@pytest.mark.parametrize("point", Point)
def test_it_answers_for_broken_throttled_empty_and_undiagnosed_turns_only(
    kind: CauseKind, point: Point
) -> None:
    said = said_by(StreamRecovery(), at(failed(), kind, point=point))
    assert bool(said) is (kind in RECOVERED)
    if said:
        assert isinstance(said[0], Resume)
        assert said[0].budget == ("unknown_retries" if kind is CauseKind.UNKNOWN else "retries")


def test_the_failed_turn_with_its_partial_and_results_is_left_out() -> None:
    turn = failed(blocks=(Text("half"),))
    said = said_by(StreamRecovery(), at(turn, CauseKind.TRANSIENT, point=Point.BEFORE_SETTLE))
    assert [one.entry for one in said if isinstance(one, Omit)] == list(turn.entries)
    assert len(said) == 2


@pytest.mark.parametrize("where", ["tool", "host"])
@pytest.mark.parametrize("kind", RECOVERED)
def test_a_failure_that_is_not_the_models_is_left_alone(where: str, kind: CauseKind) -> None:
    assert said_by(StreamRecovery(), at(failed(failure={"where": where}), kind)) == []


@pytest.mark.parametrize("kind", RECOVERED)
@pytest.mark.parametrize("point", Point)
def test_an_empty_answer_that_the_host_declares_a_proper_end_is_left_alone(
    kind: CauseKind, point: Point
) -> None:
    said = said_by(StreamRecovery(), at(failed(), kind, point=point, host=HostFacts(ended_on_purpose=True)))
    assert bool(said) is (kind is not CauseKind.EMPTY)


@pytest.mark.parametrize("turn", [answer(), calls("step"), cut()])
def test_good_and_cut_turns_are_none_of_its_business(turn: Any) -> None:
    assert said_by(StreamRecovery(), at(turn)) == []


def test_its_own_delays_are_staged_by_the_waits_that_were_held() -> None:
    assert [waits_at({}, held)[0].seconds for held in range(8)] == [5, 5, 5, 10, 10, 10, 10, 10]


@pytest.mark.parametrize(
    ("wait", "delays"),
    [
        ("fixed(3)", [3, 3, 3]),
        (wait_fixed(3), [3, 3, 3]),
        (wait_fixed(1) + wait_incrementing(start=1, increment=2), [2, 4, 6]),
        (wait_exponential(multiplier=1, max=3), [1, 2, 3]),
        ("chain(fixed(0), fixed(60))", [0, 60, 60]),
    ],
)
def test_any_strategy_of_tenacity_may_set_the_delays(wait: Any, delays: list[float]) -> None:
    assert [waits_at({"wait": wait}, held)[0].seconds for held in range(3)] == delays


@pytest.mark.parametrize("wild", [float("nan"), float("inf"), -5.0, 1e300])
def test_a_strategy_that_runs_wild_is_kept_within_bounds(wild: float) -> None:
    [wait] = waits_at({"wait": wait_fixed(0) + (lambda state: wild), "max_wait": 60})
    assert wait.seconds is not None
    assert 0 <= wait.seconds <= 60


def test_each_hint_of_the_provider_is_a_stated_wait_beside_the_own_delay() -> None:
    until = NOW + timedelta(seconds=90)
    guidance = (Guidance(seconds=7, evidence="retry-after"), Guidance(until=until))
    own, first, second = waits_at({"max_wait": "1h"}, guidance=guidance)
    assert (own.stated, own.seconds, own.cap) == (False, 5, 3600)
    assert (first.stated, first.seconds, first.why, first.cap) == (True, 7, "retry-after", 3600)
    assert (second.stated, second.until) == (True, until)
    assert second.why.strip()


def test_before_settling_it_never_waits() -> None:
    said = said_by(StreamRecovery(), at(failed(), CauseKind.TRANSIENT, point=Point.BEFORE_SETTLE))
    assert not any(isinstance(one, Wait) for one in said)


@pytest.mark.parametrize(
    ("stop", "waits", "waited", "stops"),
    [
        ("never", 99, 1e6, False),
        (None, 99, 1e6, False),
        ("after_attempt(3)", 1, 0, False),
        ("after_attempt(3)", 2, 0, True),
        (stop_after_attempt(3), 2, 0, True),
        ("after_delay(30min)", 5, 1799, False),
        ("after_delay(30min)", 5, 1800, True),
        (stop_after_attempt(9) | stop_after_delay(60), 1, 61, True),
    ],
)
def test_a_stop_strategy_counts_waits_and_the_time_waited(
    stop: Any, waits: int, waited: float, stops: bool
) -> None:
    plugin = StreamRecovery(StreamRecovery.Options(stop=stop))
    boundary = at(failed(), CauseKind.TRANSIENT, waits=waits, waited_seconds=waited)
    assert any(isinstance(one, Resume) for one in said_by(plugin, boundary)) is not stops


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stop", "waits"), [("after_attempt(1)", 0), ("after_attempt(2)", 1), ("after_attempt(3)", 2)]
)
async def test_a_stop_strategy_ends_recovery_before_a_wait_and_never_behind_one(
    stop: str, waits: int
) -> None:
    run = make(bundled(stream_recovery={"stop": stop})).start_run()
    played = await play(run, [failed()] * 5)
    assert waits_of(run) == [5] * waits
    assert played.turns == 1 + waits


def test_its_budgets_are_its_options() -> None:
    plugin = StreamRecovery(StreamRecovery.Options(retries=4, unknown_retries=1))
    assert plugin.budgets == (Budget("retries", 4), Budget("unknown_retries", 1, within="retries"))


@pytest.mark.parametrize(
    "options",
    [
        {"retries": -1},
        {"retries": "unlimited"},
        {"unknown_retries": 1.5},
        {"wait": "sleep(5)"},
        {"wait": "__import__('os')"},
        {"stop": "sometimes"},
        {"max_wait": "for ever"},
        {"max_wait": -1},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        StreamRecovery.Options(**options)


@pytest.mark.anyio
async def test_a_delay_of_nothing_moves_on_to_the_next_stage() -> None:
    options = {"wait": "chain(fixed(0), fixed(7))"}
    run = make(bundled(stream_recovery=options)).start_run()
    played = await play(run, [failed(), failed(), answer("")])
    assert played.resumes == 3
    assert waits_of(run) == [7, 7]


@pytest.mark.anyio
async def test_a_stated_wait_beyond_the_longest_allowed_ends_recovery_and_is_not_shortened() -> None:
    guidance = (Guidance(seconds=61),)
    run = make(bundled(guidance=guidance, stream_recovery={"max_wait": 60})).start_run()
    played = await play(run, [failed(CauseKind.RATE_LIMIT)])
    assert played.resumes == 0
    assert waits_of(run) == []
    assert run.report().possible_at == NOW + timedelta(seconds=61)
    assert "the longest wait allowed is 60 s" in (run.report().no_resume or "")
