"""The virtual clock: waits take no time, keep their order, and can be ended as on the real one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskStatus

from continuity_core.engine.clock import Deadline
from continuity_core.engine.hold import HoldOutcome, Waker, hold, hold_sync
from continuity_core.testing.clocks import DEFAULT_START, RecordedWait, VirtualClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def rounds(number: int = 30) -> None:
    for _ in range(number):
        await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_a_wait_is_jumped_over_and_recorded() -> None:
    clock = VirtualClock()
    assert clock.now() == NOON == DEFAULT_START
    assert await hold(clock, Deadline.after(600), Waker()) == HoldOutcome(held_seconds=600, ended_by=None)
    until = NOON + timedelta(hours=2)
    assert (await hold(clock, Deadline.at(until), Waker())).held_seconds == 6600
    assert clock.now() == until
    assert clock.monotonic() == 7200
    assert clock.waits == [
        RecordedWait(seconds=600, until=None, held=True),
        RecordedWait(seconds=6600, until=until, held=True),
    ]


def test_a_synchronous_wait_is_jumped_over_and_recorded() -> None:
    clock = VirtualClock()
    assert hold_sync(clock, Deadline.after(600), Waker()) == HoldOutcome(held_seconds=600, ended_by=None)
    assert clock.now() == NOON + timedelta(minutes=10)
    assert clock.waits == [RecordedWait(seconds=600, until=None, held=True)]


@pytest.mark.anyio
async def test_another_task_has_one_scheduler_round_to_end_the_wait() -> None:
    began = anyio.Event()
    waker = Waker()

    def on_wait(number: int, wait: RecordedWait) -> None:
        assert (number, wait.seconds, wait.held) == (1, 600, False)
        began.set()

    clock = VirtualClock(on_wait=on_wait)

    async def abort_when_waiting() -> None:
        await began.wait()
        await anyio.lowlevel.checkpoint()
        waker.wake("abort")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(abort_when_waiting)
        outcome = await hold(clock, Deadline.after(600), waker)
    assert outcome == HoldOutcome(held_seconds=0, ended_by="abort")
    assert clock.waits == [RecordedWait(seconds=600, until=None, held=False, ended_by="abort")]
    assert clock.now() == NOON
    assert clock.monotonic() == 0


@pytest.mark.anyio
async def test_a_wait_ended_by_the_callback_itself_does_not_move_the_clock() -> None:
    waker = Waker()

    def on_wait(number: int, _: RecordedWait) -> None:
        if number == 2:
            waker.wake("off")

    clock = VirtualClock(on_wait=on_wait)
    assert (await hold(clock, Deadline.after(5), waker)).ended_by is None
    assert (await hold(clock, Deadline.after(7), waker)).ended_by == "off"
    assert clock.now() == NOON + timedelta(seconds=5)


@pytest.mark.anyio
async def test_a_coroutine_of_the_callback_is_awaited_before_the_round() -> None:
    waker = Waker()

    async def on_wait(_: int, __: RecordedWait) -> None:
        await rounds()
        waker.wake("abort")

    clock = VirtualClock(on_wait=on_wait)
    assert (await hold(clock, Deadline.after(600), waker)).ended_by == "abort"
    assert clock.now() == NOON


def test_a_coroutine_callback_is_refused_in_a_synchronous_wait() -> None:
    async def nothing() -> None:
        raise AssertionError("never awaited")

    made = nothing()
    clock = VirtualClock(on_wait=lambda *_: made)
    with pytest.raises(TypeError, match="on_wait"):
        hold_sync(clock, Deadline.after(1), Waker())
    made.close()


@pytest.mark.anyio
async def test_a_wake_before_the_wait_begins_no_wait() -> None:
    clock = VirtualClock()
    waker = Waker()
    waker.wake("abort")
    assert (await hold(clock, Deadline.after(600), waker)).ended_by == "abort"
    assert hold_sync(clock, Deadline.after(600), waker).ended_by == "abort"
    assert clock.waits == []
    assert clock.now() == NOON


@pytest.mark.anyio
@pytest.mark.parametrize("auto_advance", [True, False])
async def test_waits_end_in_the_order_of_their_deadlines(auto_advance: bool) -> None:
    clock = VirtualClock(auto_advance=auto_advance)
    ended: list[tuple[float, datetime]] = []

    async def holder(deadline: Deadline, name: float) -> None:
        await hold(clock, deadline, Waker())
        ended.append((name, clock.now()))

    async with anyio.create_task_group() as tasks:
        for seconds in (50, 10, 40, 20, 10):
            tasks.start_soon(holder, Deadline.after(seconds), seconds)
        tasks.start_soon(holder, Deadline.at(NOON + timedelta(seconds=30)), 30)
        await rounds()
        if not auto_advance:
            assert ended == []
            clock.advance(15)
            await rounds()
            assert [name for name, _ in ended] == [10, 10]
            clock.advance(100)
    assert [name for name, _ in ended] == [10, 10, 20, 30, 40, 50]
    if auto_advance:
        assert [(now - NOON).total_seconds() for _, now in ended] == [10, 10, 20, 30, 40, 50]


@pytest.mark.anyio
async def test_waits_that_follow_one_another_keep_the_order_among_tasks() -> None:
    clock = VirtualClock()
    seen: list[tuple[str, float]] = []

    async def several(name: str, *lengths: float) -> None:
        for length in lengths:
            await hold(clock, Deadline.after(length), Waker())
            seen.append((name, clock.monotonic()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(several, "a", 10, 10, 10)
        tasks.start_soon(several, "b", 4, 4, 4, 4)
    assert seen == [("b", 4), ("b", 8), ("a", 10), ("b", 12), ("b", 16), ("a", 20), ("a", 30)]


@pytest.mark.anyio
async def test_without_auto_advance_only_the_hand_moves_the_clock() -> None:
    clock = VirtualClock(auto_advance=False)
    waker = Waker()
    outcomes: list[HoldOutcome] = []

    async def holder() -> None:
        outcomes.append(await hold(clock, Deadline.after(60), waker))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(holder)
        await rounds()
        clock.advance(59.5)
        await rounds()
        assert outcomes == []
        waker.wake("abort")
    assert outcomes == [HoldOutcome(held_seconds=59.5, ended_by="abort")]


async def held(clock: VirtualClock, deadline: Deadline, moves: list[Callable[[], None]]) -> list[bool]:
    """Whether the wait was over after each of the moves."""
    over: list[bool] = []
    done: list[HoldOutcome] = []

    async def holder(*, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as scope:
            task_status.started(scope)
            done.append(await hold(clock, deadline, Waker()))

    async with anyio.create_task_group() as tasks:
        scope = await tasks.start(holder)
        for move in [lambda: None, *moves]:
            await rounds()
            move()
            await rounds()
            over.append(bool(done))
        scope.cancel()
    return over[1:]


@pytest.mark.anyio
async def test_a_suspended_computer_passes_waits_to_instants_only() -> None:
    clock = VirtualClock(auto_advance=False)
    until = Deadline.at(NOON + timedelta(hours=1))
    assert await held(clock, until, [lambda: clock.suspend(3599), lambda: clock.suspend(1)]) == [False, True]
    assert clock.monotonic() == 0
    assert await held(
        clock, Deadline.after(60), [lambda: clock.suspend(9999), lambda: clock.advance(60)]
    ) == [
        False,
        True,
    ]


@pytest.mark.anyio
async def test_a_wall_clock_set_back_is_bounded_by_monotonic_time() -> None:
    clock = VirtualClock(auto_advance=False)
    moves: list[Callable[[], None]] = [
        lambda: clock.set_wall(NOON - timedelta(days=1)),
        lambda: clock.advance(600),
        lambda: clock.advance(2),
    ]
    assert await held(clock, Deadline.at(NOON + timedelta(seconds=600)), moves) == [False, False, True]


@pytest.mark.anyio
async def test_a_wall_clock_set_forward_ends_a_wait_to_an_instant() -> None:
    clock = VirtualClock(auto_advance=False)
    later = NOON + timedelta(seconds=600)
    assert await held(clock, Deadline.at(later), [lambda: clock.set_wall(later)]) == [True]


@pytest.mark.anyio
@pytest.mark.parametrize("auto_advance", [True, False])
async def test_a_cancelled_wait_leaves_the_clock_and_the_others_alone(auto_advance: bool) -> None:
    clock = VirtualClock(auto_advance=auto_advance)
    outcomes: list[HoldOutcome] = []
    began = anyio.Event()

    async def cancelled(*, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as scope:
            task_status.started(scope)
            began.set()
            await hold(clock, Deadline.after(10), Waker())
            raise AssertionError("the cancellation did not pass through")

    async def holder() -> None:
        outcomes.append(await hold(clock, Deadline.after(20), Waker()))

    async with anyio.create_task_group() as tasks:
        scope = await tasks.start(cancelled)
        tasks.start_soon(holder)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        scope.cancel()
        await rounds()
        if not auto_advance:
            clock.advance(20)
    assert outcomes == [HoldOutcome(held_seconds=20, ended_by=None)]
    assert clock.now() == NOON + timedelta(seconds=20)
    assert [wait.ended_by for wait in clock.waits if not wait.held] == ["cancelled"]


def test_another_thread_can_end_a_synchronous_wait() -> None:
    clock = VirtualClock(auto_advance=False)
    waker = Waker()
    began = threading.Event()
    clock.on_wait = lambda *_: began.set()

    def wake() -> None:
        assert began.wait(5)
        waker.wake("abort")

    thread = threading.Thread(target=wake)
    thread.start()
    assert hold_sync(clock, Deadline.after(600), waker).ended_by == "abort"
    thread.join()
    assert clock.now() == NOON


def test_synchronous_waits_of_several_threads_end_in_order() -> None:
    clock = VirtualClock(auto_advance=False)
    began = threading.Semaphore(0)
    clock.on_wait = lambda *_: began.release()
    ended: list[float] = []

    def holder(seconds: float) -> None:
        hold_sync(clock, Deadline.after(seconds), Waker())
        ended.append(seconds)

    threads = [threading.Thread(target=holder, args=(seconds,)) for seconds in (30, 10, 20)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert began.acquire(timeout=5)
    for _ in threads:
        clock.advance(10)
        expected = len(ended) + 1
        pause = threading.Event()
        for _ in range(5000):
            if len(ended) >= expected:
                break
            pause.wait(0.001)
    for thread in threads:
        thread.join(5)
    assert sorted(ended) == [10, 20, 30]
    assert clock.now() == NOON + timedelta(seconds=30)


def test_threads_with_auto_advance_all_end() -> None:
    clock = VirtualClock()
    threads = [
        threading.Thread(target=hold_sync, args=(clock, Deadline.after(seconds), Waker()))
        for seconds in (300, 100, 200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    assert all(wait.held for wait in clock.waits)
    assert clock.monotonic() >= 300


@pytest.mark.anyio
async def test_a_thousand_waits_are_jumped_over_in_order() -> None:
    clock = VirtualClock()
    ended: list[float] = []

    async def holder(seconds: float) -> None:
        await hold(clock, Deadline.after(seconds), Waker())
        ended.append(seconds)

    async with anyio.create_task_group() as tasks:
        for number in range(1000):
            tasks.start_soon(holder, float(number * 7919 % 1000))
    assert ended == sorted(ended)
    assert len(ended) == 1000
    assert clock.monotonic() == pytest.approx(999)


def test_instants_without_a_zone_and_time_running_back_are_refused() -> None:
    clock = VirtualClock()
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(ValueError, match="time zone"):
        VirtualClock(naive)
    with pytest.raises(ValueError, match="time zone"):
        clock.set_wall(naive)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            clock.advance(wrong)
        with pytest.raises(ValueError, match="finite"):
            clock.suspend(wrong)
