"""Steering, follow-ups and aborts: from the same task, another task, another thread."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from continuity_core import Continuity, RunOutcome, StopReason
from continuity_core.hosts.reference import Tool
from continuity_core.hosts.reference.events import Aborted, InputPickedUp, InputQueued
from continuity_core.testing.clocks import RecordedWait, VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[True, False], ids=["with-continuity", "alone"])
def maybe(request: pytest.FixtureRequest, continuity: Continuity) -> Continuity | None:
    """The host's own queues work the same with and without us."""
    return continuity if request.param else None


async def run_while_held(
    server: FaultServer, session: Any, number: int, act: Callable[[], object], *, gone: bool = False
) -> Any:
    """Run a prompt, and act while response ``number`` is held back."""
    hold = server.hold(number)
    outcomes: list[Any] = []

    async def run() -> None:
        outcomes.append(await session.run("Finish the task"))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await hold.reached()
            act()
            if gone:
                await hold.over()
                assert hold.client_gone
            hold.release()
    return outcomes[0]


def texts(request: Any) -> list[str]:
    return [message.text for message in request.messages]


async def test_steering_is_picked_up_after_the_current_turn(
    either: Any, session_on: Any, maybe: Continuity | None
) -> None:
    events: list[Any] = []
    async with FaultServer([{"text": "first"}, {"text": "second"}]) as server:
        session = session_on(either, server, continuity=maybe, on_event=events.append)
        outcome = await run_while_held(server, session, 1, lambda: session.steer("Turn left"))
    assert outcome.text == "second"
    assert outcome.earlier == ()
    assert texts(server.requests[1]) == ["Finish the task", "first", "Turn left"]
    assert InputQueued("steer", "Turn left") in events
    assert InputPickedUp("steer", "Turn left") in events


async def test_steering_comes_after_the_results_of_the_turn(streamed: Any, session_on: Any) -> None:
    async with FaultServer(
        [{"text": "I look", "tool_calls": [{"name": "step"}]}, {"text": "done"}]
    ) as server:
        session = session_on(streamed, server, tools=[Tool(name="step", function=lambda: "RESULT")])
        await run_while_held(server, session, 1, lambda: session.steer("Turn left"))
    assert [entry.role for entry in session.history] == ["user", "assistant", "tool", "user", "assistant"]
    assert server.violations == []


async def test_a_failure_with_steering_goes_on_without_a_wait(
    either: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    async with FaultServer([{"text": "partial plan", "cut": "rst"}, {"text": "done"}]) as server:
        session = session_on(either, server, continuity=continuity)
        outcome = await run_while_held(server, session, 1, lambda: session.steer("Turn left"))
    assert outcome.text == "done"
    assert texts(server.requests[1]) == ["Finish the task", "Turn left"]
    assert clock.waits == []
    assert outcome.report.resumes == 0


async def test_a_follow_up_is_a_run_of_its_own_whose_result_counts(
    either: Any, session_on: Any, maybe: Continuity | None
) -> None:
    async with FaultServer([{"text": "first"}, {"text": "second"}]) as server:
        session = session_on(either, server, continuity=maybe)
        outcome = await run_while_held(server, session, 1, lambda: session.follow_up("And then?"))
    assert (outcome.prompt, outcome.text) == ("And then?", "second")
    assert [earlier.text for earlier in outcome.earlier] == ["first"]
    if maybe is not None:
        assert outcome.report.run != outcome.earlier[0].report.run


async def test_a_follow_up_after_a_failure_is_picked_up_at_once(
    either: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    async with FaultServer([{"text": "BROKEN", "cut": "rst"}, {"text": "done"}]) as server:
        session = session_on(either, server, continuity=continuity)
        outcome = await run_while_held(server, session, 1, lambda: session.follow_up("And then?"))
    assert outcome.text == "done"
    assert texts(server.requests[1]) == ["Finish the task", "And then?"]
    assert outcome.earlier[0].stop_reason is StopReason.ERROR
    assert clock.waits == []


async def test_a_follow_up_is_run_although_the_run_before_it_was_incomplete(
    streamed: Any, session_on: Any, clock: VirtualClock
) -> None:
    settings = {"incomplete": "raise"}
    continuity = Continuity.from_settings(settings, clock=clock)
    async with FaultServer([{"text": "half", "stop": "length"}, {"text": "done"}]) as server:
        session = session_on(streamed, server, continuity=continuity)
        outcome = await run_while_held(server, session, 1, lambda: session.follow_up("And then?"))
    assert outcome.text == "done"
    assert outcome.earlier[0].report.outcome is RunOutcome.INCOMPLETE


async def test_input_is_refused_while_nothing_runs(streamed: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "done"}]) as server:
        session = session_on(streamed, server)
        await session.run("Finish the task")
        for say in (session.steer, session.follow_up):
            with pytest.raises(RuntimeError, match="not running"):
                say("Too late")


async def test_an_abort_ends_the_request_and_nothing_more_is_sent(
    wire: Any, session_on: Any, maybe: Continuity | None
) -> None:
    events: list[Any] = []
    async with FaultServer([{"text": "one two three four"}, {"text": "done"}]) as server:
        session = session_on(wire, server, continuity=maybe, on_event=events.append)
        outcome = await run_while_held(server, session, 1, session.abort, gone=True)
        assert (outcome.aborted, outcome.stop_reason) == (True, StopReason.ABORTED)
        assert session.history[-1].stop_reason is StopReason.ABORTED
        assert len(server.requests) == 1
        following = await session.run("Second task")
    assert (following.text, following.aborted) == ("done", False)
    assert server.violations == []
    assert events.count(Aborted()) == 1


async def test_the_partial_answer_of_an_aborted_turn_is_kept(streamed: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "one two three four"}]) as server:
        session = session_on(streamed, server)
        outcome = await run_while_held(server, session, 1, session.abort, gone=True)
    assert outcome.text == session.history[-1].text
    assert "one two three four".startswith(outcome.text)


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_an_abort_ends_a_tool_and_its_call_has_a_result(
    streamed: Any, session_on: Any, maybe: Continuity | None, asynchronous: bool
) -> None:
    release = threading.Event()

    async def slow() -> str:
        session.abort()
        await anyio.sleep_forever()
        return "never"

    def slow_in_thread() -> str:
        session.abort()
        release.wait(10)
        return "never"

    async with FaultServer([{"tool_calls": [{"name": "slow"}]}, {"text": "done"}]) as server:
        tool = Tool(name="slow", function=slow if asynchronous else slow_in_thread)
        session = session_on(streamed, server, tools=[tool], continuity=maybe)
        with anyio.fail_after(5):
            outcome = await session.run("Finish the task")
        release.set()
        assert outcome.aborted
        assert "aborted" in session.history[-1].text
        assert session.history[-1].is_error
        await session.run("Second task")
    assert server.violations == []


async def test_an_abort_during_a_wait_ends_it(streamed: Any, session_on: Any) -> None:
    def abort(number: int, wait: RecordedWait) -> Awaitable[object] | None:
        session.abort()
        return None

    clock = VirtualClock(on_wait=abort)
    continuity = Continuity.from_settings(clock=clock)
    async with FaultServer([{"text": "p", "cut": "rst"}]) as server:
        session = session_on(streamed, server, continuity=continuity)
        outcome = await session.run("Finish the task")
    assert (outcome.aborted, outcome.failure is not None) == (True, True)
    assert [wait.ended_by for wait in clock.waits] == ["abort"]
    assert len(server.requests) == 1


async def test_an_abort_during_a_native_pause_ends_it(streamed: Any, session_on: Any) -> None:
    async with FaultServer([{"http": 503, "body": None}]) as server:
        session = session_on(
            streamed,
            server,
            native_retries=1,
            native_delay=60,
            on_event=lambda event: session.abort() if type(event).__name__ == "RequestRetried" else None,
        )
        with anyio.fail_after(5):
            outcome = await session.run("Finish the task")
    assert outcome.aborted
    assert outcome.failure is not None
    assert len(server.requests) == 1


async def test_what_an_abort_kept_from_being_sent_is_given_back(streamed: Any, session_on: Any) -> None:
    def act() -> None:
        session.steer("Turn left")
        session.follow_up("And then?")
        session.abort()
        with pytest.raises(RuntimeError, match="aborted"):
            session.steer("Too late")

    async with FaultServer([{"text": "one two"}, {"text": "done"}]) as server:
        session = session_on(streamed, server)
        outcome = await run_while_held(server, session, 1, act, gone=True)
        assert outcome.unsent == ("Turn left", "And then?")
        await session.run("Second task")
    assert "Turn left" not in texts(server.requests[1])


async def test_an_abort_while_nothing_runs_does_nothing(streamed: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "done"}]) as server:
        session = session_on(streamed, server)
        session.abort()
        assert (await session.run("Finish the task")).text == "done"


async def test_a_cancelled_task_leaves_the_partial_turn_and_a_settled_run(
    streamed: Any, session_on: Any, continuity: Continuity
) -> None:
    async with FaultServer([{"text": "one two three four"}, {"text": "done"}]) as server:
        hold = server.hold(1)
        session = session_on(streamed, server, continuity=continuity)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.run, "Finish the task")
                await hold.reached()
                tasks.cancel_scope.cancel()
            await hold.over()
        assert session.history[-1].stop_reason is StopReason.ABORTED
        assert (await session.run("Second task")).text == "done"
    assert server.violations == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_synchronous_run_can_be_steered_and_aborted_from_another_thread(
    streamed: Any, session_on: Any, backend: Any
) -> None:
    with FaultServer.in_thread([{"text": "one two"}, {"text": "three four"}]) as server:
        holds = [server.hold(1), server.hold(2)]
        session = session_on(streamed, server)
        outcomes: list[Any] = []
        thread = threading.Thread(
            target=lambda: outcomes.append(session.run_sync("Finish the task", backend=backend))
        )
        thread.start()
        holds[0].reached()
        session.steer("Turn left")
        holds[0].release()
        holds[1].reached()
        session.abort()
        holds[1].over()
        thread.join(10)
    assert [outcome.aborted for outcome in outcomes] == [True]
    assert [entry.text for entry in session.history[:3]] == ["Finish the task", "one two", "Turn left"]
