"""Holding a wait on the real clock, and ending it from everywhere."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskStatus

from continuity_core.engine.clock import Deadline, SystemClock
from continuity_core.engine.hold import HoldOutcome, Waker, hold, hold_sync
from continuity_core.engine.ticker import Ticker

HOUR = 3600.0
DEADLINES = [
    pytest.param(lambda: Deadline.after(HOUR), id="relative"),
    pytest.param(lambda: Deadline.at(datetime.now(UTC) + timedelta(hours=1)), id="instant"),
]


@pytest.fixture
def clock() -> SystemClock:
    """Has a ticker of its own, so that a test sees only its own alarms."""
    return SystemClock(ticker=Ticker())


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110 - what is waited for is the state of another thread
            await anyio.sleep(0.001)


def until_sync(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(5000):
        if condition():
            return
        pause.wait(0.001)
    raise AssertionError("the condition did not come true within 5 s")


def ticker_thread_of(clock: SystemClock) -> threading.Thread | None:
    return clock.ticker._thread


@pytest.mark.anyio
async def test_a_wait_is_held_to_its_end_and_counts_at_its_length(clock: SystemClock) -> None:
    before = clock.monotonic()
    outcome = await hold(clock, Deadline.after(0.005), Waker())
    assert outcome == HoldOutcome(held_seconds=0.005, ended_by=None)
    assert clock.monotonic() - before >= 0.005


@pytest.mark.anyio
async def test_a_wait_to_an_instant_ends_not_before_it(clock: SystemClock) -> None:
    instant = clock.now() + timedelta(milliseconds=5)
    outcome = await hold(clock, Deadline.at(instant), Waker())
    assert outcome.ended_by is None
    assert clock.now() >= instant


@pytest.mark.anyio
@pytest.mark.parametrize(
    "deadline", [Deadline.after(0), Deadline.at(datetime(2020, 1, 1, tzinfo=UTC))], ids=["zero", "past"]
)
async def test_a_wait_of_no_length_ends_at_once(clock: SystemClock, deadline: Deadline) -> None:
    assert await hold(clock, deadline, Waker()) == HoldOutcome(held_seconds=0.0, ended_by=None)
    assert hold_sync(clock, deadline, Waker()) == HoldOutcome(held_seconds=0.0, ended_by=None)


@pytest.mark.anyio
@pytest.mark.parametrize("make_deadline", [*DEADLINES, pytest.param(lambda: Deadline.after(0), id="zero")])
async def test_a_wake_before_the_hold_ends_it_at_once(
    clock: SystemClock, make_deadline: Callable[[], Deadline]
) -> None:
    waker = Waker()
    waker.wake("abort")
    with anyio.fail_after(5):
        outcome = await hold(clock, make_deadline(), waker)
    assert outcome.ended_by == "abort"
    assert outcome.held_seconds < 5
    assert hold_sync(clock, make_deadline(), waker).ended_by == "abort"
    assert clock.ticker.pending == 0


@pytest.mark.anyio
@pytest.mark.parametrize("make_deadline", DEADLINES)
async def test_a_wake_from_the_same_loop_ends_the_wait(
    clock: SystemClock, make_deadline: Callable[[], Deadline]
) -> None:
    waker = Waker()
    order: list[str] = []

    async def holder() -> None:
        outcome = await hold(clock, make_deadline(), waker)
        order.append(f"ended by {outcome.ended_by}")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(holder)
            await until(lambda: clock.ticker.pending == 1)
            order.append("abort")
            assert waker.wake("abort")
    assert order == ["abort", "ended by abort"]
    assert clock.ticker.pending == 0


@pytest.mark.anyio
async def test_a_wake_from_another_thread_ends_the_wait(clock: SystemClock) -> None:
    waker = Waker()

    def wake_when_held() -> None:
        until_sync(lambda: clock.ticker.pending == 1)
        waker.wake("abort")

    thread = threading.Thread(target=wake_when_held)
    thread.start()
    with anyio.fail_after(5):
        outcome = await hold(clock, Deadline.after(HOUR), waker)
    thread.join()
    assert outcome.ended_by == "abort"
    assert 0 <= outcome.held_seconds < 5


@pytest.mark.parametrize("make_deadline", DEADLINES)
def test_a_wake_from_another_thread_ends_a_synchronous_wait(
    clock: SystemClock, make_deadline: Callable[[], Deadline]
) -> None:
    waker = Waker()

    def wake_when_held() -> None:
        until_sync(lambda: clock.ticker.pending == 1)
        waker.wake("abort")

    thread = threading.Thread(target=wake_when_held)
    thread.start()
    outcome = hold_sync(clock, make_deadline(), waker)
    thread.join()
    assert outcome.ended_by == "abort"
    assert clock.ticker.pending == 0


def test_a_synchronous_wait_is_held_to_its_end(clock: SystemClock) -> None:
    before = clock.monotonic()
    assert hold_sync(clock, Deadline.after(0.005), Waker()).held_seconds == 0.005
    assert clock.monotonic() - before >= 0.005


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the platform has no SIGUSR1")
@pytest.mark.parametrize("synchronous", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_wake_from_a_signal_handler_ends_the_wait(
    clock: SystemClock, synchronous: bool, backend: str
) -> None:
    waker = Waker()
    previous = signal.signal(signal.SIGUSR1, lambda *_: waker.wake("signal"))

    def send_when_held() -> None:
        until_sync(lambda: clock.ticker.pending == 1)
        os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=send_when_held)
    thread.start()
    try:
        if synchronous:
            outcome = hold_sync(clock, Deadline.after(HOUR), waker)
        else:
            outcome = anyio.run(hold, clock, Deadline.after(HOUR), waker, backend=backend)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, previous)
    assert outcome.ended_by == "signal"


def test_only_the_first_wake_counts() -> None:
    waker = Waker()
    assert waker.reason is None
    assert not waker.is_woken()
    assert waker.wake("abort")
    assert not waker.wake("steer")
    assert waker.is_woken()
    assert waker.reason == "abort"


@pytest.mark.anyio
async def test_a_wake_after_the_hold_changes_nothing_of_its_outcome(clock: SystemClock) -> None:
    waker = Waker()
    outcome = await hold(clock, Deadline.after(0.001), waker)
    assert waker.wake("late")
    assert outcome.ended_by is None


@pytest.mark.anyio
async def test_one_waker_ends_all_waits_held_with_it(clock: SystemClock) -> None:
    waker = Waker()
    outcomes: list[HoldOutcome] = []

    async def holder() -> None:
        outcomes.append(await hold(clock, Deadline.after(HOUR), waker))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(holder)
            await until(lambda: clock.ticker.pending == 20)
            waker.wake("shutdown")
    assert [outcome.ended_by for outcome in outcomes] == ["shutdown"] * 20


@pytest.mark.anyio
async def test_a_wake_in_the_last_moment_is_never_lost(clock: SystemClock) -> None:
    """Wakes of another thread race with the end of the wait: whoever is first, the two sides agree."""
    for _ in range(100):
        waker = Waker()
        thread = threading.Thread(target=waker.wake, args=("abort",))
        thread.start()
        with anyio.fail_after(5):
            outcome = await hold(clock, Deadline.after(0.0002), waker)
        reason_at_return = waker.reason
        thread.join()
        assert waker.reason == "abort"
        if outcome.ended_by is not None:
            assert outcome.ended_by == reason_at_return == "abort"
        assert clock.ticker.pending == 0


@pytest.mark.anyio
@pytest.mark.parametrize("make_deadline", DEADLINES)
async def test_a_cancelled_wait_leaves_nothing_behind(
    clock: SystemClock, make_deadline: Callable[[], Deadline]
) -> None:
    waker = Waker()
    reached: list[str] = []

    async def holder(*, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as scope:
            task_status.started(scope)
            await hold(clock, make_deadline(), waker)
            reached.append("after the hold")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            scope = await tasks.start(holder)
            await until(lambda: clock.ticker.pending == 1)
            scope.cancel()
    assert reached == []
    assert clock.ticker.pending == 0
    assert not waker._alarms
    await until(lambda: ticker_thread_of(clock) is None)
    waker.wake("after the cancellation")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "deadline", [Deadline.after(0), Deadline.after(HOUR)], ids=["without length", "with length"]
)
@pytest.mark.parametrize("woken", [False, True])
async def test_a_hold_in_a_cancelled_scope_is_never_passed(
    clock: SystemClock, deadline: Deadline, woken: bool
) -> None:
    waker = Waker()
    if woken:
        waker.wake("abort")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await hold(clock, deadline, waker)
        raise AssertionError("the cancellation did not pass through")
    assert scope.cancelled_caught
    assert clock.ticker.pending == 0


@pytest.mark.parametrize("steps", range(6))
def test_a_native_cancellation_passes_through_at_every_await(clock: SystemClock, steps: int) -> None:
    """On asyncio: the task is cancelled after so many turns of its loop, also in the turn of the wake."""

    async def main() -> None:
        waker = Waker()
        task = asyncio.create_task(hold(clock, Deadline.after(HOUR), waker))
        for _ in range(steps):
            await asyncio.sleep(0)
        waker.wake("abort")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert clock.ticker.pending == 0
        assert not waker._alarms
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_holding_needs_no_second_task(clock: SystemClock) -> None:
    async def main() -> None:
        waker = Waker()
        task = asyncio.create_task(hold(clock, Deadline.after(HOUR), waker))
        await until(lambda: clock.ticker.pending == 1)
        assert asyncio.all_tasks() == {task, asyncio.current_task()}
        waker.wake("done")
        await task

    asyncio.run(main())


@pytest.mark.anyio
async def test_five_thousand_waits_to_one_instant_end_together(clock: SystemClock) -> None:
    ended: list[Any] = []

    async def holder(deadline: Deadline) -> None:
        ended.append((await hold(clock, deadline, Waker())).ended_by)

    threads_before = threading.active_count()
    async with anyio.create_task_group() as tasks:
        deadline = Deadline.at(clock.now() + timedelta(seconds=0.5))
        for _ in range(5000):
            tasks.start_soon(holder, deadline)
        await anyio.lowlevel.checkpoint()
        assert threading.active_count() <= threads_before + 1
    assert ended == [None] * 5000
    assert clock.ticker.pending == 0


def test_a_wake_after_the_loop_has_ended_does_not_raise(clock: SystemClock) -> None:
    from continuity_core.engine.alarm import LoopAlarm

    async def make() -> LoopAlarm:
        return LoopAlarm()

    for backend in ("asyncio", "trio"):
        waker = Waker()
        waker.attach(anyio.run(make, backend=backend))
        assert waker.wake("shutdown")
