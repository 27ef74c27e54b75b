"""The session without continuity: a plain and honest agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from continuity_core.hosts.reference import AgentSession, OpenAIChatModel, Tool
from continuity_core.hosts.reference.events import (
    RequestStarted,
    RunEnded,
    RunStarted,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from continuity_core.model.reading.stop_words import NO_STOP_WORD
from continuity_core.model.stop_reason import StopReason
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

CALL = {"tool_calls": [{"name": "step", "arguments": '{"n": 1}'}]}


def step(**arguments: Any) -> str:
    return f"RESULT {json.dumps(arguments)}"


async def test_an_answer_is_given_back_with_its_usage(wire: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "done", "usage": {"input": 11, "output": 3}}]) as server:
        session = session_on(wire, server)
        outcome = await session.run("Finish the task")
    assert (outcome.text, outcome.stop_reason, outcome.failure) == ("done", StopReason.STOP, None)
    assert outcome.turn is not None
    assert (outcome.turn.usage.input_tokens, outcome.turn.usage.output_tokens) == (11, 3)
    assert [entry.role for entry in session.history] == ["user", "assistant"]
    assert outcome.report is None
    assert server.violations == []


async def test_a_tool_runs_and_its_result_is_sent(wire: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "I look", **CALL}, {"text": "done"}]) as server:
        session = session_on(wire, server, tools=[Tool(name="step", function=step)])
        outcome = await session.run("Finish the task")
    assert (outcome.text, outcome.tools_run) == ("done", {"step": 1})
    assert [result.text for message in server.requests[1].messages for result in message.results] == [
        'RESULT {"n": 1}'
    ]
    assert [entry.role for entry in session.history] == ["user", "assistant", "tool", "assistant"]
    assert server.violations == []


async def test_reasoning_is_kept_and_its_signature_sent_back(either: Any, session_on: Any) -> None:
    async with FaultServer([{"reasoning": "let me see", **CALL}, {"text": "done"}]) as server:
        session = session_on(either, server, tools=[Tool(name="step", function=step)])
        await session.run("Finish the task")
    assert session.history[1].reasoning == "let me see"
    if either.dialect == "anthropic":
        content = json.loads(server.requests[1].body)["messages"][1]["content"]
        assert content[0] == {
            "type": "thinking",
            "thinking": "let me see",
            "signature": "signature-of-response-1",
        }


async def test_a_cut_answer_is_never_dressed_up(either: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "half an ans", "stop": "length"}]) as server:
        outcome = await session_on(either, server).run("Finish the task")
    assert (outcome.text, outcome.stop_reason) == ("half an ans", StopReason.LENGTH)


@pytest.mark.parametrize("arguments", ['{"path": "CUT', '{"path": "whole"}'])
async def test_a_truncated_call_is_never_executed_and_not_sent_again(
    either: Any, session_on: Any, arguments: str
) -> None:
    script = [
        {"text": "PLAN", "tool_calls": [{"name": "step", "arguments": arguments}], "stop": "length"},
        {"text": "done"},
    ]
    async with FaultServer(script) as server:
        session = session_on(either, server, tools=[Tool(name="step", function=step)])
        first = await session.run("First task")
        second = await session.run("Second task")
    assert (first.stop_reason, first.tools_run) == (StopReason.LENGTH, {})
    assert second.text == "done"
    assert [message.role for message in server.requests[1].messages] == ["user", "user"]
    assert server.violations == []


async def test_a_refused_request_is_a_failure_with_all_that_is_known(wire: Any, session_on: Any) -> None:
    error = {"message": "Slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
    body = {"type": "error", "error": error} if wire.dialect == "anthropic" else {"error": error}
    script = [{"http": 429, "headers": {"Retry-After": "7", "X-Secret": "s"}, "body": body}]
    async with FaultServer(script) as server:
        outcome = await session_on(wire, server).run("Finish the task")
    failure = outcome.failure
    assert outcome.stop_reason is StopReason.ERROR
    assert failure is not None
    assert (failure.status, failure.type) == (429, "rate_limit_error")
    assert failure.headers == {"retry-after": "7"}
    assert "rate_limit_exceeded" in (failure.body or "")
    assert (
        failure.exceptions[0] == f"{'anthropic' if wire.dialect == 'anthropic' else 'openai'}.RateLimitError"
    )


@pytest.mark.parametrize("cut", ["rst", "fin", "mid_json"])
async def test_a_broken_connection_is_a_failure(wire: Any, session_on: Any, cut: str) -> None:
    async with FaultServer([{"text": "partial plan", "cut": cut}]) as server:
        session = session_on(wire, server)
        outcome = await session.run("Finish the task")
    assert outcome.stop_reason is StopReason.ERROR
    assert outcome.failure is not None
    assert outcome.text == ("partial plan" if wire.stream else "")
    assert session.history[-1].failure == outcome.failure


async def test_a_clean_end_without_a_finish_reason_is_a_failure(wire: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "half", "cut": "no_finish"}]) as server:
        outcome = await session_on(wire, server).run("Finish the task")
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.text) == (NO_STOP_WORD, "half")


async def test_an_error_in_the_middle_of_a_stream_is_a_failure(wire: Any, session_on: Any) -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    async with FaultServer([{"text": "half", "sse_error": error}]) as server:
        outcome = await session_on(wire, server).run("Finish the task")
    assert outcome.failure is not None
    assert outcome.failure.type == "overloaded_error"


@pytest.mark.parametrize("text", [None, "HANGING"])
async def test_a_silent_stream_is_a_failure(streamed: Any, session_on: Any, text: str | None) -> None:
    async with FaultServer([{"text": text, "hang": True}]) as server:
        outcome = await session_on(streamed, server, idle_timeout=0.05).run("Finish the task")
    assert outcome.stop_reason is StopReason.ERROR
    assert outcome.failure is not None
    assert any("Timeout" in name for name in outcome.failure.exceptions)
    assert outcome.text == (text or "")


async def test_the_text_of_a_failed_turn_stays_in_the_next_request(either: Any, session_on: Any) -> None:
    async with FaultServer([{"text": "partial", "stop": "length"}, {"text": "done"}]) as server:
        session = session_on(either, server)
        await session.run("First task")
        await session.run("Second task")
    assert [message.text for message in server.requests[1].messages] == [
        "First task",
        "partial",
        "Second task",
    ]
    assert server.violations == []


async def test_instructions_and_limits_go_with_every_request(either: Any, session_on: Any) -> None:
    async with FaultServer([CALL, {"text": "done"}]) as server:
        tools = [Tool(name="step", function=step)]
        await session_on(either, server, tools=tools, instructions="Be brief.").run("Finish the task")
    bodies = [json.loads(request.body) for request in server.requests]
    told = [body.get("system") or body["messages"][0]["content"] for body in bodies]
    assert told == ["Be brief.", "Be brief."]
    assert [request.decoded.output_limit for request in server.requests] == [64, 64]


async def test_the_history_is_only_ever_added_to(streamed: Any, session_on: Any) -> None:
    script = [{"text": "a", "cut": "rst"}, CALL, {"text": "b", "stop": "length"}, {"text": "c"}]
    async with FaultServer(script) as server:
        session = session_on(streamed, server, tools=[Tool(name="step", function=step)])
        seen: list[str] = []
        for prompt in ("one", "two", "three"):
            await session.run(prompt)
            now = [repr(entry) for entry in session.history]
            assert now[: len(seen)] == seen
            assert len(now) > len(seen)
            seen = now


async def test_every_step_is_told(streamed: Any, session_on: Any) -> None:
    events: list[Any] = []
    async with FaultServer([CALL, {"text": "done"}]) as server:
        tools = [Tool(name="step", function=step)]
        outcome = await session_on(streamed, server, tools=tools, on_event=events.append).run("Go")
    assert [type(event) for event in events if not isinstance(event, TextDelta)] == [
        RunStarted,
        RequestStarted,
        ToolStarted,
        ToolEnded,
        TurnEnded,
        RequestStarted,
        TurnEnded,
        RunEnded,
    ]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "done"
    assert events[-1] == RunEnded(outcome)


async def test_an_observer_that_raises_harms_nothing(
    streamed: Any, session_on: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: Any) -> None:
        raise ValueError("broken observer")

    async with FaultServer([{"text": "done"}]) as server:
        outcome = await session_on(streamed, server, on_event=fail).run("Finish the task")
    assert outcome.text == "done"
    assert "broken observer" in caplog.text


async def test_a_session_runs_one_prompt_at_a_time(streamed: Any, session_on: Any) -> None:
    errors: list[str] = []

    async def again() -> str:
        try:
            await session.run("Another task")
        except RuntimeError as error:
            errors.append(str(error))
        return "tried"

    async with FaultServer([{"tool_calls": [{"name": "again"}]}, {"text": "done"}]) as server:
        session = session_on(streamed, server, tools=[again])
        assert (await session.run("Finish the task")).text == "done"
    assert "steer" in errors[0]


async def test_a_given_client_stays_open(anyio_backend: str) -> None:
    from openai import AsyncOpenAI

    async with FaultServer([{"text": "one"}, {"http": 500, "body": None}]) as server:
        async with AsyncOpenAI(base_url=server.base_url, api_key="any") as client:
            session = AgentSession(OpenAIChatModel(name="m", client=client), stream=False)
            assert (await session.run("First task")).text == "one"
            assert (await session.run("Second task")).failure is not None
            assert not client.is_closed()
        assert len(server.requests) == 2


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_session_runs_on_the_callers_thread_again_and_again(
    wire: Any, session_on: Any, backend: Any
) -> None:
    with FaultServer.in_thread([{"text": "one"}, {"text": "two"}]) as server:
        session = session_on(wire, server)
        assert session.run_sync("First task", backend=backend).text == "one"
        assert session.run_sync("Second task", backend=backend).text == "two"
        assert len(server.requests[1].messages) == 3
