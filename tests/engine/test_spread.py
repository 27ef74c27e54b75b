"""Many runs that wait for one instant do not all ask in it."""

from __future__ import annotations

import json

import pytest
from runs import answer, bundled, failed, make, play, waits_of

from continuity_core import CauseKind, Guidance

pytestmark = pytest.mark.anyio
STATED = 600.0


async def stated_wait(spread: float, state: str | None = None, **options: object) -> tuple[float, str]:
    """How long a throttled run waits, and its state before."""
    plugins = bundled(guidance=(Guidance(seconds=STATED),), **options)
    continuity = make(plugins, spread=spread)
    run = continuity.start_run(state=None if state is None else json.loads(state))
    before = json.dumps(run.state.to_json())
    await play(run, [failed(CauseKind.RATE_LIMIT), answer()])
    [seconds] = waits_of(run)
    return seconds, before


async def test_runs_of_one_instant_wait_each_its_own_time_longer() -> None:
    waits = [(await stated_wait(60.0))[0] for _ in range(40)]
    assert all(STATED <= seconds <= STATED + 60 for seconds in waits)
    assert len({round(seconds) for seconds in waits}) > 15
    assert min(waits) < STATED + 20
    assert max(waits) > STATED + 40


async def test_a_run_that_goes_on_elsewhere_waits_as_long() -> None:
    seconds, before = await stated_wait(60.0)
    assert (await stated_wait(60.0, before))[0] == pytest.approx(seconds)


async def test_without_a_spread_a_stated_wait_is_held_as_it_is() -> None:
    assert (await stated_wait(0.0))[0] == STATED


async def test_no_wait_grows_beyond_its_own_limit() -> None:
    for _ in range(5):
        seconds, _ = await stated_wait(3600.0, stream_recovery={"max_wait": 601.0})
        assert STATED <= seconds <= 601


async def test_an_own_delay_of_nothing_stays_nothing() -> None:
    run = make(bundled(stream_recovery={"wait": lambda state: 0.0}), spread=60.0).start_run()
    await play(run, [failed(), answer()])
    assert waits_of(run) == []
