"""The agent of the harness: its rails are called at two agents, an outer and an inner one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from openjiuwen.core.foundation.llm import Model
from openjiuwen.core.foundation.llm.schema.config import ModelClientConfig, ModelRequestConfig
from openjiuwen.core.session.agent import create_agent_session
from openjiuwen.core.single_agent import AgentCard
from openjiuwen.harness.factory import create_deep_agent
from openjiuwen.harness.schema.config import SubAgentConfig

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = [
    pytest.mark.anyio,
    # Of the framework's own modules, where a task loop is set up.
    pytest.mark.filterwarnings("ignore:DefaultResponse is deprecated:DeprecationWarning"),
]
HALF = {"text": "HALF", "stop": "length"}
BROKEN = {"text": "BROKEN", "cut": "rst"}


@pytest.fixture
def deep(server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make a deep agent of the provider."""
    monkeypatch.chdir(tmp_path)  # It keeps a workspace.

    def deep(rail: ContinuityRail, **options: Any) -> Any:
        return create_deep_agent(
            model=Model(
                ModelClientConfig(
                    client_provider="OpenAI", api_key="any", api_base=server.base_url, verify_ssl=False
                ),
                ModelRequestConfig(model="scripted", max_tokens=64),
            ),
            rails=[rail],
            enable_model_anomaly_detection_rail=False,  # It would make retries of its own.
            enable_read_image_multimodal=False,
            **options,
        )

    return deep


async def ask(agent: Any, query: str = "Finish the task", *, streamed: bool, name: str = "deep") -> Any:
    """The result of a run in a session of its own."""
    session = create_agent_session(session_id=f"{name}-{streamed}", card=agent.card)
    await session.pre_run(inputs={"query": query})
    if not streamed:
        return await agent.invoke({"query": query}, session)
    return [chunk async for chunk in agent.stream({"query": query}, session)][-1].payload


both_ways = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@both_ways
@pytest.mark.parametrize("loop", [False, True], ids=["one round", "task loop"])
async def test_a_deep_agent_that_is_cut_broken_and_gets_nothing_goes_on(
    server: FaultServer, deep: Callable[..., Any], load: Callable[..., Continuity], streamed: bool, loop: bool
) -> None:
    server.play([HALF, BROKEN, {"text": ""}, {"text": "done"}])
    rail = ContinuityRail(continuity=load())
    agent = deep(rail, enable_task_loop=loop)
    assert (await ask(agent, streamed=streamed))["output"] == "done"
    assert not server.requests[1].mentions("HALF")
    assert [len(request.user_texts) for request in server.requests] == [1, 1, 1, 1]
    assert rail.report is not None
    assert rail.report.outcome == "completed"
    assert rail.report.resumes == 3


@both_ways
async def test_a_task_loop_whose_rounds_end_at_their_last_iteration_goes_on_after_it(
    server: FaultServer, deep: Callable[..., Any], load: Callable[..., Continuity], streamed: bool
) -> None:
    server.play([HALF, {"text": "done"}])
    rail = ContinuityRail(continuity=load())
    agent = deep(rail, enable_task_loop=True, max_iterations=1)
    assert (await ask(agent, streamed=streamed))["output"] == "done"
    assert rail.report is not None
    assert rail.report.outcome == "completed"


@both_ways
async def test_cancelling_a_task_loop_ends_a_wait(
    server: FaultServer, deep: Callable[..., Any], streamed: bool
) -> None:
    server.play([BROKEN])
    waiting = asyncio.Event()

    def told(event: Any) -> None:
        if event.kind == "wait_started":
            waiting.set()

    rail = ContinuityRail(continuity=Continuity.from_settings({}, on_event=told))
    agent = deep(rail, enable_task_loop=True)
    task = asyncio.create_task(ask(agent, streamed=streamed))
    with anyio.fail_after(20):
        await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError), anyio.fail_after(20):
        await task
    assert rail.report is not None
    assert rail.report.outcome == "aborted"
    assert len(server.requests) == 1


@both_ways
async def test_a_task_loop_that_is_told_to_abort_during_a_wait_asks_for_nothing_more(
    server: FaultServer, deep: Callable[..., Any], streamed: bool
) -> None:
    server.play([BROKEN])
    aborts: list[asyncio.Task[None]] = []

    def told(event: Any) -> None:
        if event.kind == "wait_started":
            aborts.append(asyncio.get_running_loop().create_task(agent.abort()))

    rail = ContinuityRail(continuity=Continuity.from_settings({}, on_event=told))
    agent = deep(rail, enable_task_loop=True)
    task = asyncio.create_task(ask(agent, streamed=streamed))
    await asyncio.wait([task], timeout=20)
    await asyncio.gather(*aborts)
    # What the framework gives whoever invoked it.
    assert task.cancelled() if streamed else task.result() == {"error": "aborted"}
    assert len(server.requests) == 1
    assert rail.report is not None
    assert rail.report.outcome == "aborted"


async def test_a_wait_that_a_round_has_no_time_for_is_not_held(
    server: FaultServer, deep: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    body = {"error": {"message": "You have hit your usage limit. Try again in 2 hours."}}
    server.play([{"http": 429, "headers": {}, "body": body}])
    rail = ContinuityRail(continuity=load())
    result = await ask(deep(rail, enable_task_loop=True), streamed=False)
    assert "usage limit" in result["error"]
    assert clock.waits == []
    assert rail.report is not None
    assert rail.report.possible_at is not None


async def test_a_subagent_of_the_task_tool_is_a_run_under_its_parents(
    server: FaultServer, deep: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    events: list[Any] = []
    continuity = load(on_event=events.append)
    call = {"subagent_type": "helper", "task_description": "Inner task"}
    server.play(
        [
            {"tool_calls": [{"name": "task_tool", "arguments": json.dumps(call)}]},
            {"text": "INNER HALF", "stop": "length"},
            {"text": "inner whole"},
            {"text": "outer whole"},
        ]
    )
    helper = SubAgentConfig(
        agent_card=AgentCard(id="helper", name="helper", description="helps"),
        system_prompt="Help.",
        rails=[ContinuityRail(continuity=continuity)],
    )
    agent = deep(ContinuityRail(continuity=continuity), subagents=[helper])
    assert (await ask(agent, streamed=False))["output"] == "outer whole"
    assert server.requests[3].mentions("inner whole")
    started = [event for event in events if event.kind == "run_started"]
    assert [event.data["parent"] for event in started] == [None, started[0].run]
