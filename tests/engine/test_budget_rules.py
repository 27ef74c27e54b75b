"""What recovery may cost, and what starts a budget anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from runs import answer, bundled, calls, cut, failed, make, play, waits_of

from continuity_core import CauseKind, Continuity, Guidance, Run, Turn

pytestmark = pytest.mark.anyio


async def resumes_of(continuity: Continuity, turns: Sequence[Turn]) -> int:
    run = continuity.start_run()
    return (await play(run, turns)).resumes


async def test_delays_are_staged_and_the_budget_of_six_is_the_end() -> None:
    run = make(max_resumes=None).start_run()
    played = await play(run, [failed()] * 8)
    assert played.turns == 7
    assert waits_of(run) == [5, 5, 5, 10, 10, 10]
    assert run.report().cause is CauseKind.TRANSIENT


async def test_broken_empty_and_undiagnosed_turns_share_one_budget() -> None:
    continuity = make(bundled(stream_recovery={"retries": 2}))
    assert await resumes_of(continuity, [failed(CauseKind.UNKNOWN), failed(), answer("")]) == 2


async def test_undiagnosed_errors_have_a_budget_of_their_own_too() -> None:
    assert await resumes_of(make(), [failed(CauseKind.UNKNOWN)] * 4) == 2
    off = make(bundled(stream_recovery={"unknown_retries": 0}))
    assert await resumes_of(off, [failed(CauseKind.UNKNOWN)] * 2) == 0


async def test_a_good_turn_in_between_does_not_refill_a_budget() -> None:
    continuity = make(bundled(stream_recovery={"retries": 1}))
    assert await resumes_of(continuity, [failed(), calls("step"), failed(), answer()]) == 1


async def test_only_a_new_run_starts_budgets_anew() -> None:
    continuity = make(max_resumes=2, no_progress=0)
    first = continuity.start_run("s")
    assert (await play(first, [cut()] * 4)).resumes == 2
    first.settled()
    second = continuity.start_run("s")
    assert (await play(second, [cut()] * 4)).resumes == 2


async def test_zero_means_no_extra_request_of_any_kind() -> None:
    continuity = make(bundled(guidance=(Guidance(seconds=60),)), max_resumes=0)
    for turn in (cut(), failed(), failed(CauseKind.USAGE_LIMIT), answer("")):
        assert await resumes_of(continuity, [turn, answer()]) == 0


async def test_unlimited_goes_up_to_the_ceiling() -> None:
    turns = [cut(str(number)) for number in range(300)]
    assert await resumes_of(make(max_resumes=None), turns) == 200
    assert await resumes_of(make(max_resumes=None, ceiling_resumes=7), turns) == 7


async def test_the_ceiling_on_held_time_ends_recovery() -> None:
    run = make(max_resumes=None, ceiling_held=12).start_run()
    await play(run, [failed()] * 6)
    assert waits_of(run) == [5, 5, 2]
    assert run.state.held == 12
    assert "nothing is left of the time" in (run.report().no_resume or "")


async def test_three_resumes_that_brought_the_same_bytes_are_the_end() -> None:
    run = make().start_run()
    assert (await play(run, [cut("same")] * 6)).resumes == 3
    assert "no progress" in (run.report().no_resume or "")


async def test_other_content_or_a_turn_in_between_starts_the_count_anew() -> None:
    turns = [cut("same"), cut("same"), calls("step"), cut("same"), cut("same"), cut("same"), answer()]
    assert await resumes_of(make(), turns) == 5
    assert await resumes_of(make(), [cut("a"), cut("a"), cut("b"), cut("b"), cut("b"), cut("b")]) == 5


async def test_no_progress_can_be_switched_off_but_not_beside_unlimited_resumes() -> None:
    assert await resumes_of(make(no_progress=0), [cut("same")] * 9) == 8
    assert await resumes_of(make(no_progress=0, max_resumes=None), [cut("same")] * 9) == 3


async def poll(run: Run, turns: int) -> list[float]:
    await play(run, [failed(CauseKind.USAGE_LIMIT)] * turns)
    return waits_of(run)


async def test_a_window_has_thirty_polls_and_none_is_charged_to_max_resumes() -> None:
    run = make(max_resumes=1).start_run()
    assert await poll(run, 40) == [600] * 30
    assert run.state.charged == 0
    assert run.state.resumes == 30


async def test_later_windows_of_the_session_are_longer_and_other_sessions_are_not() -> None:
    continuity = make(max_resumes=1)
    first = continuity.start_run("s")
    await poll(first, 40)
    first.settled()
    second = continuity.start_run("s")
    assert len(await poll(second, 40)) == 32
    second.settled()
    assert len(await poll(continuity.start_run("other"), 40)) == 30


async def test_an_exhausted_window_stays_closed_for_the_rest_of_its_run() -> None:
    run = make().start_run()
    await poll(run, 40)
    assert len(await poll(run, 2)) == 30


async def test_a_turn_that_is_no_usage_limit_ends_the_window() -> None:
    continuity = make(bundled(usage_limit_wait={"waits": 2}))
    run = continuity.start_run()
    limit = failed(CauseKind.USAGE_LIMIT)
    played = await play(run, [limit, limit, calls("step"), limit, limit, limit, answer()])
    assert played.resumes == 4


async def test_a_wait_may_start_only_while_the_held_ones_sum_to_less_than_the_window() -> None:
    continuity = make(bundled(usage_limit_wait={"held": "25min"}))
    run = continuity.start_run()
    assert await poll(run, 9) == [600, 600, 600]


@pytest.mark.parametrize("options", [{"waits": 0}, {"held": 0}])
async def test_a_window_of_zero_is_off_for_later_runs_too(options: dict[str, int]) -> None:
    continuity = make(bundled(usage_limit_wait=options))
    for _ in range(2):
        run = continuity.start_run("s")
        assert await poll(run, 3) == []
        run.settled()


async def test_guided_and_polled_waits_share_the_window() -> None:
    continuity = make(bundled(guidance=(Guidance(seconds=3600),)))
    run = continuity.start_run()
    assert await poll(run, 9) == [3600] * 5


async def test_the_margin_is_added_before_the_longest_hint_is_chosen() -> None:
    hints = (Guidance(seconds=120, approximate=True), Guidance(seconds=140))
    run = make(bundled(guidance=hints)).start_run()
    assert await poll(run, 1) == [150]


@pytest.mark.parametrize(
    ("hint", "held"), [(Guidance(seconds=0), 1), (Guidance(seconds=0, approximate=True), 30)]
)
async def test_zero_is_at_least_a_second_and_approximate_zero_gets_the_margin(
    hint: Guidance, held: int
) -> None:
    run = make(bundled(guidance=(hint,))).start_run()
    assert await poll(run, 1) == [held]


async def test_a_reset_beyond_the_longest_wait_ends_the_run_and_says_when_it_would_be() -> None:
    run = make(bundled(guidance=(Guidance(seconds=74 * 3600),))).start_run()
    assert await poll(run, 2) == []
    report = run.report()
    assert report.possible_at is not None
    assert report.possible_at.isoformat() == "2026-03-04T14:00:00+00:00"
    assert "259200" not in str(report)


async def test_an_unlimited_longest_wait_goes_up_to_the_ceiling() -> None:
    plugins = bundled(guidance=(Guidance(seconds=20 * 3600),), usage_limit_wait={"max_wait": "unlimited"})
    assert await poll(make(plugins).start_run(), 1) == [20 * 3600]
    beyond = bundled(guidance=(Guidance(seconds=25 * 3600),), usage_limit_wait={"max_wait": "unlimited"})
    assert await poll(make(beyond).start_run(), 1) == []


@pytest.mark.parametrize(("stated", "held"), [(7, 7), (2, 5)])
async def test_of_hint_and_own_delay_the_longer_counts(stated: int, held: int) -> None:
    run = make(bundled(guidance=(Guidance(seconds=stated),))).start_run()
    await play(run, [failed(CauseKind.RATE_LIMIT), answer()])
    assert waits_of(run) == [held]


async def test_a_stop_strategy_ends_the_retries() -> None:
    continuity = make(bundled(stream_recovery={"stop": "after_delay(9)"}))
    run = continuity.start_run()
    await play(run, [failed()] * 5)
    assert waits_of(run) == [5, 5]


async def test_a_child_run_is_bounded_by_its_parents_ceilings_and_ends_with_it() -> None:
    continuity = make(max_resumes=None, ceiling_resumes=5)
    parent = continuity.start_run("parent")
    turns = [cut(str(number)) for number in range(9)]
    assert (await play(parent, turns[:3])).resumes == 3
    child = continuity.start_run(parent=parent)
    assert (await play(child, turns)).resumes == 2
    assert parent.state.resumes == 5
    assert not (await parent.turn_ended(cut("more"))).resume
    parent.settled()
    assert child.aborted
    assert not (await continuity.start_run().turn_ended(answer())).resume


async def test_a_child_has_budgets_of_its_own_below_the_ceilings() -> None:
    continuity = make(max_resumes=2, no_progress=0)
    parent = continuity.start_run("parent")
    await play(parent, [cut()] * 3)
    child = continuity.start_run(parent=parent)
    assert (await play(child, [cut()] * 4)).resumes == 2
