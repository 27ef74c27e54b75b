"""What one run is: hand-overs, agents as tools, cancellation, switches, and how runs end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from agents import AgentsException, Runner, UserError
from openai import InternalServerError
from openai.types.responses import ResponseFunctionWebSearch
from openai_agents_runs import (
    BROKEN,
    CALL,
    CUT,
    DONE,
    OVERLOADED,
    SaidModel,
    Step,
    Wrapped,
    agent,
    config,
    outcome,
    response,
)

from continuity_core import CauseKind, Continuity, Mode, RunOutcome
from continuity_core.hosts.openai_agents import ContinuityModel, ContinuityProvider, ContinuityRunner
from continuity_core.model.report import Report
from continuity_core.testing.clocks import RecordedWait, VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
TWO_AGENTS = pytest.mark.parametrize("dialect", ["chat"])


# ---------------------------------------------------------------- one run or several


async def test_every_real_request_has_budgets_of_its_own(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT, DONE] * 2)
    wrapped = Wrapped(provider, load, {"max_resumes": 1})
    for _ in range(2):
        result = await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped.config)
        assert result.final_output == "done"
    assert [report.resumes for report in wrapped.reports] == [1, 1]
    assert wrapped.parents == [None, None]
    assert wrapped.continuity.status()["runs"] == []


async def test_a_hand_over_is_the_same_run_although_the_model_is_another(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    to_second = {"tool_calls": [{"name": "transfer_to_second", "arguments": "{}"}]}
    server.play([CUT, to_second, CUT, DONE])
    wrapped = Wrapped(provider, load, {"max_resumes": 2})
    second = agent(
        name="second",
        model=ContinuityModel(provider.get_model("other"), continuity=wrapped.continuity),
    )
    first = agent(handoffs=[second])
    result = await outcome(first, "Finish", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == "done"
    assert result.last_agent.name == "second"
    assert [(report.outcome, report.resumes) for report in wrapped.reports] == [(RunOutcome.COMPLETED, 2)]


async def test_an_agent_used_as_a_tool_is_a_run_under_its_parents_ceilings(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([{"tool_calls": [{"name": "helper", "arguments": '{"input": "help"}'}]}, CUT, DONE, DONE])
    wrapped = Wrapped(provider, load)
    tool = agent(name="inner").as_tool("helper", "Helps.", run_config=wrapped.config)
    result = await outcome(agent(tool), "Finish", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == "done"
    inner, outer = wrapped.reports
    assert wrapped.parents == [None, outer.run]
    assert (inner.resumes, outer.resumes) == (1, 1)
    assert wrapped.outcomes == [RunOutcome.COMPLETED] * 2


async def test_runs_side_by_side_are_runs_of_their_own(
    server: FaultServer, provider: Any, load: Load
) -> None:
    server.play([CUT, CUT, DONE, DONE])
    wrapped = Wrapped(provider, load, {"max_resumes": 1})
    results = await asyncio.gather(
        *(Runner.run(agent(), "Finish", run_config=wrapped.config) for _ in range(2)), return_exceptions=True
    )
    assert len(results) == 2
    assert wrapped.parents == [None, None]
    assert wrapped.continuity.status()["runs"] == []


# ---------------------------------------------------------------- how it ends


async def test_a_turn_in_which_only_the_provider_ran_a_tool_is_gone_on_from_by_the_runner(load: Load) -> None:
    search = ResponseFunctionWebSearch(
        id="ws_1", action={"type": "search", "query": "x"}, status="completed", type="web_search_call"
    )
    wrapped = Wrapped(None, load)
    model = SaidModel(response("", output=[search]), "done")
    asked = agent(model=ContinuityModel(model, continuity=wrapped.continuity))
    result = await Runner.run(asked, "Finish", run_config=wrapped.config)
    assert result.final_output == "done"
    assert "ws_1" in str(model.asked[1]["input"])
    assert [(report.turns, report.resumes) for report in wrapped.reports] == [(2, 0)]


@pytest.mark.parametrize("dialect", ["chat"])
async def test_an_error_of_a_tool_fails_the_run_and_reaches_the_caller(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    async def fails(context: Any, arguments: str) -> str:
        raise ZeroDivisionError

    broken = Step().tool
    broken.on_invoke_tool = fails
    server.play([CALL])
    wrapped = Wrapped(provider, load)
    with pytest.raises((UserError, ZeroDivisionError)) as raised:
        await outcome(agent(broken), "Finish", streamed=streamed, run_config=wrapped.config)
    assert isinstance(raised.value.__cause__ or raised.value, ZeroDivisionError)
    [report] = wrapped.reports
    assert (report.outcome, report.cause) == (RunOutcome.FAILED, CauseKind.TOOL_CALLS)


async def test_a_stop_on_a_tool_is_on_purpose_and_completes_the_run(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CALL])
    wrapped = Wrapped(provider, load)
    stopping = agent(Step().tool, tool_use_behavior="stop_on_first_tool")
    result = await outcome(stopping, "Finish", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == "RESULT"
    assert wrapped.outcomes == [RunOutcome.COMPLETED]
    assert wrapped.reports[0].turns == 1


# ---------------------------------------------------------------- cancellation


async def test_a_run_that_is_cancelled_while_a_response_is_produced_is_aborted(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([{"text": "one two three four"}])
    hold = server.hold(1)
    wrapped = Wrapped(provider, load)
    running = asyncio.create_task(outcome(agent(), "Finish", streamed=streamed, run_config=wrapped.config))
    await hold.reached()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with anyio.fail_after(5):
        await hold.over()
        await wrapped.is_reported.wait()  # The framework's task of a streamed run ends after its consumer.
    assert [(report.outcome, report.cause) for report in wrapped.reports] == [
        (RunOutcome.ABORTED, CauseKind.CANCELLED)
    ]
    assert clock.waits == []
    assert len(server.requests) == 1


async def test_a_streamed_run_that_is_cancelled_in_a_wait_ends_without_an_error(
    server: FaultServer, provider: Any, load: Load
) -> None:
    results: list[Any] = []

    async def cancel(number: int, record: RecordedWait) -> None:
        results[0].cancel()

    clock = VirtualClock(on_wait=cancel)
    server.play([BROKEN])
    wrapped = Wrapped(provider, load, clock=clock)
    results.append(Runner.run_streamed(agent(), "Finish", run_config=wrapped.config))
    async for _ in results[0].stream_events():
        pass
    assert wrapped.outcomes == [RunOutcome.ABORTED]
    assert [wait.ended_by for wait in clock.waits] == ["cancelled"]


async def test_a_continued_stream_that_is_cancelled_ends_as_the_frameworks_does(
    server: FaultServer, provider: Any, load: Load
) -> None:
    streams: list[Any] = []

    async def cancel(number: int, record: RecordedWait) -> None:
        streams[0].cancel()

    reports: list[Report] = []
    server.play([BROKEN])
    continuity = load(clock=VirtualClock(on_wait=cancel))
    runner = ContinuityRunner(continuity=continuity, on_report=reports.append)
    streams.append(runner.run_streamed(agent(), "Finish", run_config=config(provider)))
    async for _ in streams[0].stream_events():
        pass
    assert [report.outcome for report in reports] == [RunOutcome.ABORTED]
    assert streams[0].final_output is None


async def test_aborting_everything_gives_the_caller_the_frameworks_own_error(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped: list[Wrapped] = []

    async def abort(number: int, record: RecordedWait) -> None:
        wrapped[0].continuity.abort_all()

    server.play([OVERLOADED])
    wrapped.append(Wrapped(provider, load, clock=VirtualClock(on_wait=abort)))
    with pytest.raises(InternalServerError):
        await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped[0].config)
    assert wrapped[0].outcomes == [RunOutcome.ABORTED]
    assert len(server.requests) == 1


@pytest.mark.parametrize(("mode", "is_asked_again"), [("on", False), ("off", True)])
async def test_a_run_that_was_aborted_while_a_tool_ran_requests_nothing_more(
    server: FaultServer, provider: Any, load: Load, streamed: bool, mode: str, is_asked_again: bool
) -> None:
    step = Step()
    wrapped = Wrapped(provider, load)
    invoke = step.tool.on_invoke_tool

    async def aborts(context: Any, arguments: str) -> Any:
        wrapped.continuity.abort_all()
        wrapped.continuity.mode = Mode(mode)
        return await invoke(context, arguments)

    tool = step.tool
    tool.on_invoke_tool = aborts
    server.play([CALL, DONE])
    if is_asked_again:
        result = await outcome(agent(tool), "Finish", streamed=streamed, run_config=wrapped.config)
        assert result.final_output == "done"
    else:
        with pytest.raises(AgentsException, match="aborted"):
            await outcome(agent(tool), "Finish", streamed=streamed, run_config=wrapped.config)
    assert len(server.requests) == 1 + is_asked_again
    assert wrapped.outcomes == [RunOutcome.ABORTED]


# ---------------------------------------------------------------- switches


async def test_a_plugin_that_is_switched_off_recovers_nothing_until_it_is_on_again(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([OVERLOADED, OVERLOADED, DONE])
    wrapped = Wrapped(provider, load)
    wrapped.continuity.disable("stream-recovery")
    with pytest.raises(InternalServerError):
        await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped.config)
    wrapped.continuity.enable("stream-recovery")
    result = await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == "done"
    assert [report.resumes for report in wrapped.reports] == [0, 1]


async def test_a_switch_in_a_wait_ends_it(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped: list[Wrapped] = []

    async def off(number: int, record: RecordedWait) -> None:
        wrapped[0].continuity.disable()

    clock = VirtualClock(on_wait=off)
    server.play([OVERLOADED])
    wrapped.append(Wrapped(provider, load, clock=clock))
    with pytest.raises(InternalServerError):
        await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped[0].config)
    assert clock.waits[0].ended_by is not None
    assert len(server.requests) == 1


# ---------------------------------------------------------------- listeners


async def test_what_a_listener_raises_is_logged_and_harms_nothing(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(report: Report) -> None:
        raise ZeroDivisionError

    continuity = load()
    provider = ContinuityProvider(continuity=continuity, on_report=fails)
    asked = agent(model=ContinuityModel(SaidModel(response("done")), continuity=continuity))
    result = await Runner.run(asked, "Finish", run_config=config(provider))
    assert result.final_output == "done"
    assert "on_report failed" in caplog.text
