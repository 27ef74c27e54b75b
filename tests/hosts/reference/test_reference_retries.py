"""The session's own retries: they come first, and continuity sees one turn."""

from __future__ import annotations

from typing import Any

import pytest

from continuity_core import Continuity, Failure
from continuity_core.hosts.reference import AgentSession, OpenAIChatModel
from continuity_core.hosts.reference.asking import is_retried
from continuity_core.hosts.reference.events import RequestRetried
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

BUSY = {"http": 503, "body": {"error": {"message": "overloaded"}}}


async def test_a_native_retry_goes_first_and_is_not_charged(
    either: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    events: list[Any] = []
    async with FaultServer([BUSY, BUSY, {"text": "done"}]) as server:
        session = session_on(either, server, continuity=continuity, native_retries=2, on_event=events.append)
        outcome = await session.run("Finish the task")
    assert (outcome.text, outcome.turn.requests) == ("done", 3)
    assert (outcome.report.resumes, outcome.report.turns, outcome.report.requests) == (0, 1, 3)
    assert len(session.history) == 2
    assert sum(isinstance(event, RequestRetried) for event in events) == 2
    assert clock.waits == []


async def test_after_native_retries_are_spent_there_is_one_failed_turn(
    either: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    async with FaultServer([BUSY, BUSY, {"text": "done"}]) as server:
        session = session_on(either, server, continuity=continuity, native_retries=1)
        outcome = await session.run("Finish the task")
    assert outcome.text == "done"
    assert (outcome.report.resumes, outcome.report.turns, outcome.report.requests) == (1, 2, 3)
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_a_response_whose_body_broke_is_not_sent_again(either: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "partial", "cut": "rst"}, {"text": "done"}]) as server:
        outcome = await session_on(either, server, native_retries=3).run("Finish the task")
    assert outcome.failure is not None
    assert len(server.requests) == 1


async def test_the_sdk_itself_never_retries(either: Any, session_on: Any) -> None:
    async with FaultServer([BUSY, {"text": "done"}]) as server:
        outcome = await session_on(either, server).run("Finish the task")
    assert outcome.failure is not None
    assert len(server.requests) == 1


async def test_a_server_that_is_not_there_is_asked_again(anyio_backend: str) -> None:
    async with FaultServer() as server:
        url = server.base_url
    model = OpenAIChatModel(name="m", base_url=url, api_key="any")
    outcome = await AgentSession(model, native_retries=2).run("Finish the task")
    assert outcome.turn is not None
    assert outcome.turn.requests == 3
    assert outcome.failure is not None
    assert any(name.endswith("ConnectError") for name in outcome.failure.exceptions)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_statuses_that_may_pass_are_retried(status: int) -> None:
    assert is_retried(Failure(message="x", status=status))
    assert not is_retried(Failure(message="x", status=status, headers={"x-should-retry": "false"}))


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, None])
def test_other_failures_are_not(status: int | None) -> None:
    assert not is_retried(Failure(message="x", status=status, exceptions=("httpx2.ReadError",)))
