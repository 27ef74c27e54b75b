"""Agents as tools of agents, and several conversations at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from openjiuwen.core.foundation.tool import LocalFunction, ToolCard
from openjiuwen.core.runner import Runner

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio
DELEGATE = {"tool_calls": [{"name": "delegate", "arguments": "{}"}]}


def give_tool(agent: Any, function: Callable[..., Any]) -> Any:
    """Give an agent one more tool, ``delegate``; returns what removes it."""
    card = ToolCard(
        id=f"{agent.card.id}-delegate",
        name="delegate",
        description="delegate",
        input_params={"type": "object", "properties": {}, "additionalProperties": True},
    )
    Runner.resource_mgr.add_tool(LocalFunction(card, function))
    agent.ability_manager.add(card)
    return lambda: Runner.resource_mgr.remove_tool(card.id)


@pytest.mark.parametrize("rails", ["one rail", "two rails of one continuity"])
@pytest.mark.parametrize("inner", [{}, {"conversation_id": "inner"}], ids=["no session", "own session"])
@pytest.mark.parametrize("outer", [{}, {"conversation_id": "outer"}], ids=["default", "named"])
async def test_an_agent_in_a_tool_is_kept_alive_as_a_run_under_its_parents(
    server: FaultServer,
    make: Callable[..., Any],
    load: Callable[..., Continuity],
    rails: str,
    inner: dict[str, str],
    outer: dict[str, str],
) -> None:
    server.play(
        [
            DELEGATE,
            {"text": "INNER HALF", "stop": "length"},
            {"text": "inner whole"},
            {"text": "OUTER HALF", "stop": "length"},
            {"text": "outer whole"},
        ]
    )
    events: list[Any] = []
    continuity = load(on_event=events.append)
    parent_rail = ContinuityRail(continuity=continuity)
    child_rail = parent_rail if rails == "one rail" else ContinuityRail(continuity=continuity)
    child, parent = await make(child_rail), await make(parent_rail)

    async def delegate(**_: Any) -> str:
        return str((await child.invoke({"query": "Inner task", **inner}))["output"])

    remove = give_tool(parent, delegate)
    try:
        result = await parent.invoke({"query": "Outer task", **outer})
    finally:
        remove()
    assert result["output"] == "outer whole"
    assert server.requests[3].mentions("inner whole")
    started = [event for event in events if event.kind == "run_started"]
    assert [event.data["parent"] for event in started] == [None, started[0].run]
