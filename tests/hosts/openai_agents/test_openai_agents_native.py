"""Next to the framework's own recovery and its own ways: who goes first, and what is said at the start."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelRetrySettings,
    ModelSettings,
    ModelTimeoutError,
    MultiProvider,
    ProgrammaticToolCallingTool,
    Runner,
)
from agents.retry import RetryDecision, RetryPolicyContext
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from openai_agents_runs import (
    BROKEN,
    CUT,
    DONE,
    LIMIT,
    LIMITED,
    OVERLOADED,
    SaidModel,
    agent,
    config,
    outcome,
    response,
)

from continuity_core import CauseKind, Continuity, RunOutcome
from continuity_core.hosts.openai_agents import ContinuityModel, ContinuityProvider, listening
from continuity_core.hosts.openai_agents.warning import Warnings
from continuity_core.model.report import Report
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
ONE_MORE = {"plugins": {"stream-recovery": {"retries": 1}}}


class Policy:
    """Retries server errors at once, and remembers what it was asked about."""

    def __init__(self) -> None:
        self.attempts: list[int] = []

    def __call__(self, context: RetryPolicyContext) -> RetryDecision:
        self.attempts.append(context.attempt)
        return RetryDecision(retry=context.normalized.status_code == 503, delay=0.0)

    def settings(self, retries: int) -> ModelSettings:
        """Model settings with this policy."""
        retry = ModelRetrySettings(max_retries=retries, policy=self)
        return ModelSettings(max_tokens=LIMIT, include_usage=True, retry=retry)


def with_policy(policy: Policy, retries: int) -> Agent[Any]:
    return agent(model_settings=policy.settings(retries))


# ---------------------------------------------------------------- ModelSettings.retry


async def test_the_runners_own_retries_go_first_and_are_not_charged(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([OVERLOADED, OVERLOADED, DONE])
    reports: list[Report] = []
    wrapped = ContinuityProvider(provider, continuity=load(), on_report=reports.append)
    result = await outcome(with_policy(Policy(), 2), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert reports[0].resumes == 0
    assert reports[0].requests == 3
    assert clock.waits == []


async def test_a_resumed_turn_has_the_runners_retries_again_and_the_error_that_stays_has_none(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    policy = Policy()
    server.play([OVERLOADED] * 4)
    wrapped = ContinuityProvider(provider, continuity=load(ONE_MORE))
    with pytest.raises(openai.InternalServerError):
        await outcome(with_policy(policy, 1), "Finish", streamed=streamed, run_config=config(wrapped))
    assert policy.attempts == [1, 1]
    assert len(server.requests) == 4
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_while_recovery_watches_the_runner_retries_as_it_does(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    policy = Policy()
    server.play([OVERLOADED, DONE])
    wrapped = ContinuityProvider(provider, continuity=load({"mode": "observe"}))
    result = await outcome(with_policy(policy, 1), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert policy.attempts == [1]
    assert clock.waits == []


async def test_the_clients_own_retries_go_first(
    server: FaultServer, dialect: str, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([{**OVERLOADED, "headers": {"retry-after-ms": "1"}}, DONE])
    transport: Any = DefaultAsyncHttpxClient(trust_env=False, verify=False)
    async with AsyncOpenAI(
        base_url=server.base_url, api_key="any", max_retries=1, http_client=transport
    ) as client:
        provider = MultiProvider(openai_client=client, openai_use_responses=dialect == "responses")
        wrapped = ContinuityProvider(provider, continuity=load())
        result = await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert clock.waits == []


# ---------------------------------------------------------------- ModelSettings.timeout


async def test_no_wait_is_held_that_would_end_after_the_runners_timer(
    server: FaultServer,
    provider: Any,
    load: Load,
    streamed: bool,
    clock: VirtualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.play([LIMITED])
    reports: list[Report] = []
    wrapped = ContinuityProvider(provider, continuity=load(), on_report=reports.append)
    settings = ModelSettings(max_tokens=LIMIT, timeout=60.0)
    with pytest.raises(openai.RateLimitError):
        await outcome(agent(model_settings=settings), "Finish", streamed=streamed, run_config=config(wrapped))
    assert clock.waits == []
    assert "deadline" in str(reports[0].no_resume)
    assert "ModelSettings.timeout covers continuity's waits" in caplog.text


async def test_a_short_wait_is_held_inside_the_runners_timer(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([BROKEN, DONE])
    wrapped = ContinuityProvider(provider, continuity=load())
    settings = ModelSettings(max_tokens=LIMIT, timeout=60.0)
    result = await outcome(
        agent(model_settings=settings), "Finish", streamed=streamed, run_config=config(wrapped)
    )
    assert result.final_output == "done"
    assert [wait.seconds for wait in clock.waits] == [5.0]


async def test_a_turn_that_the_runners_timer_ends_is_a_failed_one_and_no_abort(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([{"text": "never", "hang": True}])
    reports: list[Report] = []
    wrapped = ContinuityProvider(provider, continuity=load(), on_report=reports.append)
    settings = ModelSettings(max_tokens=LIMIT, timeout=0.2)
    with pytest.raises(ModelTimeoutError):
        await outcome(agent(model_settings=settings), "Finish", streamed=streamed, run_config=config(wrapped))
    assert [(report.outcome, report.cause) for report in reports] == [
        (RunOutcome.FAILED, CauseKind.TRANSIENT)
    ]


# ---------------------------------------------------------------- history that the provider keeps


async def test_a_conversation_of_the_provider_is_left_alone_and_that_is_said_once(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    model = SaidModel("", "")
    continuity = load()
    reports: list[Report] = []
    wrapped = ContinuityProvider(continuity=continuity, on_report=reports.append)
    asked = agent(model=ContinuityModel(model, continuity=continuity))
    for _ in range(2):
        result = await Runner.run(asked, "Finish", run_config=config(wrapped), conversation_id="conv_1")
        assert result.final_output == ""
    assert len(model.asked) == 2
    assert reports == []
    assert caplog.text.count("conversation_id") == 1


async def test_a_turn_after_a_response_of_the_provider_is_asked_for_again_as_it_was(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    model = SaidModel("", "done")
    continuity = load()
    asked = agent(model=ContinuityModel(model, continuity=continuity))
    items = [{"type": "function_call_output", "call_id": "call_of_the_server", "output": "RESULT"}]
    run_config = config(ContinuityProvider(continuity=continuity))
    result = await Runner.run(asked, items, run_config=run_config, previous_response_id="resp_0")
    assert result.final_output == "done"
    assert [call["previous_response_id"] for call in model.asked] == ["resp_0", "resp_0"]
    assert model.asked[0]["input"] == model.asked[1]["input"] == items
    assert "previous_response_id" in caplog.text


async def test_a_request_that_may_have_run_tools_is_not_repeated(load: Load) -> None:
    model = SaidModel("", "done")
    continuity = load()
    asked = agent(model=ContinuityModel(model, continuity=continuity)).clone(
        tools=[ProgrammaticToolCallingTool()]
    )
    result = await Runner.run(asked, "Finish", run_config=config(ContinuityProvider(continuity=continuity)))
    assert result.final_output == ""
    assert len(model.asked) == 1


def test_nothing_is_said_twice(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    with caplog.at_level(logging.WARNING, "continuity"):
        warnings.tell("one thing")
        warnings.tell("one thing")
        warnings.tell("another")
    assert [record.getMessage() for record in caplog.records] == [
        "openai-agents: one thing",
        "openai-agents: another",
    ]


# ---------------------------------------------------------------- listening


@pytest.mark.parametrize("dialect", ["chat"])
async def test_a_model_that_is_listened_to_does_what_it_did_where_nobody_listens(
    server: FaultServer, provider: Any, streamed: bool
) -> None:
    model = provider.get_model("scripted")
    assert listening.make_heard(model)
    assert listening.make_heard(model)
    server.play([CUT])
    result = await outcome(agent(model=model), "Finish", streamed=streamed, run_config=config(provider))
    assert result.final_output == "half of it"


async def test_where_nothing_can_be_heard_the_tokens_tell_that_an_answer_was_cut(
    server: FaultServer,
    provider: Any,
    load: Load,
    streamed: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("continuity_core.hosts.openai_agents.model.make_heard", lambda model: False)
    server.play([CUT, DONE])
    wrapped = ContinuityProvider(provider, continuity=load())
    result = await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert caplog.text.count("does not let the stop reason of a response be seen") == 1


async def test_a_response_below_the_limit_is_whole_where_nothing_can_be_heard(load: Load) -> None:
    model = SaidModel(response("done", output_tokens=LIMIT - 1))
    continuity = load()
    asked = agent(model=ContinuityModel(model, continuity=continuity))
    result = await Runner.run(asked, "Finish", run_config=config(ContinuityProvider(continuity=continuity)))
    assert result.final_output == "done"
