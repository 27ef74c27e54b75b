"""Deadlines, the ticker, and what becomes of a wait when the wall clock is moved."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.engine import ticker as ticker_module
from continuity_core.engine.alarm import ThreadAlarm
from continuity_core.engine.clock import SYSTEM_CLOCK, Deadline, SystemClock, longest_on_monotonic
from continuity_core.engine.hold import HoldOutcome, Waker, hold_sync
from continuity_core.engine.ticker import SHARED_TICKER, Ticker
from continuity_core.testing.clocks import ScaledClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class MovableTime:
    """Stands in for ``time.time`` and ``time.monotonic``."""

    def __init__(self) -> None:
        self.wall = NOON.timestamp()
        self.monotonic = 50.0

    def clock(self) -> SystemClock:
        return SystemClock(
            ticker=Ticker(wall=lambda: self.wall, monotonic=lambda: self.monotonic, look_every=0.001)
        )


class Holder:
    """A synchronous hold in a thread of its own."""

    def __init__(self, clock: SystemClock, deadline: Deadline) -> None:
        self.waker = Waker()
        self.outcome: HoldOutcome | None = None
        self._thread = threading.Thread(target=self._hold, args=(clock, deadline))
        self._thread.start()
        self.after(lambda: clock.ticker.pending == 1)

    def _hold(self, clock: SystemClock, deadline: Deadline) -> None:
        self.outcome = hold_sync(clock, deadline, self.waker)

    @staticmethod
    def after(condition: Callable[[], bool]) -> None:
        pause = threading.Event()
        for _ in range(5000):
            if condition():
                return
            pause.wait(0.001)
        raise AssertionError("the condition did not come true within 5 s")

    def is_still_held(self) -> bool:
        """After several looks at the clock."""
        self._thread.join(0.01)
        return self._thread.is_alive()

    def result(self) -> HoldOutcome:
        self._thread.join(5)
        assert self.outcome is not None
        return self.outcome


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"seconds": 1.0, "until": NOON}, "exactly one"),
        ({"seconds": -1.0}, "finite number >= 0"),
        ({"seconds": float("nan")}, "finite number >= 0"),
        ({"seconds": float("inf")}, "finite number >= 0"),
        ({"until": NOON.replace(tzinfo=None)}, "time zone"),
    ],
)
def test_a_deadline_without_meaning_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Deadline(**arguments)  # type: ignore[arg-type]


def test_the_length_of_a_deadline_is_counted_from_its_start() -> None:
    assert Deadline.after(5).length(NOON) == 5
    assert Deadline.at(NOON + timedelta(minutes=1)).length(NOON) == 60
    assert Deadline.at(NOON).length(NOON + timedelta(minutes=1)) == 0
    in_tokyo = (NOON + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=9)))
    assert Deadline.at(in_tokyo).length(NOON) == 60


def test_the_system_clock_gives_aware_wall_time() -> None:
    before = datetime.now(UTC)
    now = SYSTEM_CLOCK.now()
    assert before - timedelta(seconds=1) <= now <= datetime.now(UTC) + timedelta(seconds=1)
    assert now.utcoffset() == timedelta(0)


def test_a_wait_to_an_instant_passes_while_the_computer_is_suspended() -> None:
    time = MovableTime()
    holder = Holder(time.clock(), Deadline.at(NOON + timedelta(hours=2)))
    assert holder.is_still_held()
    time.wall += 2 * 3600
    assert holder.result() == HoldOutcome(held_seconds=7200, ended_by=None)


def test_a_relative_wait_does_not_follow_the_wall_clock() -> None:
    time = MovableTime()
    holder = Holder(time.clock(), Deadline.after(60))
    time.wall += 3600
    assert holder.is_still_held()
    holder.waker.wake("enough")
    assert holder.result() == HoldOutcome(held_seconds=0, ended_by="enough")


def test_a_wall_clock_set_back_does_not_lengthen_a_wait() -> None:
    time = MovableTime()
    holder = Holder(time.clock(), Deadline.at(NOON + timedelta(seconds=600)))
    time.wall -= 24 * 3600
    time.monotonic += 601
    assert holder.is_still_held()
    time.monotonic += 2
    assert holder.result() == HoldOutcome(held_seconds=600, ended_by=None)


def test_what_was_held_of_an_ended_wait_counts_suspended_time() -> None:
    time = MovableTime()
    holder = Holder(time.clock(), Deadline.at(NOON + timedelta(seconds=600)))
    time.monotonic += 10
    time.wall += 250
    holder.waker.wake("abort")
    assert holder.result() == HoldOutcome(held_seconds=250, ended_by="abort")


def test_what_was_held_of_an_ended_wait_is_never_negative() -> None:
    time = MovableTime()
    holder = Holder(time.clock(), Deadline.at(NOON + timedelta(seconds=600)))
    time.wall -= 3600
    holder.waker.wake("abort")
    assert holder.result() == HoldOutcome(held_seconds=0, ended_by="abort")


@given(st.floats(min_value=0, max_value=86_400 * 365))
def test_the_bound_against_a_moved_clock_has_a_small_slack(length: float) -> None:
    bound = longest_on_monotonic(length)
    assert length < bound <= length * 1.0011 + 2


def test_the_ticker_rings_in_order_and_its_thread_ends_when_nothing_is_pending() -> None:
    time = MovableTime()
    ticker = time.clock().ticker
    early, late = ThreadAlarm(), ThreadAlarm()
    ticker.add(late, due=70)
    ticker.add(early, due=60)
    time.monotonic = 65
    nudge = ThreadAlarm()
    ticker.add(nudge, due=0)
    assert early.wait(timeout=5)
    assert not late.wait(timeout=0.005)
    ticker.discard(late)
    Holder.after(lambda: ticker._thread is None)
    assert ticker.pending == 0


def test_an_earlier_alarm_does_not_wait_for_a_later_one_that_was_there_first() -> None:
    ticker = Ticker()
    late, early = ThreadAlarm(), ThreadAlarm()
    ticker.add(late, due=ticker.monotonic() + 3600)
    assert not late.wait(timeout=0.01)
    ticker.add(early, due=ticker.monotonic())
    assert early.wait(timeout=5)
    assert ticker.pending == 1
    ticker.discard(late)


def test_entries_of_forgotten_alarms_do_not_pile_up() -> None:
    ticker = MovableTime().clock().ticker
    kept = ThreadAlarm()
    ticker.add(kept, due=1e9, until=1e12)
    for _ in range(1000):
        alarm = ThreadAlarm()
        ticker.add(alarm, due=1e9, until=1e12)
        ticker.discard(alarm)
    assert len(ticker._by_monotonic) <= 3
    assert len(ticker._by_wall) <= 3
    ticker.discard(kept)
    Holder.after(lambda: ticker._thread is None)


def test_one_call_into_a_loop_rings_all_its_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    original = ticker_module.ring

    def counting_ring(alarms: list[ThreadAlarm]) -> None:
        rung.append(len(alarms))
        original(alarms)

    monkeypatch.setattr(ticker_module, "ring", counting_ring)
    time = MovableTime()
    ticker = time.clock().ticker
    alarms = [ThreadAlarm() for _ in range(100)]
    for alarm in alarms:
        ticker.add(alarm, due=1e9, until=time.wall + 60)
    time.wall += 60
    assert all(alarm.wait(timeout=5) for alarm in alarms)
    assert rung == [100]


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="the platform cannot fork")
def test_a_forked_child_starts_with_an_empty_ticker() -> None:
    ticker = Ticker()
    ticker.add(ThreadAlarm(), due=ticker.monotonic() + 0.05)
    ticker.forget_after_fork()
    assert ticker.pending == 0
    alarm = ThreadAlarm()
    ticker.add(alarm, due=ticker.monotonic())
    assert alarm.wait(timeout=5)


def test_the_system_clock_uses_the_shared_ticker() -> None:
    assert SystemClock().ticker is SHARED_TICKER is SYSTEM_CLOCK.ticker


def test_a_scaled_clock_is_faster_and_reports_full_lengths() -> None:
    clock = ScaledClock(100_000)
    real, before = SYSTEM_CLOCK.monotonic(), clock.now()
    assert hold_sync(clock, Deadline.after(600), Waker()) == HoldOutcome(held_seconds=600, ended_by=None)
    outcome = hold_sync(clock, Deadline.at(clock.now() + timedelta(seconds=600)), Waker())
    assert outcome.ended_by is None
    assert SYSTEM_CLOCK.monotonic() - real < 60
    assert clock.now() - before >= timedelta(seconds=1200)


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_a_scaled_clock_needs_a_positive_factor(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        ScaledClock(factor)
