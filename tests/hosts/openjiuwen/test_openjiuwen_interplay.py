from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from openjiuwen.harness.rails.model_anomaly_detection_rail import ModelAnomalyDetectionRail

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio
ASKED = {"query": "Finish the task", "conversation_id": "C"}
FAULT = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}


def native(retries: int) -> Any:
    """The framework's own retries, without delay."""
    return ModelAnomalyDetectionRail(transient_max_retries=retries, transient_base_delay_seconds=0)


@pytest.mark.parametrize("ours_first", [True, False])
async def test_the_frameworks_own_retries_go_first_and_cost_nothing(
    server: FaultServer,
    make: Callable[..., Any],
    load: Callable[..., Continuity],
    clock: VirtualClock,
    ours_first: bool,
) -> None:
    server.play([FAULT, FAULT, FAULT, {"text": "done"}])
    rail = ContinuityRail(continuity=load())
    rails = [native(2), rail]
    agent = await make(*(reversed(rails) if ours_first else rails))
    assert (await agent.invoke(dict(ASKED)))["output"] == "done"
    assert [wait.seconds for wait in clock.waits] == [5]
    assert rail.report is not None
    assert rail.report.resumes == 1


async def test_native_retries_that_help_leave_nothing_to_do(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([FAULT, FAULT, {"text": "done"}])
    rail = ContinuityRail(continuity=load())
    agent = await make(native(2), rail)
    assert (await agent.invoke(dict(ASKED)))["output"] == "done"
    assert clock.waits == []
    assert rail.report is not None
    assert rail.report.resumes == 0


async def test_a_usage_limit_is_waited_for_before_the_frameworks_own_retry(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    body = {"error": {"message": "You have hit your usage limit. Try again in 2 hours."}}
    server.play([{"http": 429, "headers": {}, "body": body}, {"text": "done"}])
    agent = await make(native(2), ContinuityRail(continuity=load()))
    assert (await agent.invoke(dict(ASKED)))["output"] == "done"
    assert [wait.seconds >= 7200 for wait in clock.waits] == [True]


# ---------------------------------------------------------------- the mode that keeps the partial

CHECKPOINT = {"allow_injection": ["partial-checkpoint"]}


async def test_partial_checkpoint_quotes_what_was_cut(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    server.play(
        [{"text": "PART ONE", "stop": "length"}, {"text": "PART TWO", "cut": "rst"}, {"text": "done"}]
    )
    agent = await make(ContinuityRail(continuity=load(CHECKPOINT)))
    chunks = [chunk async for chunk in agent.stream(dict(ASKED))]
    assert chunks[-1].payload["output"] == "done"
    assert server.requests[1].mentions("PART ONE")
    assert server.requests[2].mentions("PART ONE")
    assert server.requests[2].mentions("PART TWO")
    assert len(server.requests[2].user_texts) == 2


async def test_partial_checkpoint_is_bounded_by_budgets_and_length_and_leaves_the_history_alone(
    server: FaultServer, make: Callable[..., Any], load: Callable[..., Continuity]
) -> None:
    limit = 1000
    settings = {
        **CHECKPOINT,
        "max_resumes": 4,
        "plugins": {"partial-checkpoint": {"max_characters": limit}},
    }
    halves = [{"text": f"{number} " + "x" * 600, "stop": "length"} for number in range(9)]
    server.play(halves)
    rail = ContinuityRail(continuity=load(settings))
    agent = await make(rail)
    result = await agent.invoke(dict(ASKED))
    assert result["output"] == halves[4]["text"]
    assert len(server.requests) == 5
    quoted = [request.user_texts[1] for request in server.requests[1:]]
    assert all(len(text) <= limit for text in quoted)
    context = agent.context_engine.get_context(session_id="C")
    assert [message.content for message in context.get_messages() if message.role == "user"] == [
        "Finish the task"
    ]
