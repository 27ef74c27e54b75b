"""A conversation that is kept on disk and opened again, in the same process or after it died."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from openhands.sdk.conversation import ConversationExecutionStatus as Status
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.conversation.exceptions import ConversationRunError

from continuity_core.testing.conformance.host import PlayedTool

pytestmark = pytest.mark.anyio

BROKEN = {"http": 503, "body": {"error": {"message": "overloaded"}}}
CUT = {"text": "half of the ans", "stop": "length"}
DONE = {"text": "done"}
ONCE = {"plugins": {"stream-recovery": {"retries": 1}}}
Finish = Callable[[Any], Awaitable[None]]


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, Any]:
    """Where a conversation is kept, and its id."""
    return {"persistence_dir": str(tmp_path / "kept"), "conversation_id": uuid.uuid4()}


def texts_in(folder: str) -> str:
    """Everything that was written there."""
    return "".join(file.read_text() for file in Path(folder).rglob("*.json"))


def run_until(held: Any, program: str) -> None:
    """Run it in a process of its own, and kill that as soon as the provider was asked for this response."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        held.reached(timeout=120)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    held.release()


async def test_budgets_belong_to_the_request_also_when_the_conversation_is_opened_again(
    world: Any, finish: Finish, kept: dict[str, Any]
) -> None:
    world.play(*[BROKEN] * 5)
    conversation = world.conversation(ONCE, **kept)
    conversation.send_message("first")
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    assert len(world.requests) == 2
    again = world.conversation(ONCE, **kept)
    with pytest.raises(ConversationRunError):
        await finish(again)
    assert len(world.requests) == 3
    again.send_message("second")
    with pytest.raises(ConversationRunError):
        await finish(again)
    assert len(world.requests) == 5


async def test_what_was_left_out_stays_out_when_the_conversation_is_opened_again(
    world: Any, finish: Finish, kept: dict[str, Any]
) -> None:
    world.play(CUT, DONE, {"text": "more"})
    conversation = world.conversation(**kept)
    conversation.send_message("first")
    await finish(conversation)
    again = world.plain(**kept)
    again.send_message("second")
    await again.arun()
    assert world.requests[2].mentions("done")
    assert not world.requests[2].mentions("half of")


async def test_a_cut_call_stays_out_when_the_conversation_is_opened_again(
    world: Any, finish: Finish, kept: dict[str, Any]
) -> None:
    step = PlayedTool(name="step", result="R")
    world.play({"tool_calls": [{"name": "step", "arguments": '{"path": "CUT'}], "stop": "length"}, DONE)
    conversation = world.conversation({"max_resumes": 0}, agent=world.agent(tools=[step]), **kept)
    conversation.send_message("first")
    await finish(conversation)
    again = world.conversation(agent=world.agent(tools=[step]), **kept)
    again.send_message("second")
    await finish(again)
    assert world.requests[1].user_texts == ("first", "second")
    assert not world.requests[1].mentions("malformed")


async def test_nothing_of_ours_is_needed_to_open_what_was_kept(
    world: Any, finish: Finish, kept: dict[str, Any]
) -> None:
    world.play(CUT, DONE, {"text": "more"})
    conversation = world.conversation(**kept)
    conversation.send_message("first")
    await finish(conversation)
    texts = texts_in(kept["persistence_dir"])
    assert len(texts) > 1000
    assert not any(name in texts for name in ("WatchedModel", "WatchedAgent", "ProjectingCondenser"))
    alone = world.plain(**kept)
    assert get_agent_final_response(alone.state.events) == "done"


async def test_a_damaged_memory_is_left_with_a_warning(
    world: Any, finish: Finish, kept: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    world.play(BROKEN, DONE)
    conversation = world.conversation(**kept)
    conversation.state.agent_state = {"continuity": {"request": None, "run": {"version": 1}, "stops": 3}}
    conversation.send_message("go")
    await finish(conversation)
    assert conversation.report.resumes == 1
    assert "damaged" in caplog.text


async def test_a_fork_has_budgets_of_its_own(world: Any, finish: Finish) -> None:
    from continuity_core.hosts.openhands import ContinuityConversation

    world.play(*[BROKEN] * 4)
    conversation = world.conversation(ONCE)
    conversation.send_message("go")
    with pytest.raises(ConversationRunError):
        await finish(conversation)
    forked = conversation.fork()
    world.opened.append(forked)
    fork = ContinuityConversation(forked, continuity=conversation.continuity)
    with pytest.raises(ConversationRunError):
        await finish(fork)
    assert len(world.requests) == 4


async def test_after_the_process_was_killed_the_conversation_goes_on_without_a_message(
    world: Any, kept: dict[str, Any]
) -> None:
    world.play(CUT, BROKEN, DONE)
    program = f"""
        import logging, uuid
        from openhands.sdk import Agent, Conversation, LLM
        from continuity_core import Continuity
        from continuity_core.hosts.openhands import ContinuityConversation

        logging.disable(logging.ERROR)
        llm = LLM(model="openai/scripted", base_url={world.server.base_url!r}, api_key="any",
                  usage_id="tests", num_retries=1, max_output_tokens=64)
        conversation = ContinuityConversation(
            Conversation(agent=Agent(llm=llm, tools=[]), workspace={str(world.folder / "workspace")!r},
                         visualizer=None, persistence_dir={kept["persistence_dir"]!r},
                         conversation_id=uuid.UUID({str(kept["conversation_id"])!r})),
            continuity=Continuity.from_settings(
                {{"max_resumes": 1}}
            ),
        )
        conversation.send_message("go")
        conversation.run()
    """
    # After the one resume that it may take.
    await asyncio.to_thread(run_until, world.server.hold(2), program)
    world.play(BROKEN)
    again = world.conversation({"max_resumes": 1}, **kept)
    with pytest.raises(ConversationRunError):
        await again.arun()
    assert world.requests[0].user_texts == ("go",)
    assert not world.requests[0].mentions("half of")
    assert again.report.resumes == 1  # The one that the dead process took.
    assert again.state.execution_status is Status.ERROR
