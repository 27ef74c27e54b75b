"""What holds over several invocations: of one conversation, and of several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from openjiuwen.core.common.exception.errors import BaseError
from openjiuwen.core.session.agent import create_agent_session

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio
HALF = {"text": "HALF", "stop": "length"}
LIMIT = {
    "http": 429,
    "headers": {},
    "body": {"error": {"message": "You have hit your usage limit. Try again in 1 hour."}},
}
CALL = {"tool_calls": [{"name": "step", "arguments": '{"path": "x"}'}]}


async def asked(agent: Any, session_id: str, query: str = "Finish the task") -> Any:
    """The result of one invocation in a new object for the session."""
    session = create_agent_session(session_id=session_id, card=agent.card)
    await session.pre_run(inputs={"query": query})
    try:
        return await agent.invoke({"query": query}, session)
    finally:
        await session.post_run()


async def test_the_usage_window_of_a_session_holds_in_another_process(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    settings = {"plugins": {"usage-limit-wait": {"waits": 1, "later_waits": 0}}}
    server.play([LIMIT, LIMIT, LIMIT])
    agent = await make(first := ContinuityRail(continuity=load(settings)))
    with pytest.raises(Exception, match="usage limit"):
        await asked(agent, "window")
    assert len(clock.waits) == 1
    await agent.unregister_rail(first)
    await agent.register_rail(ContinuityRail(continuity=load(settings)))
    with pytest.raises(Exception, match="usage limit"):
        await asked(agent, "window")
    assert len(clock.waits) == 1


async def test_each_request_of_the_user_has_budgets_of_its_own_also_in_another_process(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([HALF, {"text": "one"}, HALF, {"text": "two"}, HALF, {"text": "three"}])
    settings = {"max_resumes": 1}
    agent = await make(first := ContinuityRail(continuity=load(settings)))
    assert (await asked(agent, "budgets"))["output"] == "one"
    assert (await asked(agent, "budgets"))["output"] == "two"
    await agent.unregister_rail(first)
    await agent.register_rail(ContinuityRail(continuity=load(settings)))
    assert (await asked(agent, "budgets"))["output"] == "three"
    assert not server.requests[5].mentions("HALF")


async def test_nothing_is_written_into_the_session_of_a_run_that_needed_nothing(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "done"}])
    agent = await make(ContinuityRail(continuity=load()))
    session = create_agent_session(session_id="plain", card=agent.card)
    await session.pre_run(inputs={"query": "Finish the task"})
    await agent.invoke({"query": "Finish the task"}, session)
    assert session.get_state("continuity") is None


async def test_conversations_at_a_time_share_nothing_but_the_rail(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], tool: Any
) -> None:
    server.play([HALF, HALF, HALF, CALL, CALL, CALL, *[{"text": "done"}] * 3])
    events: list[Any] = []
    agent = await make(ContinuityRail(continuity=load(on_event=events.append)))
    results = await asyncio.gather(*(asked(agent, name, f"Task of {name}") for name in ("x", "y", "z")))
    assert [result["output"] for result in results] == ["done"] * 3
    assert len(tool.given) == 3
    settled = {event.session: event.data["resumes"] for event in events if event.kind == "run_settled"}
    assert set(settled) == {"x", "y", "z"}
    assert sum(settled.values()) == 3  # Who is cut, and how often, is a matter of who asks first.
    for request in server.requests:
        assert len(request.user_texts) == 1


# What the framework leaves behind where it is cancelled in the midst of starting a tool.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
async def test_cancelled_at_any_moment_nothing_more_is_requested_and_the_session_is_free(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], streamed: bool
) -> None:
    """The task is cancelled after each number of steps of the loop until one lets it end."""
    rail = ContinuityRail(continuity=load())
    agent = await make(rail)
    asks = {"query": "Finish the task"}

    async def run(name: str) -> Any:
        if not streamed:
            return await agent.invoke({**asks, "conversation_id": name})
        chunks = [chunk async for chunk in agent.stream({**asks, "conversation_id": name})]
        return next(chunk.payload for chunk in reversed(chunks) if chunk.type == "answer")

    rounds = ended = 0
    while not ended:
        rounds += 1
        server.play([{"text": "BROKEN", "cut": "rst"}, CALL, HALF, {"text": "done"}])
        task = asyncio.create_task(run(f"step-{rounds}"))
        for _ in range(rounds * 5):
            await asyncio.sleep(0)
        if rounds > 12:
            await asyncio.wait([task], timeout=(rounds - 12) * 0.01)
        task.cancel()
        try:
            ended = (await task)["output"] == "done"
        except (asyncio.CancelledError, BaseError):  # On Python 3.11 a client may take the one for an error.
            before = len(server.requests)
            assert rail.continuity.status()["runs"] == []
            # The answer may have come whole, and the framework not been through with its own end.
            whole = rail.report is not None and rail.report.cause == "final"
            assert rail.report is None or rail.report.outcome == ("completed" if whole else "aborted")
            await asyncio.sleep(0.01)
            assert len(server.requests) == before
    assert rounds > 12
