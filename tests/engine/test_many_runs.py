"""Many runs at a time: ended together by one call into their event loop, each with its own story."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import attrs
import pytest
from runs import bundled, failed, make
from saying import Watching

from continuity_core import (
    CauseKind,
    Continuity,
    EntryRef,
    EventKind,
    Omit,
    Outcome,
    Run,
    RunOutcome,
    SystemClock,
)
from continuity_core import continuity as continuity_module

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """What is counted are calls into an asyncio loop."""
    return "asyncio"


NUMBER = 50


class CountedCalls:
    """How often somebody called into this event loop from anywhere."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        loop = asyncio.get_running_loop()
        original: Callable[..., Any] = loop.call_soon_threadsafe

        def counting(*arguments: Any, **keywords: Any) -> Any:
            self.number += 1
            return original(*arguments, **keywords)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counting)


async def _waiting(continuity: Continuity, number: int = NUMBER) -> tuple[list[Run], list[asyncio.Task[Any]]]:
    runs = [continuity.start_run() for _ in range(number)]
    tasks = [asyncio.create_task(run.turn_ended(failed(CauseKind.USAGE_LIMIT))) for run in runs]
    while not all(run.status()["waiting"] for run in runs):
        await anyio.lowlevel.checkpoint()
    return runs, tasks


def _on_the_real_clock() -> Continuity:
    continuity = make(bundled())
    continuity.clock = SystemClock()
    return continuity


async def test_all_waiting_runs_are_aborted_by_one_call_into_their_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    continuity = _on_the_real_clock()
    runs, tasks = await _waiting(continuity)
    calls = CountedCalls(monkeypatch)
    continuity.abort_all()
    assert calls.number == 1
    assert all(run.aborted for run in runs)
    results = await asyncio.gather(*tasks)
    assert {result.outcome for result in results} == {Outcome.CANCELLED}
    for run in runs:
        kinds = [event.kind for event in run.report().events]
        assert kinds[-3:] == [EventKind.ABORTED, EventKind.WAIT_ENDED, EventKind.BOUNDARY]
        assert run.report().waits[-1].ended_by == "abort"


async def test_switching_recovery_off_ends_all_waits_by_one_call_into_their_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    continuity = _on_the_real_clock()
    runs, tasks = await _waiting(continuity)
    calls = CountedCalls(monkeypatch)
    continuity.disable()
    assert calls.number == 1
    assert not any(result.resume for result in await asyncio.gather(*tasks))
    for run in runs:
        assert [event for event in run.report().events if event.kind is EventKind.MODE_CHANGED]
        assert not run.aborted


async def test_runs_under_an_aborted_one_are_aborted_before_it_and_only_once() -> None:
    watcher = Watching()
    continuity = make([*bundled(), watcher])
    parent = continuity.start_run("parent")
    child = continuity.start_run("child", parent=parent)
    grandchild = continuity.start_run("grandchild", parent=child)
    continuity.abort_all()
    parent.abort()
    told = [event.run for event in watcher.events if event.kind is EventKind.ABORTED]
    assert told == [grandchild.id, child.id, parent.id]
    assert {run.report().outcome for run in (parent, child, grandchild)} == {RunOutcome.ABORTED}


async def test_a_listener_that_fails_for_good_leaves_no_run_asleep() -> None:
    continuity = _on_the_real_clock()
    runs, tasks = await _waiting(continuity, 3)

    def interrupt(event: Any) -> None:
        if event.kind is EventKind.ABORTED:
            raise KeyboardInterrupt

    for run in runs:
        run._recorder.on_event = interrupt
    with pytest.raises(KeyboardInterrupt):
        continuity.abort_all()
    for run in runs:
        run._recorder.on_event = None
    assert {result.outcome for result in await asyncio.gather(*tasks)} == {Outcome.CANCELLED}


def _edited(continuity: Continuity, name: str) -> bool:
    """Whether the session still knows of an edit that was made in an earlier run of it."""
    with continuity.start_run(name) as run:
        known = run.is_left_out(EntryRef.stable(name))
        edits = {EntryRef.stable(name): Omit(EntryRef.stable(name), "w")}
        run.state = attrs.evolve(run.state, session=run.state.session.with_edits(edits))
    return known


def test_the_session_that_was_idle_longest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuity_module, "KEPT_SESSIONS", 3)
    continuity = make()
    at_work = continuity.start_run("at work")
    for name in ("a", "b", "c", "a", "d"):
        _edited(continuity, name)
    assert [_edited(continuity, name) for name in ("c", "a", "d")] == [True, True, True]
    assert not _edited(continuity, "b")
    at_work.settled()
    assert len(continuity._sessions) == 3


class CountedLookups(dict[str, Any]):
    """Counts how often all of it is gone through."""

    iterations = 0

    def __iter__(self) -> Any:
        self.iterations += 1
        return super().__iter__()


def test_starting_a_run_does_not_look_at_the_other_sessions() -> None:
    continuity = make()
    sessions = CountedLookups(continuity._sessions)
    continuity._sessions = sessions
    for number in range(100):
        continuity.start_run(f"session-{number}")
    assert sessions.iterations == 0
