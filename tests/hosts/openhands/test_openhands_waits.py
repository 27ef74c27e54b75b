"""Waits: who ends them, what is free meanwhile, and whose budgets they cost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from openhands.sdk.conversation import ConversationExecutionStatus as Status
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.conversation.exceptions import ConversationRunError

from continuity_core import Continuity, RunOutcome
from continuity_core.testing.clocks import VirtualClock

pytestmark = pytest.mark.anyio

BROKEN = {"http": 503, "body": {"error": {"message": "overloaded"}}}
DONE = {"text": "done"}
Finish = Callable[[Any], Awaitable[None]]


class FirstWait:
    """What is done while the first wait is held, from another thread, as a server does."""

    def __init__(self, world: Any) -> None:
        self.do: Callable[[], object] = lambda: None
        self.clock = world.clock = VirtualClock(auto_advance=False, on_wait=self._on_wait)

    def _on_wait(self, number: int, record: Any) -> None:
        if number == 1:
            threading.Thread(target=self._work).start()

    def _work(self) -> None:
        try:
            self.do()
        finally:
            self.clock.auto_advance = True
            self.clock.advance(0)


async def test_while_a_wait_is_held_the_conversation_runs_and_its_lock_is_free(
    world: Any, finish: Finish
) -> None:
    seen: list[Any] = []

    def look() -> None:
        with conversation.state as state:
            seen.append((state.execution_status, conversation.continuity_run.status()["waiting"]["seconds"]))

    first_wait = FirstWait(world)
    first_wait.do = look
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert seen == [(Status.RUNNING, 5)]
    assert get_agent_final_response(conversation.state.events) == "done"


@pytest.mark.parametrize("how", ["interrupt", "pause", "close"])
async def test_the_user_ends_a_wait_and_nothing_more_is_requested(
    world: Any, finish: Finish, how: str
) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    first_wait.do = getattr(conversation, how)
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.PAUSED
    assert len(world.requests) == 1
    assert conversation.report.outcome is RunOutcome.ABORTED
    assert conversation.report.waits[0].ended_by is not None


async def test_an_interruption_of_the_conversation_itself_ends_a_wait_of_arun(world: Any) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    first_wait.do = conversation.conversation.interrupt
    conversation.send_message("go")
    await conversation.arun()
    assert conversation.state.execution_status is Status.PAUSED
    assert world.kinds(conversation)[-1] == "InterruptEvent"
    assert conversation.report.outcome is RunOutcome.ABORTED


@pytest.mark.parametrize("how", ["interrupt", "pause"])
async def test_what_stops_it_while_it_is_made_ready_is_heeded(
    world: Any, finish: Finish, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.play(DONE)
    conversation = world.conversation()
    conversation.send_message("go")
    make_ready = conversation.conversation.execute_tool

    def slow(*arguments: Any) -> Any:
        try:
            return make_ready(*arguments)
        finally:
            getattr(conversation, how)()

    monkeypatch.setattr(conversation.conversation, "execute_tool", slow)
    await finish(conversation)
    assert conversation.state.execution_status is Status.PAUSED
    assert len(world.requests) == 0
    monkeypatch.undo()
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "done"


async def test_an_interruption_does_not_reach_what_the_caller_does_next(world: Any) -> None:
    """It comes from the task that waits, so that its cancellation is on its way when the wait has ended."""

    def on_wait(number: int, record: Any) -> None:
        conversation.interrupt()

    world.clock.on_wait = on_wait
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    conversation.send_message("go")

    async def caller() -> str:
        await conversation.arun()
        for _ in range(5):
            await asyncio.sleep(0)
        return "went on"

    assert await asyncio.create_task(caller()) == "went on"
    assert conversation.state.execution_status is Status.PAUSED


async def test_a_conversation_goes_on_after_an_interruption_with_the_budgets_that_are_left(
    world: Any, finish: Finish
) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, BROKEN, BROKEN)
    conversation = world.conversation({"plugins": {"stream-recovery": {"retries": 1}}})
    first_wait.do = conversation.interrupt
    conversation.send_message("go")
    await finish(conversation)
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    assert len(world.requests) == 3
    assert conversation.report.resumes == 1


async def test_a_message_during_a_wait_is_asked_for_at_once_and_costs_nothing(
    world: Any, finish: Finish
) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, DONE)
    conversation = world.conversation({"max_resumes": 1})
    first_wait.do = partial(conversation.send_message, "rather do this")
    conversation.send_message("go")
    await finish(conversation)
    assert world.requests[1].user_texts == ("go", "rather do this")
    assert (conversation.report.resumes, len(world.requests)) == (0, 2)


async def test_a_message_while_a_response_is_produced_needs_no_resume(world: Any) -> None:
    world.play({"text": "broken", "cut": "rst"}, DONE)
    held = world.server.hold(1)
    conversation = world.conversation(
        agent=world.agent(llm=world.llm(stream=True)), token_callbacks=[lambda chunk: None]
    )
    conversation.send_message("go")
    running = asyncio.create_task(conversation.arun())
    await asyncio.to_thread(held.reached)
    conversation.conversation.send_message("said to the conversation itself")
    held.release()
    await running
    assert world.requests[1].user_texts == ("go", "said to the conversation itself")
    assert (conversation.report.resumes, world.waits) == (0, [])


async def test_switching_recovery_off_ends_a_wait_with_the_framework_s_error(
    world: Any, finish: Finish
) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, DONE)
    conversation = world.conversation()
    first_wait.do = conversation.continuity.disable
    conversation.send_message("go")
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    assert conversation.state.execution_status is Status.ERROR
    assert len(world.requests) == 1


async def test_a_user_message_brings_new_budgets_and_running_again_does_not(
    world: Any, finish: Finish
) -> None:
    world.play(*[BROKEN] * 5)
    conversation = world.conversation({"plugins": {"stream-recovery": {"retries": 1}}})
    conversation.send_message("first")
    for requests in (2, 3):
        with pytest.raises(ConversationRunError):
            await finish(conversation)
        assert len(world.requests) == requests
    conversation.send_message("second")
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    assert len(world.requests) == 5


async def test_a_provider_s_own_wait_is_held_in_full(world: Any, finish: Finish) -> None:
    limit = {"message": "You have hit your ChatGPT usage limit (plus plan). Try again in ~2 min."}
    throttled = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    world.play(
        {"http": 429, "headers": {"retry-after": "7"}, "body": throttled},
        {"http": 429, "body": {"error": limit}},
        DONE,
    )
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert world.waits == [7, 150]


async def test_a_sub_agent_s_conversation_ends_with_its_parent_s_run(world: Any, finish: Finish) -> None:
    continuity: Continuity = world.load()
    parent = continuity.start_run("parent")
    first_wait = FirstWait(world)
    first_wait.do = parent.abort
    continuity.clock = world.clock
    world.play(BROKEN, DONE)
    conversation = world.conversation(continuity=continuity, parent=parent)
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.state.execution_status is Status.PAUSED
    assert len(world.requests) == 1
    parent.settled()


async def test_a_conversation_can_be_forked_in_a_wait(world: Any, finish: Finish) -> None:
    first_wait = FirstWait(world)
    world.play(BROKEN, DONE, {"text": "of the fork"})
    conversation = world.conversation()
    first_wait.do = lambda: world.opened.append(conversation.fork())
    conversation.send_message("go")
    await finish(conversation)
    fork = world.opened[1]
    assert type(fork.agent) is type(world.agent())
    await finish(fork)
    assert get_agent_final_response(fork.state.events) == "of the fork"


async def test_conversations_at_a_time_share_nothing_but_the_continuity(world: Any) -> None:
    half = {"text": "HALF", "stop": "length"}
    world.play(half, half, half, DONE, DONE, DONE)
    continuity = world.load()
    conversations = [world.conversation(continuity=continuity) for _ in range(3)]
    for conversation in conversations:
        conversation.send_message(f"go {conversation.id}")
    await asyncio.gather(*(conversation.arun() for conversation in conversations))
    for conversation in conversations:
        assert get_agent_final_response(conversation.state.events) == "done"
    # Who is cut, and how often, is a matter of who asks first.
    assert sum(conversation.report.resumes for conversation in conversations) == 3
    assert all(len(request.user_texts) == 1 for request in world.requests)


async def test_cancelled_at_any_moment_nothing_more_is_requested_and_the_lock_is_free(world: Any) -> None:
    """The task is cancelled ever later, until it comes to its end before that."""
    world.clock.auto_advance = True
    continuity = world.load()
    moments, is_done = 0, False
    while not is_done:
        moments += 1
        world.play(BROKEN, {"text": "HALF", "stop": "length"}, {"text": "torn", "cut": "rst"}, DONE)
        conversation = world.conversation(continuity=continuity)
        conversation.send_message("go")
        task = asyncio.create_task(conversation.arun())
        await asyncio.wait([task], timeout=moments**2 * 0.01)
        is_done = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.1)  # A request that was on its way when the task was cancelled arrives.
        before = len(world.requests)
        assert continuity.status()["runs"] == []
        assert type(conversation.agent) is type(world.agent())
        with conversation.state:
            pass
        if not is_done:
            assert conversation.report is None or conversation.report.outcome is RunOutcome.ABORTED
        await asyncio.sleep(0.02)
        assert len(world.requests) == before
    assert get_agent_final_response(conversation.state.events) == "done"
    assert moments > 2
