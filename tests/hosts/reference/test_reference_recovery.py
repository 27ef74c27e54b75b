"""The session with continuity: more turns, edited requests, and the same result where nothing is done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import anyio
import attrs
import pytest

from continuity_core import (
    Adjust,
    Boundary,
    Budget,
    CauseKind,
    Continuity,
    Decision,
    IncompleteRun,
    Omit,
    Proposal,
    ReasoningEffort,
    Resume,
    RunOutcome,
    StopReason,
    hookimpl,
)
from continuity_core.hosts.reference import Tool
from continuity_core.hosts.reference.events import TurnResumed
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


def step(**arguments: Any) -> str:
    return "RESULT"


def texts(request: Any) -> list[str]:
    return [message.text for message in request.messages]


async def test_a_cut_answer_is_left_out_and_one_more_turn_is_asked_for(
    wire: Any, session_on: Any, continuity: Continuity
) -> None:
    events: list[Any] = []
    async with FaultServer([{"text": "CUT", "stop": "length"}, {"text": "done"}]) as server:
        session = session_on(wire, server, continuity=continuity, on_event=events.append)
        outcome = await session.run("Finish the task")
    assert (outcome.text, outcome.stop_reason) == ("done", StopReason.STOP)
    assert texts(server.requests[1]) == ["Finish the task"]
    assert [entry.text for entry in session.history] == ["Finish the task", "CUT", "done"]
    assert outcome.report is not None
    assert outcome.report.resumes == 1
    assert sum(isinstance(event, TurnResumed) for event in events) == 1


async def test_a_broken_stream_is_waited_for_and_left_out(
    either: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    async with FaultServer([{"text": "partial", "cut": "rst"}, {"text": "done"}]) as server:
        outcome = await session_on(either, server, continuity=continuity).run("Finish the task")
    assert outcome.text == "done"
    assert texts(server.requests[1]) == ["Finish the task"]
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_a_silent_stream_is_a_broken_one(
    streamed: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    async with FaultServer([{"text": "HANGING", "hang": True}, {"text": "done"}]) as server:
        session = session_on(streamed, server, continuity=continuity, idle_timeout=0.05)
        outcome = await session.run("Finish the task")
    assert outcome.text == "done"
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_a_permanent_error_stays_what_it_is(
    streamed: Any, session_on: Any, continuity: Continuity, clock: VirtualClock
) -> None:
    body = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    async with FaultServer([{"http": 401, "body": body}]) as server:
        outcome = await session_on(streamed, server, continuity=continuity).run("Finish the task")
    assert outcome.failure is not None
    assert outcome.failure.status == 401
    assert outcome.report is not None
    assert (outcome.report.cause, outcome.report.outcome) == (CauseKind.PERMANENT, RunOutcome.FAILED)
    assert clock.waits == []


async def test_the_request_of_the_next_run_is_clean(
    either: Any, session_on: Any, clock: VirtualClock
) -> None:
    continuity = Continuity.from_settings({"max_resumes": 0}, clock=clock)
    async with FaultServer([{"text": "partial", "cut": "rst"}, {"text": "done"}]) as server:
        session = session_on(either, server, continuity=continuity)
        assert (await session.run("First task")).stop_reason is StopReason.ERROR
        assert (await session.run("Second task")).text == "done"
    assert texts(server.requests[1]) == ["First task", "Second task"]


async def test_a_run_that_just_ends_after_a_tool_goes_on(
    either: Any, session_on: Any, continuity: Continuity
) -> None:
    script = [{"tool_calls": [{"name": "wrap_up"}]}, {"text": "done"}]
    async with FaultServer(script) as server:
        tools = [Tool(name="wrap_up", function=step, ends_run="unexplained")]
        outcome = await session_on(either, server, continuity=continuity, tools=tools).run("Finish the task")
    assert outcome.text == "done"
    assert outcome.tools_run == {"wrap_up": 1}


async def test_a_run_that_ends_on_purpose_is_over(
    streamed: Any, session_on: Any, continuity: Continuity
) -> None:
    async with FaultServer([{"text": "so be it", "tool_calls": [{"name": "finish"}]}]) as server:
        tools = [Tool(name="finish", function=step, ends_run="on_purpose")]
        outcome = await session_on(streamed, server, continuity=continuity, tools=tools).run("Finish")
    assert (outcome.text, outcome.stop_reason) == ("so be it", StopReason.TOOL_USE)
    assert len(server.requests) == 1


async def test_a_caller_may_ask_for_an_error_in_place_of_half_an_answer(
    streamed: Any, session_on: Any, clock: VirtualClock
) -> None:
    settings = {"max_resumes": 0, "incomplete": "raise"}
    continuity = Continuity.from_settings(settings, clock=clock)
    async with FaultServer([{"text": "half", "stop": "length"}, {"text": "done"}]) as server:
        session = session_on(streamed, server, continuity=continuity)
        with pytest.raises(IncompleteRun) as caught:
            await session.run("First task")
        assert caught.value.partial is not None
        assert caught.value.partial.text == "half"
        assert (await session.run("Second task")).text == "done"


async def test_the_error_of_the_sdk_is_behind_an_incomplete_run(
    streamed: Any, session_on: Any, clock: VirtualClock
) -> None:
    settings = {"max_resumes": 0, "incomplete": "raise"}
    continuity = Continuity.from_settings(settings, clock=clock)
    async with FaultServer([{"http": 500, "body": None}]) as server:
        with pytest.raises(IncompleteRun) as caught:
            await session_on(streamed, server, continuity=continuity).run("Finish the task")
    assert type(caught.value.__cause__).__name__ == "InternalServerError"


async def test_a_guard_ends_the_run(streamed: Any, session_on: Any, clock: VirtualClock) -> None:
    settings = {"plugins": {"run-limits": {"max_requests": 2}}}
    continuity = Continuity.from_settings(settings, clock=clock)
    calls = {"tool_calls": [{"name": "step"}]}
    async with FaultServer([calls, calls, {"text": "done"}]) as server:
        session = session_on(
            streamed, server, continuity=continuity, tools=[Tool(name="step", function=step)]
        )
        outcome = await session.run("Finish the task")
    assert len(server.requests) == 2
    assert outcome.halted is not None
    assert outcome.tools_run == {"step": 2}


@attrs.frozen(eq=False)
class AskForMore:
    """Resumes a cut turn with a larger limit and less reasoning."""

    budgets = (Budget("more", 1),)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        if boundary.cause.kind is not CauseKind.LENGTH:
            return None
        adjust = Adjust(max_output_tokens=256, reasoning_effort=ReasoningEffort.MINIMAL)
        omits = [Omit(entry, "it was cut") for entry in boundary.turn.entries]
        return [Resume("the answer was cut", "more"), adjust, *omits]


async def test_request_settings_hold_for_the_next_turn_only(
    either: Any, session_on: Any, clock: VirtualClock
) -> None:
    continuity = Continuity.from_settings({"disable": ["length-resume"]}, plugins=[AskForMore()], clock=clock)
    script = [{"text": "CUT", "stop": "length"}, {"tool_calls": [{"name": "step"}]}, {"text": "done"}]
    async with FaultServer(script) as server:
        tools = [Tool(name="step", function=step)]
        outcome = await session_on(either, server, continuity=continuity, tools=tools).run("Finish the task")
    assert outcome.text == "done"
    assert [request.decoded.output_limit for request in server.requests] == [64, 256, 64]
    efforts = [_effort(json.loads(request.body)) for request in server.requests]
    assert efforts == [None, "minimal" if either.dialect == "chat" else "low", None]


def _effort(body: Mapping[str, Any]) -> Any:
    return body.get("reasoning_effort") or body.get("output_config", {}).get("effort")


async def test_injected_text_goes_in_the_users_role_and_not_into_the_history(
    streamed: Any, session_on: Any, clock: VirtualClock
) -> None:
    settings = {"allow_injection": ["partial-checkpoint"]}
    continuity = Continuity.from_settings(settings, clock=clock)
    async with FaultServer([{"text": "PARTIAL", "stop": "length"}, {"text": "done"}]) as server:
        session = session_on(streamed, server, continuity=continuity)
        outcome = await session.run("Finish the task")
    assert outcome.text == "done"
    assert server.requests[1].messages[-1].role == "user"
    assert "PARTIAL" in server.requests[1].messages[-1].text
    assert [entry.role for entry in session.history] == ["user", "assistant", "assistant"]


SCRIPTS: Mapping[str, list[dict[str, Any]]] = {
    "answer": [{"text": "one"}, {"text": "two"}],
    "cut": [{"text": "half", "stop": "length"}, {"text": "two"}],
    "broken": [{"text": "half", "cut": "rst"}, {"text": "two"}],
    "refused": [{"http": 429, "headers": {"Retry-After": "60"}, "body": {"error": "x"}}, {"text": "two"}],
    "cut call": [{"tool_calls": [{"name": "step", "arguments": "{"}], "stop": "length"}, {"text": "two"}],
    "tool tail": [{"tool_calls": [{"name": "wrap_up"}]}, {"text": "two"}],
    "empty": [{"text": ""}, {"text": "two"}],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_in_observe_mode_the_session_behaves_as_without_continuity(
    either: Any, session_on: Any, clock: VirtualClock, script: list[dict[str, Any]]
) -> None:
    async def play(continuity: Continuity | None) -> tuple[Any, ...]:
        async with FaultServer(script) as server:
            tools = [
                Tool(name="step", function=step),
                Tool(name="wrap_up", function=step, ends_run="unexplained"),
            ]
            session = session_on(either, server, continuity=continuity, tools=tools)
            outcomes = [await session.run(prompt) for prompt in ("First task", "Second task")]
        assert server.violations == []
        told = [(outcome.text, outcome.stop_reason, outcome.tools_run) for outcome in outcomes]
        return told, [request.body for request in server.requests]

    observing = Continuity.from_settings({"mode": "observe"}, clock=clock)
    assert await play(observing) == await play(None)
    assert clock.waits == []


async def test_a_sub_agent_runs_under_its_parent_and_ends_with_it(
    streamed: Any, session_on: Any, continuity: Continuity
) -> None:
    inner_runs: list[Any] = []

    async def delegate() -> str:
        inner = session_on(streamed, server, continuity=continuity)
        with anyio.CancelScope(shield=True):
            inner_runs.append(await inner.run("Part of the task", parent=outer.continuity_run))
        return "delegated"

    script = [{"tool_calls": [{"name": "delegate"}]}, {"text": "p", "stop": "length"}, {"text": "never"}]
    async with FaultServer(script) as server:
        hold = server.hold(2)
        outer = session_on(streamed, server, continuity=continuity, tools=[delegate])
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(outer.run, "Finish the task")
                await hold.reached()
                outer.abort()
                hold.release()
    assert len(server.requests) == 2
    assert inner_runs[0].aborted
    assert inner_runs[0].report.outcome is RunOutcome.ABORTED
