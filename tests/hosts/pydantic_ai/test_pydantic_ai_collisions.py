"""Where an agent's own parts, other agents and continuity meet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelConnectionError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext
from pydantic_ai_scripts import CUT, DONE, LENGTH
from pydantic_graph import End

from continuity_core import Continuity, EventKind, Mode, RunOutcome
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.model.events import Event
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

BUSY = {"http": 503, "body": {"error": {"message": "overloaded"}}}
DENIED = {"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}


@pytest.fixture
def loop() -> Iterator[None]:
    """``run_sync`` makes an event loop where there is none, and does not close it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


# ---------------------------------------------------------------- ways to drive an agent


async def test_run_stream_is_refused_before_any_request_with_what_to_use_instead(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    with pytest.raises(UserError, match=r"run_stream_events\(\)"):
        async with agent.run_stream("x"):
            pass
    assert server.requests == []


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.OFF])
async def test_run_stream_goes_as_ever_where_nothing_is_recovered(
    server: FaultServer, model: Any, load: Callable[..., Continuity], mode: Mode
) -> None:
    server.play([DONE])
    continuity = load()
    continuity.mode = mode
    async with Agent(model, capabilities=[ContinuityCapability(continuity=continuity)]).run_stream(
        "x"
    ) as run:
        assert await run.get_output() == "done"


async def test_run_stream_without_protection_is_allowed_and_said(
    server: FaultServer, model: Any, load: Callable[..., Continuity], caplog: pytest.LogCaptureFixture
) -> None:
    server.play([DONE])
    capability = ContinuityCapability(continuity=load(), run_stream="unprotected")
    async with Agent(model, capabilities=[capability]).run_stream("x") as run:
        assert await run.get_output() == "done"
    assert caplog.text.count("nothing is recovered") == 1


async def test_an_iterated_run_is_recovered_and_of_a_hand_driven_stream_all_but_its_errors(
    server: FaultServer, model: Any, load: Callable[..., Continuity], caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    server.play([BUSY, LENGTH, DONE])
    async with agent.iter("x") as run:
        async for _ in run:
            pass
    assert run.result is not None
    assert run.result.output == "done"
    assert "by hand" not in caplog.text

    async def by_hand() -> Any:
        async with agent.iter("x") as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for _ in stream:
                            pass
        return run.result

    server.play([LENGTH, DONE])
    assert (await by_hand()).output == "done"
    assert "by hand" in caplog.text
    server.play([CUT, DONE])
    with pytest.raises(ModelConnectionError):
        await by_hand()


async def test_a_run_that_is_left_early_is_settled(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([DONE])
    continuity = load()
    async with Agent(model, capabilities=[ContinuityCapability(continuity=continuity)]).iter("x") as run:
        async for _ in run:
            break
    assert continuity.status()["runs"] == []


@pytest.mark.usefixtures("loop")
def test_a_synchronous_run_is_recovered(clock: VirtualClock) -> None:
    answers = iter([RuntimeError("connection reset by peer"), "done"])

    def answer(messages: Any, info: AgentInfo) -> ModelResponse:
        told = next(answers)
        if isinstance(told, Exception):
            raise told
        return ModelResponse(parts=[TextPart(told)])

    continuity = Continuity.from_settings(clock=clock)
    agent = Agent(FunctionModel(answer), capabilities=[ContinuityCapability(continuity=continuity)])
    assert agent.run_sync("x").output == "done"
    assert [wait.seconds for wait in clock.waits] == [5]


async def test_a_model_that_says_nothing_of_why_it_stops_is_believed(load: Callable[..., Continuity]) -> None:
    agent = Agent(TestModel(), capabilities=[ContinuityCapability(continuity=load())])
    async with agent.run_stream_events("x") as events:
        kinds = [event.event_kind async for event in events]
    assert kinds[-1] == "agent_run_result"


# ---------------------------------------------------------------- fallbacks and retries


async def test_every_candidate_of_a_fallback_model_is_asked_before_anything_is_waited_for(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([BUSY, DONE])
    agent = Agent(FallbackModel(model, model), capabilities=[ContinuityCapability(continuity=load())])
    assert (await agent.run("x")).output == "done"
    assert clock.waits == []


@pytest.mark.parametrize("failures", [[DENIED, BUSY], [BUSY, DENIED]])
async def test_the_candidate_that_another_turn_can_help_speaks_for_a_fallback_model(
    server: FaultServer,
    model: Any,
    load: Callable[..., Continuity],
    clock: VirtualClock,
    failures: list[dict[str, Any]],
) -> None:
    server.play([*failures, DONE])
    agent = Agent(FallbackModel(model, model), capabilities=[ContinuityCapability(continuity=load())])
    assert (await agent.run("x")).output == "done"
    assert [wait.seconds for wait in clock.waits] == [5]


async def test_a_stream_through_a_fallback_model_has_to_say_why_it_stops_too(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([{"text": "half an ans", "cut": "no_finish"}, DONE])
    agent = Agent(FallbackModel(model, model), capabilities=[ContinuityCapability(continuity=load())])
    async with agent.run_stream_events("x") as events:
        last = [event async for event in events][-1]
    assert last.result.output == "done"


async def test_another_capabilitys_recovery_comes_first(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    class Own(AbstractCapability[Any]):
        async def on_model_request_error(
            self, ctx: RunContext[Any], *, request_context: Any, error: Exception
        ) -> ModelResponse:
            return ModelResponse(parts=[TextPart("from the cache")])

    server.play([BUSY])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load()), Own()])
    assert (await agent.run("x")).output == "from the cache"
    assert clock.waits == []


async def test_an_error_of_another_capability_is_not_the_models(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    class Guard(AbstractCapability[Any]):
        async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
            raise TimeoutError("the guard's own service")

    server.play([DONE])
    agent = Agent(model, capabilities=[Guard(), ContinuityCapability(continuity=load())])
    with pytest.raises(TimeoutError):
        await agent.run("x")
    assert clock.waits == []
    assert server.requests == []


async def test_rejections_by_another_capability_are_its_own_business(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    class Picky(AbstractCapability[Any]):
        async def after_model_request(
            self, ctx: RunContext[Any], *, request_context: Any, response: ModelResponse
        ) -> ModelResponse:
            raise ModelRetry("say it better")

    server.play([DONE, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load()), Picky()])
    with pytest.raises(UnexpectedModelBehavior, match="output retries"):
        await agent.run("x")
    assert clock.waits == []


async def test_a_stop_reason_need_not_come_where_that_is_said(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load(), stop_reason_required=False)
    server.play([{"text": "all of it", "cut": "no_finish"}])
    async with Agent(model, capabilities=[capability]).run_stream_events("x") as events:
        last = [event async for event in events][-1]
    assert last.result.output == "all of it"


async def test_a_durable_engines_run_is_left_to_it(
    server: FaultServer, model: Any, load: Callable[..., Continuity], caplog: pytest.LogCaptureFixture
) -> None:
    class Engine(AbstractCapability[Any]):
        pass

    Engine.__module__ = "pydantic_ai.durable_exec.some"
    server.play([LENGTH])
    agent = Agent(model, capabilities=[Engine(), ContinuityCapability(continuity=load())])
    assert (await agent.run("x")).output == "half an ans"
    assert "recovery is off" in caplog.text


# ---------------------------------------------------------------- several of them


async def test_a_run_level_capability_takes_the_place_of_the_agents(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    seen: list[str] = []

    def note(name: str) -> Callable[[Event], None]:
        return lambda event: seen.append(name) if event.kind is EventKind.RUN_STARTED else None

    agents = ContinuityCapability(continuity=load({"max_resumes": 0}, on_event=note("agent")))
    runs = ContinuityCapability(continuity=load(on_event=note("run")))
    server.play([LENGTH, DONE])
    result = await Agent(model, capabilities=[agents]).run("x", capabilities=[runs])
    assert (result.output, seen) == ("done", ["run"])


async def test_an_agent_used_as_a_tool_is_a_run_of_its_own_under_its_parents_ceilings(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    started: list[Event] = []
    continuity = load(
        {"ceiling_resumes": 1},
        on_event=lambda event: started.append(event) if event.kind is EventKind.RUN_STARTED else None,
    )
    capability = ContinuityCapability(continuity=continuity)
    inner = Agent(model, capabilities=[capability])
    outer = Agent(model, capabilities=[capability])

    @outer.tool_plain
    async def ask() -> str:
        return (await inner.run("inner")).output

    server.play([LENGTH, {"tool_calls": [{"name": "ask"}]}, LENGTH, DONE])
    assert (await outer.run("outer")).output == "done"
    first, second = started
    assert second.data["parent"] == first.run
    assert server.requests[-1].mentions("half an ans")


async def test_a_run_that_outlives_its_parent_goes_on_without_recovery(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    inner = Agent(model, capabilities=[capability])
    outer = Agent(model, capabilities=[capability])
    left_behind: list[asyncio.Task[Any]] = []

    @outer.tool_plain
    async def start() -> str:
        left_behind.append(asyncio.create_task(inner.run("inner")))
        await hold.reached()
        return "started"

    server.play([{"tool_calls": [{"name": "start"}]}, {"text": "half an answer", "stop": "length"}, DONE])
    hold = server.hold(2)
    assert (await outer.run("outer")).output == "done"
    hold.release()
    assert (await left_behind[0]).output == "half an answer"


async def test_two_runs_of_one_conversation_at_a_time_do_not_disturb_each_other(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=load())])
    server.play([DONE, LENGTH, LENGTH, DONE, DONE])
    history = (await agent.run("first")).all_messages()
    both = await asyncio.gather(*(agent.run("second", message_history=history) for _ in range(2)))
    assert [result.output for result in both] == ["done", "done"]


async def test_recovery_is_switched_off_and_on_between_runs(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    server.play([LENGTH, LENGTH, DONE])
    continuity.disable()
    assert (await agent.run("x")).output == "half an ans"
    continuity.enable()
    assert (await agent.run("x")).output == "done"


async def test_an_end_that_another_capability_made_after_a_tool_is_gone_on_from(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    class Stop(AbstractCapability[Any]):
        async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
            from pydantic_ai.result import FinalResult

            if Agent.is_call_tools_node(node) and node.model_response.tool_calls:
                ctx.messages.append(result.request)
                return End(FinalResult(""))
            return result

    for disabled, ending, requests, output in (
        ([], [], 2, "done"),
        (["tool-tail"], [], 1, ""),
        ([], ["step"], 1, ""),
    ):
        server.play([{"tool_calls": [{"name": "step"}]}, DONE])
        capability = ContinuityCapability(continuity=load({"disable": disabled}), ending_tools=ending)
        agent = Agent(model, capabilities=[capability, Stop()])

        @agent.tool_plain
        def step() -> str:
            return "RESULT_OF_STEP"

        assert (await agent.run("x")).output == output
        assert len(server.requests) == requests


# ---------------------------------------------------------------- making one


def test_settings_and_a_continuity_of_ones_own_exclude_each_other(load: Callable[..., Continuity]) -> None:
    with pytest.raises(ValueError, match=r"Continuity\.load"):
        ContinuityCapability(continuity=load(), settings={"max_resumes": 1})
    with pytest.raises(ValueError, match="run_stream takes"):
        ContinuityCapability(run_stream="maybe")  # type: ignore[arg-type]


@pytest.mark.usefixtures("loop")
def test_settings_are_loaded_and_only_the_last_reports_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from continuity_core.hosts.pydantic_ai import capability as module

    monkeypatch.setattr(module, "KEPT_REPORTS", 2)
    capability = ContinuityCapability(settings={"max_resumes": 3})
    assert capability.continuity.settings.max_resumes == 3
    agent = Agent(TestModel(), capabilities=[capability])
    ids = [agent.run_sync("x").run_id for _ in range(3)]
    assert [capability.report(id) is None for id in ids] == [True, False, False]
    report = capability.report(ids[-1])
    assert report is not None
    assert report.outcome is RunOutcome.COMPLETED
    assert capability.active_run(ids[-1]) is None


async def test_a_provider_held_history_is_said_to_be_out_of_reach(
    load: Callable[..., Continuity], caplog: pytest.LogCaptureFixture
) -> None:
    settings: Any = {"openai_conversation_id": "conv_1"}
    agent = Agent(
        TestModel(), model_settings=settings, capabilities=[ContinuityCapability(continuity=load())]
    )
    with caplog.at_level(logging.WARNING, "continuity"):
        await agent.run("x")
    assert "the provider holds the history" in caplog.text
