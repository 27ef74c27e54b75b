"""Where the runner's own parts, its callers and continuity meet."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import openai
import pytest
import responses_api
from agents import (
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelBehaviorError,
    OutputGuardrailTripwireTriggered,
    Runner,
    SQLiteSession,
    input_guardrail,
    output_guardrail,
)
from host_fixtures import side_by_side
from openai_agents_runs import BROKEN, CALL, CUT, DONE, LIMITED, Step, Wrapped, agent, outcome
from pydantic import BaseModel

from continuity_core import CauseKind, Continuity, RunOutcome
from continuity_core.hosts.openai_agents import ContinuityRunner
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
RESPONSES = pytest.mark.parametrize("dialect", ["responses"])


class Standing(VirtualClock):
    """Stands still, and says when somebody waits."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        super().__init__(auto_advance=False, on_wait=lambda number, wait: self.begun.set())


def hanging(step: Step, inside: asyncio.Event) -> Any:
    """The tool, which does not come to an end."""

    async def hang(context: Any, arguments: str) -> str:
        inside.set()
        await asyncio.sleep(60)
        return "never"

    return dataclasses.replace(step.tool, on_invoke_tool=hang)


# ---------------------------------------------------------------- callers that leave


@pytest.mark.parametrize("runs", [Runner, ContinuityRunner])
async def test_an_immediate_cancellation_ends_the_wait_and_the_run(
    server: FaultServer, provider: Any, load: Load, runs: Any
) -> None:
    clock = Standing()
    wrapped = Wrapped(provider, load, clock=clock)
    runner = runs if runs is Runner else ContinuityRunner(continuity=wrapped.continuity)
    server.play([LIMITED, DONE])
    result = runner.run_streamed(agent(), "Finish", run_config=wrapped.config)

    async def consume() -> None:
        async for _ in result.stream_events():
            pass

    task = asyncio.create_task(consume())
    await clock.begun.wait()
    result.cancel()
    await task
    assert len(server.requests) == 1
    assert wrapped.ends == [(RunOutcome.ABORTED, 0)]


async def test_a_cancellation_after_the_turn_ends_the_wait_with_the_turns_own_error(
    server: FaultServer, provider: Any, load: Load
) -> None:
    clock = Standing()
    wrapped = Wrapped(provider, load, clock=clock)
    server.play([LIMITED, DONE])
    stream = ContinuityRunner(continuity=wrapped.continuity).run_streamed(
        agent(), "Finish", run_config=wrapped.config
    )

    async def consume() -> None:
        async for _ in stream.stream_events():
            pass

    task = asyncio.create_task(consume())
    await clock.begun.wait()
    stream.cancel("after_turn")
    with pytest.raises(openai.RateLimitError):
        await task
    assert len(server.requests) == 1
    assert wrapped.ends == [(RunOutcome.FAILED, 0)]
    assert "the caller's cancellation after the turn" in str(wrapped.reports[0].no_resume)


async def test_a_cancellation_after_the_turn_lets_the_turn_and_its_tools_end(
    server: FaultServer, provider: Any, load: Load
) -> None:
    wrapped, step = Wrapped(provider, load), Step()
    server.play([{**CALL, "text": "I shall step"}, DONE])
    stream = ContinuityRunner(continuity=wrapped.continuity).run_streamed(
        agent(step.tool), "Finish", run_config=wrapped.config
    )
    async for event in stream.stream_events():
        if event.type == "raw_response_event":
            stream.cancel("after_turn")
    assert len(step.arguments) == 1
    assert len(server.requests) == 1
    assert [resumes for _, resumes in wrapped.ends] == [0]


async def test_a_continued_stream_that_is_left_in_a_response_ends_the_request(
    server: FaultServer, provider: Any, load: Load
) -> None:
    wrapped = Wrapped(provider, load)
    server.play([{"text": "a long answer in pieces", "hang": True}])
    stream = ContinuityRunner(continuity=wrapped.continuity).run_streamed(
        agent(), "Finish", run_config=wrapped.config
    )
    events = stream.stream_events()
    async for event in events:
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            break
    await events.aclose()
    assert wrapped.ends == [(RunOutcome.ABORTED, 0)]
    async with asyncio.timeout(5):
        await asyncio.wait([stream.result.run_loop_task])


async def test_a_run_that_is_cancelled_in_a_tool_is_over_and_its_session_goes_on(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped, step, inside = Wrapped(provider, load), Step(), asyncio.Event()
    session = SQLiteSession("s")
    options: dict[str, Any] = {"streamed": streamed, "run_config": wrapped.config, "session": session}
    server.play([CALL, DONE])
    task = asyncio.create_task(outcome(agent(hanging(step, inside)), "Finish", **options))
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await wrapped.is_reported.wait()
    assert (await outcome(agent(step.tool), "Again", **options)).final_output == "done"
    assert wrapped.ends == [(RunOutcome.ABORTED, 0), (RunOutcome.COMPLETED, 0)]
    session.close()


# ---------------------------------------------------------------- sessions, and runs side by side


async def test_the_session_of_a_failed_run_goes_on_without_what_broke(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped = Wrapped(provider, load, {"plugins": {"stream-recovery": {"retries": 0}}})
    session = SQLiteSession("s")
    options: dict[str, Any] = {"streamed": streamed, "run_config": wrapped.config, "session": session}
    server.play([CALL, BROKEN, CUT, DONE])
    with pytest.raises(openai.APIConnectionError):
        await outcome(agent(Step().tool), "Finish", **options)
    assert (await outcome(agent(Step().tool), "Again", **options)).final_output == "done"
    asked = [message.role for message in server.requests[-1].decoded.messages]
    assert asked == ["user", "assistant", "tool", "user"]
    assert not server.requests[-1].mentions("BROKEN")
    session.close()


async def test_runs_side_by_side_with_one_provider_do_not_mix(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped = Wrapped(provider, load)
    server.play([{"text": f"half {number}", "stop": "length"} for number in range(5)] + [DONE] * 5)
    results = await side_by_side(
        server,
        *(
            outcome(agent(), f"question {number}", streamed=streamed, run_config=wrapped.config)
            for number in range(5)
        ),
    )
    assert [result.final_output for result in results] == ["done"] * 5
    assert [result.context_wrapper.usage.requests for result in results] == [2] * 5
    assert wrapped.ends == [(RunOutcome.COMPLETED, 1)] * 5
    for request in server.requests[5:]:
        assert not request.mentions("half")
        assert sum(request.mentions(f"question {number}") for number in range(5)) == 1


# ---------------------------------------------------------------- the runner's own limits


async def test_a_resumed_turn_is_one_of_the_runners_turns(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped = Wrapped(provider, load)
    server.play([CALL, CUT, CALL])
    with pytest.raises(MaxTurnsExceeded):
        await outcome(agent(Step().tool), "Finish", streamed=streamed, run_config=wrapped.config, max_turns=2)
    assert len(server.requests) == 3
    assert [resumes for _, resumes in wrapped.ends] == [1]


async def test_a_guardrail_ends_the_wait(server: FaultServer, provider: Any, load: Load) -> None:
    clock = Standing()
    wrapped = Wrapped(provider, load, clock=clock)

    @input_guardrail
    async def trips(context: Any, agent: Any, input: Any) -> GuardrailFunctionOutput:
        await clock.begun.wait()
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    server.play([LIMITED, DONE])
    with pytest.raises(InputGuardrailTripwireTriggered):
        await outcome(agent(input_guardrails=[trips]), "Finish", streamed=False, run_config=wrapped.config)
    assert len(server.requests) == 1
    assert wrapped.ends == [(RunOutcome.ABORTED, 0)]


async def test_a_guardrail_sees_the_answer_that_stands(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped, seen = Wrapped(provider, load), []

    @output_guardrail
    async def trips(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
        seen.append(output)
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    server.play([CUT, DONE])
    with pytest.raises(OutputGuardrailTripwireTriggered):
        await outcome(
            agent(output_guardrails=[trips]), "Finish", streamed=streamed, run_config=wrapped.config
        )
    assert seen == ["done"]
    assert [resumes for _, resumes in wrapped.ends] == [1]


class City(BaseModel):
    name: str


async def test_a_structured_answer_is_asked_for_again_where_it_was_cut_and_not_where_it_is_wrong(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    wrapped = Wrapped(provider, load)
    server.play([{"text": '{"name": "Ber', "stop": "length"}, BROKEN, {"text": '{"name": "Bern"}'}])
    asked = agent(output_type=City)
    result = await outcome(asked, "Where?", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == City(name="Bern")
    server.play([{"text": '{"town": "Bern"}'}])
    with pytest.raises(ModelBehaviorError):
        await outcome(asked, "Where?", streamed=streamed, run_config=wrapped.config)
    assert wrapped.ends == [(RunOutcome.COMPLETED, 2), (RunOutcome.FAILED, 0)]


# ---------------------------------------------------------------- Responses


@RESPONSES
@pytest.mark.parametrize(
    ("error", "wait"), [(responses_api.SERVER_ERROR, 5), (responses_api.RATE_LIMITED, 12.5)]
)
async def test_a_response_that_failed_is_asked_for_again(
    server: FaultServer,
    provider: Any,
    load: Load,
    clock: VirtualClock,
    streamed: bool,
    error: dict[str, str],
    wait: float,
) -> None:
    wrapped = Wrapped(provider, load)
    server.play([responses_api.failed(error, stream=streamed), DONE])
    result = await outcome(agent(), "Finish", streamed=streamed, run_config=wrapped.config)
    assert result.final_output == "done"
    assert [wait.seconds for wait in clock.waits] == [wait]
    assert not server.requests[-1].mentions("BROKEN")


@RESPONSES
@pytest.mark.parametrize(
    ("reason", "settings", "cause"),
    [
        ("max_output_tokens", {}, CauseKind.FINAL),
        ("max_output_tokens", {"max_resumes": 0}, CauseKind.LENGTH),
        ("content_filter", {}, CauseKind.PERMANENT),
    ],
)
async def test_no_call_of_an_incomplete_response_is_executed(
    server: FaultServer,
    provider: Any,
    load: Load,
    streamed: bool,
    reason: str,
    settings: dict[str, Any],
    cause: CauseKind,
) -> None:
    wrapped, step = Wrapped(provider, load, settings), Step()
    server.play([responses_api.incomplete(reason, stream=streamed), DONE])
    run = outcome(agent(step.tool), "Finish", streamed=streamed, run_config=wrapped.config)
    if cause is CauseKind.FINAL:
        assert (await run).final_output == "done"
    else:
        with pytest.raises(ModelBehaviorError):
            await run
    assert step.arguments == []
    assert [report.cause for report in wrapped.reports] == [cause]
