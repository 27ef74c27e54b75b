"""One provider: more turns where one is broken, and the framework's own result where nothing helps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import openai
import pytest
from agents import (
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelSettings,
    ModelTracing,
    MultiProvider,
    Runner,
    SQLiteSession,
    UserError,
)
from openai_agents_runs import (
    BROKEN,
    CALL,
    CUT,
    CUT_CALL,
    DONE,
    OVERLOADED,
    SaidModel,
    Step,
    agent,
    config,
    outcome,
    response,
)

from continuity_core import CauseKind, Continuity, IncompleteRun, RunOutcome, Turn
from continuity_core.hosts.openai_agents import (
    ContinuityModel,
    ContinuityProvider,
    ContinuityRunner,
    TurnResumed,
)
from continuity_core.model.report import Report
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

Load = Callable[..., Continuity]
ONLY_CHAT = pytest.mark.parametrize("dialect", ["chat"])


async def test_a_cut_answer_is_asked_for_again_and_stays_out_of_the_history(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT, DONE])
    reports: list[Report] = []
    dropped: list[Turn] = []
    wrapped = ContinuityProvider(
        provider, continuity=load(), on_report=reports.append, on_dropped=dropped.append
    )
    result = await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert len(result.raw_responses) == 1
    assert [turn.text for turn in dropped] == ["half of it"]
    assert "half of it" not in str(result.to_input_list())
    assert not server.requests[1].mentions("half of it")
    [report] = reports
    assert (report.outcome, report.resumes, report.turns) == (RunOutcome.COMPLETED, 1, 2)


async def test_what_dropped_turns_cost_is_in_the_totals_of_the_framework(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    cut = {**CUT, "usage": {"input": 100, "output": 20}}
    server.play([cut, BROKEN, {**DONE, "usage": {"input": 7, "output": 3}}])
    result = await outcome(
        agent(),
        "Finish",
        streamed=streamed,
        run_config=config(ContinuityProvider(provider, continuity=load())),
    )
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (3, 107, 23)
    assert [entry.total_tokens for entry in usage.request_usage_entries] == [120, 10]


async def test_dropped_turns_never_reach_the_session(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([BROKEN, CUT, {"text": ""}, DONE])
    session = SQLiteSession("s")
    wrapped = ContinuityProvider(provider, continuity=load())
    await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped), session=session)
    kept = await session.get_items()
    assert [item.get("role") for item in kept] == ["user", "assistant"]
    assert "done" in str(kept[1])


async def test_an_error_that_stays_reaches_the_caller_as_the_client_raised_it(
    server: FaultServer, provider: Any, load: Load, streamed: bool, clock: VirtualClock
) -> None:
    server.play([OVERLOADED] * 2)
    reports: list[Report] = []
    continuity = load({"plugins": {"stream-recovery": {"retries": 1}}})
    wrapped = ContinuityProvider(provider, continuity=continuity, on_report=reports.append)
    with pytest.raises(openai.InternalServerError) as raised:
        await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert raised.value.body == {"message": "overloaded"}
    assert [wait.seconds for wait in clock.waits] == [5.0]
    assert [(report.outcome, report.cause) for report in reports] == [
        (RunOutcome.FAILED, CauseKind.TRANSIENT)
    ]


async def test_a_model_is_wrapped_alone(server: FaultServer, provider: Any, load: Load) -> None:
    server.play([CUT, DONE])
    model = ContinuityModel(provider.get_model("scripted"), continuity=load())
    result = await Runner.run(agent(model=model), "Finish", run_config=config(provider))
    assert result.final_output == "done"


async def test_a_model_that_has_continuity_is_not_wrapped_again(load: Load) -> None:
    model = ContinuityModel(SaidModel(), continuity=load())
    with pytest.raises(TypeError, match="has continuity already"):
        ContinuityModel(model, continuity=load())


async def test_settings_and_plugins_are_loaded_where_no_continuity_is_given() -> None:
    provider = ContinuityProvider(settings={"max_resumes": 3})
    assert provider.continuity.settings.max_resumes == 3
    assert ContinuityModel(SaidModel(), settings={"max_resumes": 4}).continuity.settings.max_resumes == 4


@pytest.mark.parametrize(
    "make", [ContinuityProvider, ContinuityRunner, partial(ContinuityModel, SaidModel())]
)
def test_a_continuity_and_settings_for_one_exclude_each_other(load: Load, make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"Continuity\.load"):
        make(continuity=load(), settings={"max_resumes": 1})


async def test_a_provider_gives_its_own_attributes_and_closes_what_it_wraps(
    provider: Any, load: Load
) -> None:
    wrapped = ContinuityProvider(provider, continuity=load())
    assert wrapped.openai_provider is provider.openai_provider
    assert wrapped.get_model("scripted").model == "scripted"  # type: ignore[attr-defined]
    model = ContinuityModel(SaidModel(), continuity=load())
    await model.close()
    assert model.wrapped.closed
    await wrapped.aclose()


# ---------------------------------------------------------------- calls of broken turns


@ONLY_CHAT
async def test_a_cut_call_that_parses_is_not_executed_although_nothing_can_be_resumed(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    step = Step()
    server.play([{**CUT_CALL, "text": "said before"}])
    wrapped = ContinuityProvider(provider, continuity=load({"max_resumes": 0}))
    result = await outcome(agent(step.tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "said before"
    assert step.arguments == []


async def test_a_cut_call_without_a_word_is_an_error_where_nothing_can_be_resumed(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    step = Step()
    server.play([CUT_CALL])
    wrapped = ContinuityProvider(provider, continuity=load({"max_resumes": 0}))
    with pytest.raises(ModelBehaviorError):
        await outcome(agent(step.tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert step.arguments == []


@ONLY_CHAT
@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_while_recovery_is_not_on_the_framework_does_as_it_does(
    server: FaultServer, provider: Any, load: Load, streamed: bool, mode: str
) -> None:
    step = Step()
    server.play([CUT_CALL, DONE])
    wrapped = ContinuityProvider(provider, continuity=load({"mode": mode}))
    result = await outcome(agent(step.tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert step.arguments == [{"path": "CUT"}]


async def test_every_call_of_a_good_turn_is_executed_once(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    step = Step()
    server.play([CUT_CALL, CALL, BROKEN, CALL, DONE])
    wrapped = ContinuityProvider(provider, continuity=load())
    result = await outcome(agent(step.tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert result.final_output == "done"
    assert step.arguments == [{}, {}]
    assert not server.requests[1].mentions("CUT")


# ---------------------------------------------------------------- what is handed out of a broken turn


@ONLY_CHAT
async def test_a_stream_without_a_finish_reason_is_handed_out_as_the_framework_does_and_not_sent_again(
    server: FaultServer, provider: Any, load: Load
) -> None:
    server.play([{"text": "half an ans", "cut": "no_finish"}, DONE])
    reports: list[Report] = []
    continuity = load({"max_resumes": 0})
    wrapped = ContinuityProvider(provider, continuity=continuity, on_report=reports.append)
    first = await outcome(agent(), "First", streamed=True, run_config=config(wrapped))
    assert first.final_output == "half an ans"
    assert reports[0].outcome is RunOutcome.FAILED
    following = [*first.to_input_list(), {"role": "user", "content": "Second"}]
    await outcome(agent(), following, streamed=True, run_config=config(wrapped))
    assert server.requests[1].user_texts == ("First", "Second")
    assert not server.requests[1].mentions("half an ans")
    assert "half an ans" in str(first.to_input_list())


@ONLY_CHAT
async def test_a_half_that_was_cut_at_the_cap_and_handed_out_stays_in_the_conversation(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT, DONE])
    wrapped = ContinuityProvider(provider, continuity=load({"max_resumes": 0}))
    first = await outcome(agent(), "First", streamed=streamed, run_config=config(wrapped))
    following = [*first.to_input_list(), {"role": "user", "content": "Second"}]
    await outcome(agent(), following, streamed=streamed, run_config=config(wrapped))
    assert server.requests[1].mentions("half of it")


async def test_an_empty_answer_that_was_handed_out_is_not_sent_again(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([{"text": " "}, DONE])
    wrapped = ContinuityProvider(provider, continuity=load({"max_resumes": 0}))
    first = await outcome(agent(), "First", streamed=streamed, run_config=config(wrapped))
    following = [*first.to_input_list(), {"role": "user", "content": "Second"}]
    await outcome(agent(), following, streamed=streamed, run_config=config(wrapped))
    assert [message.role for message in server.requests[1].messages] == ["user", "user"]


@ONLY_CHAT
async def test_a_run_without_a_whole_answer_raises_where_the_settings_say_so(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT])
    reports: list[Report] = []
    continuity = load({"max_resumes": 0, "incomplete": "raise"})
    wrapped = ContinuityProvider(provider, continuity=continuity, on_report=reports.append)
    with pytest.raises(IncompleteRun) as raised:
        await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert raised.value.partial is not None
    assert raised.value.partial.text == "half of it"
    assert len(reports) == 1


async def test_the_error_is_the_cause_of_the_incomplete_run(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([OVERLOADED])
    continuity = load({"max_resumes": 0, "incomplete": "raise"})
    wrapped = ContinuityProvider(provider, continuity=continuity)
    with pytest.raises(IncompleteRun) as raised:
        await outcome(agent(), "Finish", streamed=streamed, run_config=config(wrapped))
    assert isinstance(raised.value.__cause__, openai.InternalServerError)


# ---------------------------------------------------------------- settings of the next turn, and ends


async def test_the_resumed_turn_may_ask_for_more_output(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    server.play([CUT, CALL, DONE])
    continuity = load({"plugins": {"length-resume": {"output_limit_factor": 2, "reasoning_effort": "low"}}})
    wrapped = ContinuityProvider(provider, continuity=continuity)
    await outcome(agent(Step().tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert [request.decoded.output_limit for request in server.requests] == [64, 128, 64]
    assert [b'"low"' in request.body for request in server.requests] == [False, True, False]


async def test_a_limit_of_requests_ends_the_run_before_the_next_one(
    server: FaultServer, provider: Any, load: Load, streamed: bool
) -> None:
    step = Step()
    server.play([CALL, CALL, DONE])
    continuity = load({"plugins": {"run-limits": {"max_requests": 2}}})
    wrapped = ContinuityProvider(provider, continuity=continuity)
    with pytest.raises(MaxTurnsExceeded, match="continuity ended the run"):
        await outcome(agent(step.tool), "Finish", streamed=streamed, run_config=config(wrapped))
    assert len(step.arguments) == 2
    assert len(server.requests) == 2


# ---------------------------------------------------------------- streams


async def test_consumers_of_a_stream_are_told_that_a_turn_was_resumed(
    server: FaultServer, provider: Any, load: Load
) -> None:
    server.play([BROKEN, DONE])
    wrapped = ContinuityProvider(provider, continuity=load())
    result = Runner.run_streamed(agent(), "Finish", run_config=config(wrapped))
    raw = [event.data async for event in result.stream_events() if event.type == "raw_response_event"]
    kinds = [event.type for event in raw]
    [resumed] = [event for event in raw if isinstance(event, TurnResumed)]
    place = kinds.index("continuity.turn_resumed")
    assert kinds[place + 1] == "response.created"
    assert kinds.count("response.created") == 2
    assert kinds.count("response.completed") == 1
    shown = "".join(event.delta for event in raw[place:] if event.type == "response.output_text.delta")
    assert shown == "done"
    assert resumed.resumes == 1
    assert resumed.model_dump()["type"] == "continuity.turn_resumed"


async def test_a_stream_of_good_turns_has_the_events_of_the_framework_and_no_other(
    server: FaultServer, provider: Any, load: Load
) -> None:
    def kinds_of(events: list[Any]) -> list[str]:
        return [getattr(event.data, "type", "") if hasattr(event, "data") else event.type for event in events]

    seen = []
    for used in (provider, ContinuityProvider(provider, continuity=load())):
        server.play([CALL, DONE])
        result = Runner.run_streamed(agent(Step().tool), "Finish", run_config=config(used))
        seen.append(kinds_of([event async for event in result.stream_events()]))
    assert seen[0] == seen[1]


# ---------------------------------------------------------------- models that are not OpenAI's


async def test_a_model_of_any_kind_is_recovered_by_what_its_response_tells(load: Load) -> None:
    model = SaidModel(response("cut", output_tokens=64), ConnectionResetError("reset by peer"), "done")
    result = await Runner.run(
        agent(model=ContinuityModel(model, continuity=load())),
        "Finish",
        run_config=config(unasked_provider()),
    )
    assert result.final_output == "done"
    assert len(model.asked) == 3
    assert result.context_wrapper.usage.output_tokens == 69


async def test_misuse_of_the_framework_is_raised_at_once(load: Load, clock: VirtualClock) -> None:
    model = SaidModel(UserError("a tool of that name is not there"))
    with pytest.raises(UserError):
        await Runner.run(
            agent(model=ContinuityModel(model, continuity=load())),
            "Finish",
            run_config=config(unasked_provider()),
        )
    assert len(model.asked) == 1
    assert clock.waits == []


async def test_a_model_that_is_asked_without_a_runner_is_a_run_of_its_own(load: Load) -> None:
    reports: list[Report] = []
    continuity = load()
    ContinuityProvider(continuity=continuity, on_report=reports.append)
    model = ContinuityModel(SaidModel("", "done"), continuity=continuity)
    got = await model.get_response(
        system_instructions=None,
        input="Finish",
        model_settings=ModelSettings(),
        tools=[],
        output_schema=None,
        handoffs=[],
        tracing=ModelTracing.DISABLED,
        previous_response_id=None,
        conversation_id=None,
        prompt=None,
    )
    assert "done" in str(got.output)
    assert [(report.outcome, report.resumes) for report in reports] == [(RunOutcome.COMPLETED, 1)]


def unasked_provider() -> Any:
    """A provider that is not asked."""
    return MultiProvider(openai_api_key="any")
