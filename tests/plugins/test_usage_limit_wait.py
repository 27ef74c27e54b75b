"""Waiting until a usage limit resets, or asking from time to time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from boundaries import at, said_by
from continuity_plugins.usage_limit_wait import SHORTEST_WAIT, UsageLimitWait
from hypothesis import given
from hypothesis import strategies as st
from runs import answer, bundled, calls, cut, failed, make, play, waits_of

from continuity_core import CauseKind, Guidance, HostFacts, Mode, Omit, Outcome, Point, Resume, Wait, Window
from continuity_core.testing.strategies import NOW, guidance


def plugin(**options: Any) -> UsageLimitWait:
    return UsageLimitWait(UsageLimitWait.Options(**options))


def waits_at(options: dict[str, Any], *hints: Guidance) -> list[Wait]:
    boundary = at(failed(), CauseKind.USAGE_LIMIT, guidance=hints)
    return [one for one in said_by(plugin(**options), boundary) if isinstance(one, Wait)]


@pytest.mark.parametrize("kind", CauseKind)
@pytest.mark.parametrize("point", Point)
def test_it_answers_for_usage_limits_only(kind: CauseKind, point: Point) -> None:
    turn = failed()
    said = said_by(plugin(), at(turn, kind, point=point))
    assert bool(said) is (kind is CauseKind.USAGE_LIMIT)
    if said:
        assert said[:2] == [
            Resume("the usage limit has to reset", "window"),
            Omit(turn.entries[0], "a usage limit was reached"),
        ]
        assert any(isinstance(one, Wait) for one in said) is (point is Point.TURN_ENDED)


@pytest.mark.parametrize("turn", [answer(), cut(), calls("step"), answer("")])
def test_other_turns_are_none_of_its_business(turn: Any) -> None:
    assert said_by(plugin(), at(turn)) == []


@pytest.mark.parametrize("off", [{"waits": 0}, {"held": 0}])
def test_a_window_of_nothing_switches_it_off(off: dict[str, int]) -> None:
    assert said_by(plugin(**off), at(failed(), CauseKind.USAGE_LIMIT)) == []


@pytest.mark.parametrize(("poll", "seconds"), [("10min", 600), (30, 30), (0, SHORTEST_WAIT), ("500ms", 1)])
def test_without_guidance_it_asks_again_from_time_to_time(poll: Any, seconds: float) -> None:
    [wait] = waits_at({"poll": poll})
    assert (wait.seconds, wait.stated) == (seconds, False)
    assert wait.cap == 6 * 3600


@pytest.mark.parametrize(
    ("hint", "seconds"),
    [
        (Guidance(seconds=120), 120),
        (Guidance(seconds=120, approximate=True), 150),
        (Guidance(until=NOW + timedelta(minutes=5)), 300),
        (Guidance(until=NOW + timedelta(minutes=5), approximate=True), 330),
        (Guidance(until=NOW - timedelta(days=1)), 1),
        (Guidance(seconds=0), 1),
        (Guidance(seconds=0, approximate=True), 30),
    ],
)
def test_guidance_becomes_a_stated_instant_with_its_margin(hint: Guidance, seconds: float) -> None:
    [wait] = waits_at({}, hint)
    assert wait.stated
    assert wait.until == NOW + timedelta(seconds=seconds)


@given(st.lists(guidance(), min_size=1, max_size=3))
def test_no_hint_is_ever_undercut(hints: list[Guidance]) -> None:
    waits = waits_at({"margin": 0}, *hints)
    assert len(waits) == len(hints)
    for hint, wait in zip(hints, waits, strict=True):
        assert wait.seconds_from(NOW) >= max(SHORTEST_WAIT, hint.wait_from(NOW)) - 1e-5


def test_its_window_is_its_options() -> None:
    [window] = plugin(waits=3, held="1h", later_waits=4, later_held="90min").budgets
    assert window == Window(name="window", waits=3, held=3600, later_waits=4, later_held=5400)
    [default] = plugin().budgets
    assert (default.waits, default.held, default.later_waits, default.later_held) == (30, 18_000, 32, 19_200)


@pytest.mark.parametrize(
    "options", [{"waits": -1}, {"held": "long"}, {"poll": -1}, {"margin": None}, {"max_wait": "for ever"}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        plugin(**options)


@pytest.mark.anyio
async def test_a_wait_that_started_before_the_window_was_full_is_held_in_full() -> None:
    hints = (Guidance(seconds=4 * 3600),)
    run = make(bundled(guidance=hints, usage_limit_wait={"held": "5h"})).start_run()
    await play(run, [failed(CauseKind.USAGE_LIMIT)] * 5)
    assert waits_of(run) == [4 * 3600, 4 * 3600]


@pytest.mark.anyio
async def test_a_wait_that_was_ended_counts_only_for_what_was_held_of_it() -> None:
    continuity = make(bundled(usage_limit_wait={"waits": 1}))
    run = continuity.start_run("s")
    run.input_arrived("steer")
    await run.turn_ended(failed(CauseKind.USAGE_LIMIT))
    run.project([])
    assert run.state.session.windows == {}
    assert (await play(run, [failed(CauseKind.USAGE_LIMIT), answer()])).resumes == 1


@pytest.mark.anyio
async def test_a_hosts_own_retry_still_goes_first_but_after_the_wait() -> None:
    run = make(bundled(guidance=(Guidance(seconds=60),))).start_run()
    host = HostFacts(retry_follows=True)
    result = await run.turn_ended(failed(CauseKind.USAGE_LIMIT), host)
    assert result.outcome is Outcome.DEFERRED
    assert waits_of(run) == [60]
    await run.turn_ended(answer())
    assert run.state.resumes == 0


@pytest.mark.anyio
async def test_a_stated_reset_beyond_the_deadline_of_a_waiting_host_is_not_waited_for() -> None:
    run = make(bundled(guidance=(Guidance(seconds=60),))).start_run(deadline=NOW + timedelta(seconds=59))
    played = await play(run, [failed(CauseKind.USAGE_LIMIT)])
    assert played.resumes == 0
    assert waits_of(run) == []
    assert run.report().possible_at == NOW + timedelta(seconds=60)


@pytest.mark.anyio
async def test_in_observe_mode_no_window_is_used() -> None:
    run = make(mode=Mode.OBSERVE).start_run()
    for _ in range(40):
        await run.turn_ended(failed(CauseKind.USAGE_LIMIT))
    assert run.state.session.windows == {}
