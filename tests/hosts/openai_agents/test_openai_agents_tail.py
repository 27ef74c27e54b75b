"""The runner with the tool tail: which ends are on purpose, and how a run goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from agents import MultiProvider, RunConfig, SQLiteSession, StopAtTools, ToolsToFinalOutputResult
from httpx2 import Limits
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, InternalServerError, RateLimitError
from openai_agents_runs import (
    BROKEN,
    CALL,
    CUT,
    DONE,
    LIMITED,
    OVERLOADED,
    Step,
    Wrapped,
    agent,
    config,
    outcome,
)

from continuity_core import Continuity, IncompleteRun, RunError, RunOutcome
from continuity_core.hosts.openai_agents import ContinuityProvider, ContinuityRunner
from continuity_core.testing.clocks import RecordedWait, VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]


def ends(context: Any, results: Any) -> ToolsToFinalOutputResult:
    """The loop just ends after a tool."""
    return ToolsToFinalOutputResult(is_final_output=True, final_output=None)


def ends_with(output: Any) -> Any:
    """The loop ends after a tool, with this output."""

    async def behaviour(context: Any, results: Any) -> ToolsToFinalOutputResult:
        return ToolsToFinalOutputResult(is_final_output=True, final_output=output)

    return behaviour


@pytest.mark.parametrize("with_session", [False, True])
async def test_a_run_that_just_ends_on_a_tool_goes_on_after_its_result(
    server: FaultServer, provider: Any, load: Load, streamed: bool, with_session: bool
) -> None:
    server.play(
        [{**CALL, "usage": {"input": 20, "output": 1}}, {**DONE, "usage": {"input": 30, "output": 2}}]
    )
    wrapped = Wrapped(provider, load)
    session = SQLiteSession("s") if with_session else None
    result = await wrapped.run(
        agent(Step().tool, tool_use_behavior=ends), "Finish", streamed=streamed, session=session
    )
    assert result.final_output == "done"
    assert server.requests[1].mentions("RESULT")
    assert server.requests[1].user_texts == ("Finish",)
    assert result.context_wrapper.usage.total_tokens == 53
    [report] = wrapped.reports
    assert (report.outcome, report.resumes, report.turns) == (RunOutcome.COMPLETED, 1, 2)
    if session is not None:
        assert len([item for item in await session.get_items() if item.get("role") == "user"]) == 1


@pytest.mark.parametrize(
    "behaviour",
    ["stop_on_first_tool", StopAtTools(stop_at_tool_names=["step"]), ends_with("an output"), ends_with(0)],
)
async def test_an_end_on_purpose_is_final(
    server: FaultServer, provider: Any, load: Load, streamed: bool, behaviour: Any
) -> None:
    server.play([CALL])
    wrapped = Wrapped(provider, load)
    result = await wrapped.run(agent(Step().tool, tool_use_behavior=behaviour), "Finish", streamed=streamed)
    assert result.final_output in ("RESULT", "an output", "0")
    assert [(report.outcome, report.resumes) for report in wrapped.reports] == [(RunOutcome.COMPLETED, 0)]


async def test_an_end_on_purpose_is_resumed_where_the_plugin_is_told_to(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CALL, DONE])
    wrapped = Wrapped(provider, load, {"plugins": {"tool-tail": {"on_purpose": True}}})
    result = await wrapped.run(
        agent(Step().tool, tool_use_behavior="stop_on_first_tool"), "Finish", streamed=streamed
    )
    assert result.final_output == "done"


async def test_the_tail_can_be_switched_off(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CALL])
    wrapped = Wrapped(provider, load, {"disable": ["tool-tail"]})
    result = await wrapped.run(agent(Step().tool, tool_use_behavior=ends), "Finish", streamed=streamed)
    assert result.final_output == "None"


async def test_a_call_that_waits_for_approval_is_an_end_on_purpose(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    tool = Step().tool
    tool.needs_approval = True
    server.play([CALL])
    wrapped = Wrapped(provider, load, {"plugins": {"tool-tail": {"on_purpose": True}}})
    result = await wrapped.run(agent(tool), "Finish", streamed=streamed)
    assert len(result.interruptions) == 1
    assert [report.resumes for report in wrapped.reports] == [0]


async def test_the_budget_is_one_for_the_whole_course(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT, CALL, DONE])
    wrapped = Wrapped(provider, load, {"max_resumes": 1})
    result = await wrapped.run(agent(Step().tool, tool_use_behavior=ends), "Finish", streamed=streamed)
    assert result.final_output == "None"
    assert len(server.requests) == 2


async def test_the_turns_of_the_framework_are_counted_through(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CALL, CALL])
    wrapped = Wrapped(provider, load)
    result = await wrapped.run(
        agent(Step().tool, tool_use_behavior=ends), "Finish", streamed=streamed, max_turns=2
    )
    assert result.final_output == "None"
    assert len(server.requests) == 2
    [report] = wrapped.reports
    assert report.resumes == 1
    assert "max_turns" in str(report.no_resume)


async def test_after_a_hand_over_the_last_agent_goes_on(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    to_second = {"tool_calls": [{"name": "transfer_to_second", "arguments": "{}"}]}
    server.play([to_second, CALL, DONE])
    second = agent(Step().tool, name="second", tool_use_behavior=ends)
    wrapped = Wrapped(provider, load)
    result = await wrapped.run(agent(handoffs=[second]), "Finish", streamed=streamed)
    assert (result.final_output, result.last_agent.name) == ("done", "second")


async def test_an_agent_as_a_tool_belongs_to_the_course(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([{"tool_calls": [{"name": "helper", "arguments": '{"input": "help"}'}]}, CUT, DONE, DONE])
    wrapped = Wrapped(provider, load)
    inner = config(ContinuityProvider(provider, continuity=wrapped.continuity))
    tool = agent(name="inner").as_tool("helper", "Helps.", run_config=inner)
    await wrapped.run(agent(tool), "Finish", streamed=streamed)
    assert [report.resumes for report in wrapped.reports] == [1, 1]
    assert wrapped.continuity.status()["runs"] == []


# ---------------------------------------------------------------- as the framework's runner


async def test_settings_and_results_are_those_of_the_framework(
    server: FaultServer, provider: Any, load: Load
) -> None:
    server.play([BROKEN, DONE])
    runner = ContinuityRunner(continuity=load())
    given: Any = {"model_provider": provider, "tracing_disabled": True, "model": "another"}
    result = await runner.run(agent(), "Finish", run_config=given)
    assert result.final_output == "done"
    assert server.requests[1].decoded.model == "another"


async def test_a_provider_that_has_continuity_is_taken_as_it_is(
    server: FaultServer, provider: Any, load: Load
) -> None:
    server.play([CUT, DONE])
    continuity = load()
    wrapped = ContinuityProvider(provider, continuity=continuity)
    given = RunConfig(model_provider=wrapped, tracing_disabled=True)
    result = await ContinuityRunner(continuity=continuity).run(agent(), "Finish", run_config=given)
    assert result.final_output == "done"


async def test_the_error_of_the_framework_reaches_the_caller(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([OVERLOADED])
    wrapped = Wrapped(provider, load, {"max_resumes": 0})
    with pytest.raises(InternalServerError):
        await wrapped.run(agent(), "Finish", streamed=streamed)
    assert [report.outcome for report in wrapped.reports] == [RunOutcome.FAILED]


@pytest.mark.parametrize("dialect", ["chat"])
async def test_an_incomplete_run_is_raised_once(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT])
    wrapped = Wrapped(provider, load, {"max_resumes": 0, "incomplete": "raise"})
    with pytest.raises(IncompleteRun):
        await wrapped.run(agent(), "Finish", streamed=streamed)
    assert len(wrapped.reports) == 1


async def test_a_deadline_of_the_caller_is_kept(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([LIMITED])
    wrapped = Wrapped(provider, load)
    with pytest.raises(RateLimitError):
        await wrapped.run(
            agent(),
            "Finish",
            streamed=streamed,
            deadline=datetime.fromtimestamp(clock.now().timestamp() + 60, UTC),
        )
    assert clock.waits == []
    assert wrapped.reports[0].possible_at is not None


async def test_what_the_user_says_in_a_wait_ends_it_and_goes_into_the_next_run(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    runners: list[ContinuityRunner] = []

    async def say(number: int, record: RecordedWait) -> None:
        runners[0].input_arrived()

    clock = VirtualClock(on_wait=say)
    server.play([OVERLOADED, DONE])
    runner = ContinuityRunner(continuity=load(clock=clock))
    runners.append(runner)
    session = SQLiteSession("s")
    options = {"streamed": streamed, "runner": runner, "run_config": config(provider), "session": session}
    with pytest.raises(InternalServerError):
        await outcome(agent(), "First", **options)
    assert (await outcome(agent(), "Second", **options)).final_output == "done"
    assert server.requests[1].user_texts == ("First", "Second")


async def test_two_runs_of_one_session_at_a_time_are_refused(load: Load) -> None:
    runner = ContinuityRunner(continuity=load())
    session = SQLiteSession("s")
    with runner.continuity.start_run("s"), pytest.raises(RunError, match="going on"):
        await runner.run(agent(), "Finish", session=session)


def test_an_agent_is_run_without_an_event_loop(load: Load) -> None:
    with FaultServer.in_thread() as server:
        server.play([CUT, DONE])
        # A connection that is kept would outlive the loop.
        transport: Any = DefaultAsyncHttpxClient(trust_env=False, limits=Limits(max_keepalive_connections=0))
        client = AsyncOpenAI(base_url=server.base_url, api_key="any", http_client=transport)
        provider = MultiProvider(openai_client=client, openai_use_responses=False)
        runner = ContinuityRunner(continuity=load())
        result = runner.run_sync(agent(), "Finish", run_config=config(provider))
    assert result.final_output == "done"
