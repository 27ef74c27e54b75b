"""Retries of the transport, runs side by side and inside each other, and consumers that leave."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import responses_api
from host_fixtures import side_by_side
from pydantic import BaseModel
from pydantic_ai import Agent, CancellationToken, DeferredToolRequests, ModelRetry, capture_run_messages
from pydantic_ai.capabilities import ModelFallback, ProcessHistory, WrapperCapability
from pydantic_ai.exceptions import (
    FallbackExceptionGroup,
    IncompleteToolCall,
    ModelAPIError,
    ModelHTTPError,
    RunCancelled,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import DeferredToolResults, RunContext
from saying import Saying

from continuity_core import Adjust, Continuity, Order, RunOutcome, Stage
from continuity_core.hosts.pydantic_ai import ContinuityCapability, TurnResumed
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

CUT = {"text": "half a pl", "cut": "rst"}
LENGTH = {"text": "half an ans", "stop": "length"}
DONE = {"text": "done"}
BUSY = {"http": 503, "body": {"error": {"message": "overloaded"}}}
DENIED = {"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}
LIMITED = {
    "http": 429,
    "headers": {"retry-after": "90"},
    "body": {"error": {"message": "Rate limit reached"}},
}
CALL = {"tool_calls": [{"name": "step"}]}


def seconds(clock: VirtualClock) -> list[float]:
    return [wait.seconds for wait in clock.waits]


# ---------------------------------------------------------------- tenacity transports


@pytest.fixture
async def retried(server: FaultServer) -> AsyncIterator[Callable[..., Any]]:
    """A model whose transport makes two attempts, as the framework's manual shows it."""
    import httpx2
    import openai
    from pydantic_ai.retries import AsyncHTTPX2TenacityTransport, RetryConfig, wait_retry_after
    from tenacity import retry_if_exception_type, stop_after_attempt

    clients = []

    def make(*, reraise: bool = True) -> Any:
        transport = AsyncHTTPX2TenacityTransport(
            RetryConfig(
                retry=retry_if_exception_type((httpx2.HTTPStatusError, httpx2.TransportError)),
                wait=wait_retry_after(max_wait=0.001, fallback_strategy=lambda state: 0.0),
                stop=stop_after_attempt(2),
                reraise=reraise,
            ),
            wrapped=httpx2.AsyncHTTPTransport(),
            validate_response=lambda response: response.raise_for_status(),
        )
        client = openai.AsyncOpenAI(
            base_url=server.base_url,
            api_key="any",
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=transport, trust_env=False),
        )
        clients.append(client)
        return OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))

    yield make
    for client in clients:
        await client.close()


@pytest.mark.parametrize("first", [BUSY, LIMITED])
async def test_the_transports_own_retries_go_first_and_cost_nothing(
    server: FaultServer,
    retried: Callable[..., Any],
    load: Callable[..., Continuity],
    clock: VirtualClock,
    first: Any,
) -> None:
    server.play([first, DONE])
    capability = ContinuityCapability(continuity=load())
    result = await Agent(retried(), capabilities=[capability]).run("x")
    report = capability.report(result.run_id)
    assert report is not None
    assert (result.output, report.resumes, seconds(clock)) == ("done", 0, [])


@pytest.mark.parametrize("reraise", [True, False])
@pytest.mark.parametrize(("failure", "wait"), [(BUSY, 5), (LIMITED, 90)])
async def test_what_the_transports_retries_leave_is_read_through_their_error(
    server: FaultServer,
    retried: Callable[..., Any],
    load: Callable[..., Continuity],
    clock: VirtualClock,
    failure: Any,
    wait: float,
    reraise: bool,
) -> None:
    server.play([failure, failure, DONE])
    agent = Agent(retried(reraise=reraise), capabilities=[ContinuityCapability(continuity=load())])
    assert (await agent.run("x")).output == "done"
    assert seconds(clock) == [wait]


async def test_what_only_the_body_says_is_lost_where_the_transport_raises_without_reading_it(
    server: FaultServer, retried: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    limited = {"http": 429, "body": {"error": {"message": "Usage limit reached. Try again in 20 min."}}}
    server.play([limited, limited, DONE])
    agent = Agent(retried(), capabilities=[ContinuityCapability(continuity=load())])
    assert (await agent.run("x")).output == "done"
    assert seconds(clock) == [5]


async def test_a_permanent_error_that_a_transport_raised_is_not_tried_again(
    server: FaultServer, retried: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([DENIED, DENIED])
    agent = Agent(retried(), capabilities=[ContinuityCapability(continuity=load())])
    with pytest.raises(ModelAPIError):
        await agent.run("x")
    assert (len(server.requests), seconds(clock)) == (2, [])


async def test_a_stream_that_breaks_after_the_transports_part_is_resumed(
    server: FaultServer, retried: Callable[..., Any], load: Callable[..., Continuity], clock: VirtualClock
) -> None:
    server.play([BUSY, CUT, DONE])
    agent = Agent(retried(), capabilities=[ContinuityCapability(continuity=load())])
    async with agent.run_stream_events("x") as events:
        last = [event async for event in events][-1]
    assert (last.result.output, seconds(clock)) == ("done", [5])


# ---------------------------------------------------------------- fallbacks by a capability


def fallback(model: Any) -> ModelFallback[Any]:
    """To another model of the provider, after errors and cut responses; newer versions do so by default."""

    def is_cut(response: ModelResponse) -> bool:
        return response.finish_reason == "length"

    other = OpenAIChatModel("other", provider=model._provider)
    return ModelFallback(other, fallback_on=[ModelAPIError, is_cut])


@pytest.mark.parametrize(
    ("script", "resumes", "waits"),
    [
        ([BUSY, DONE], 0, []),
        ([LENGTH, DONE], 0, []),
        ([BUSY, DENIED, DONE], 1, [5]),
        ([BUSY, LENGTH, DONE], 1, [5]),
        ([LENGTH, LENGTH, DONE], 1, []),
        ([LENGTH, DENIED, DONE], 1, []),
    ],
)
async def test_a_fallback_goes_first_and_what_helps_one_model_is_done_where_all_failed(
    server: FaultServer,
    model: Any,
    load: Callable[..., Continuity],
    clock: VirtualClock,
    script: list[Any],
    resumes: int,
    waits: list[float],
) -> None:
    server.play(script)
    capability = ContinuityCapability(continuity=load())
    result = await Agent(model, capabilities=[capability, fallback(model)]).run("x")
    report = capability.report(result.run_id)
    assert report is not None
    assert (result.output, report.resumes, seconds(clock)) == ("done", resumes, waits)


@pytest.mark.parametrize("answer", [DONE, {"text": "no", "stop": "content_filter"}])
async def test_what_a_fallback_has_a_rule_against_is_not_asked_for_again(
    server: FaultServer, model: Any, load: Callable[..., Continuity], clock: VirtualClock, answer: Any
) -> None:
    def dislikes(response: ModelResponse) -> bool:
        return True

    server.play([answer, answer])
    agent = Agent(
        FallbackModel(model, model, fallback_on=dislikes),
        capabilities=[ContinuityCapability(continuity=load())],
    )
    with pytest.raises(FallbackExceptionGroup):
        await agent.run("x")
    assert (len(server.requests), seconds(clock)) == (2, [])


async def test_request_settings_of_a_plugin_hold_for_every_model_of_a_fallback(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    more = Saying(
        "more",
        lambda boundary, proposal: [Adjust(max_output_tokens=777)] if proposal.resume else None,
        order=Order(stage=Stage.GUARD),
    )
    server.play([LENGTH, LENGTH, BUSY, CALL, DONE])
    capability = ContinuityCapability(continuity=load(plugins=[more]))
    agent = Agent(model, capabilities=[capability, fallback(model)])

    @agent.tool_plain
    def step() -> str:
        return "RESULT"

    await agent.run("x")
    assert [request.decoded.output_limit for request in server.requests] == [None, None, 777, 777, None]


# ---------------------------------------------------------------- other parts of an agent


async def test_messages_that_a_history_processor_copies_are_known_by_their_names(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    agent = Agent(
        model,
        capabilities=[ContinuityCapability(continuity=load()), ProcessHistory(copy.deepcopy)],
    )

    @agent.tool_plain
    def step() -> str:
        return "RESULT"

    server.play([CUT, LENGTH, CALL, LENGTH, DONE])
    assert (await agent.run("x")).output == "done"
    assert not server.requests[-1].mentions("half")


@pytest.mark.parametrize("given", [lambda own: lambda ctx: own, lambda own: WrapperCapability(wrapped=own)])
async def test_a_capability_that_is_made_for_each_run_or_wrapped_recovers_too(
    server: FaultServer, model: Any, load: Callable[..., Continuity], given: Callable[[Any], Any]
) -> None:
    own = ContinuityCapability(continuity=load())
    server.play([CUT, LENGTH, DONE])
    result = await Agent(model, capabilities=[given(own)]).run("x")
    report = own.report(result.run_id)
    assert report is not None
    assert (result.output, report.resumes) == ("done", 2)


class City(BaseModel):
    name: str


@pytest.mark.parametrize("kind", [ToolOutput, NativeOutput, PromptedOutput])
async def test_a_structured_answer_is_asked_for_again_where_it_was_cut_and_by_the_framework_where_it_is_wrong(
    server: FaultServer, model: Any, load: Callable[..., Continuity], kind: Any
) -> None:
    def says(text: str, **more: Any) -> dict[str, Any]:
        if kind is ToolOutput:
            return {"tool_calls": [{"name": "final_result", "arguments": text}], **more}
        return {"text": text, **more}

    server.play(
        [
            says('{"name": "Ber', stop="length"),
            says('{"name": "Berl"}', stop="length"),
            says('{"town": "Berlin"}'),
            says('{"name": "Ber', cut="rst"),
            says('{"name": "Bern"}'),
        ]
    )
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, output_type=kind(City), capabilities=[capability], retries={"output": 1})
    result = await agent.run("x")
    report = capability.report(result.run_id)
    assert report is not None
    assert (result.output.name, report.resumes) == ("Bern", 3)


async def test_an_unprotected_run_stream_recovers_what_is_whole_and_raises_what_breaks(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity, run_stream="unprotected")])

    @agent.tool_plain
    def step() -> str:
        return "RESULT"

    server.play([{**CALL, "stop": "length"}, {"text": ""}, CALL, DONE])
    async with agent.run_stream("x") as run:
        assert await run.get_output() == "done"
    server.play([BUSY])
    with pytest.raises(ModelHTTPError):
        async with agent.run_stream("x"):
            pass
    server.play([{"text": "one two three", "hang": True}])
    async with agent.run_stream("x") as run:
        async for _ in run.stream_text(delta=True, debounce_by=None):
            break
    assert continuity.status()["runs"] == []


# ---------------------------------------------------------------- what is sent again


async def test_a_resumed_request_has_the_instructions_of_the_first(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    server.play([CUT, LENGTH, CALL, BUSY, DONE])
    agent = Agent(
        model,
        system_prompt="Be exact.",
        instructions="Be brief.",
        capabilities=[ContinuityCapability(continuity=load())],
    )

    @agent.tool_plain
    def step() -> str:
        return "RESULT"

    await agent.run("x")
    asked = [
        [text for message in request.decoded.messages if message.role == "system" for text in message.texts]
        for request in server.requests
    ]
    assert asked == [["Be exact.", "Be brief."]] * 5


# ---------------------------------------------------------------- side by side


async def test_runs_side_by_side_with_one_capability_do_not_mix(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, capabilities=[capability])

    async def one(number: int) -> Any:
        return await agent.run(f"question {number}", conversation_id=f"c{number}")

    server.play([{"text": f"half {n}", "stop": "length"} for n in range(6)] + [DONE] * 6)
    results = await side_by_side(server, *(one(number) for number in range(6)))
    assert [result.output for result in results] == ["done"] * 6
    reports = [capability.report(result.run_id) for result in results]
    assert [report.resumes for report in reports if report is not None] == [1] * 6
    for request in server.requests[6:]:
        assert not request.mentions("half")
        assert len({n for n in range(6) if request.mentions(f"question {n}")}) == 1


async def test_sub_agents_called_side_by_side_are_runs_of_their_own(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    inner = Agent(model, capabilities=[capability])
    outer = Agent(model, capabilities=[capability])

    @outer.tool_plain
    async def ask(name: str) -> str:
        return (await inner.run(f"inner {name}")).output

    calls = [{"name": "ask", "arguments": json.dumps({"name": name})} for name in ("A", "B")]
    server.play([{"tool_calls": calls}, LENGTH, LENGTH, DONE, DONE, DONE])
    result = await outer.run("outer")
    assert result.output == "done"
    assert not server.requests[-1].mentions("half")


# ---------------------------------------------------------------- consumers that leave


async def test_a_stream_of_events_that_is_left_ends_the_run(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    server.play([{"text": "a long answer in pieces", "hang": True}, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    async with agent.run_stream_events("x") as events:
        async for event in events:
            if event.event_kind == "part_start":
                break
    assert continuity.status()["runs"] == []
    assert len(server.requests) == 1


async def test_a_stream_of_events_that_is_left_in_a_wait_requests_nothing_more(
    server: FaultServer, model: Any
) -> None:
    waiting = asyncio.Event()
    clock = VirtualClock(auto_advance=False, on_wait=lambda number, wait: waiting.set())
    continuity = Continuity.from_settings(clock=clock)
    server.play([CUT, DONE])
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])

    async def consume() -> None:
        async with agent.run_stream_events("x") as events:
            async for _ in events:
                pass

    task = asyncio.create_task(consume())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert continuity.status()["runs"] == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("how", ["token", "task"])
async def test_a_run_that_is_cancelled_in_a_tool_is_over_and_the_next_is_clean(
    server: FaultServer, model: Any, load: Callable[..., Continuity], how: str
) -> None:
    continuity = load()
    capability = ContinuityCapability(continuity=continuity)
    agent = Agent(model, capabilities=[capability])
    token = CancellationToken()
    inside = asyncio.Event()

    @agent.tool_plain
    async def step() -> str:
        inside.set()
        await asyncio.sleep(60)
        return "RESULT"

    server.play([{**CALL, "text": "I shall step"}, DONE])
    with capture_run_messages() as messages:
        task = asyncio.create_task(agent.run("x", cancellation_token=token))
        await inside.wait()
        if how == "token":
            token.cancel()
        else:
            task.cancel()
        with pytest.raises((RunCancelled, asyncio.CancelledError)):
            await task
    assert continuity.status()["runs"] == []
    report = capability.report(messages[-1].run_id or "")
    assert report is not None
    assert report.outcome is RunOutcome.ABORTED
    assert (await agent.run("go on", message_history=list(messages))).output == "done"


async def test_a_run_that_is_cancelled_in_a_stream_is_over_and_the_next_is_clean(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    continuity = load()
    agent = Agent(model, capabilities=[ContinuityCapability(continuity=continuity)])
    token = CancellationToken()

    async def consume(ctx: RunContext[None], events: Any) -> None:
        async for event in events:
            if event.event_kind == "part_start":
                token.cancel()

    server.play([{"text": "BROKEN by the user", "hang": True}, DONE])
    with pytest.raises(RunCancelled) as cancelled:
        await agent.run("x", cancellation_token=token, event_stream_handler=consume)
    assert continuity.status()["runs"] == []
    history = cancelled.value.all_messages()
    assert (await agent.run("go on", message_history=history)).output == "done"
    assert not server.requests[-1].mentions("BROKEN")


# ---------------------------------------------------------------- approvals


async def test_a_run_that_goes_on_after_an_approval_is_recovered(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    agent = Agent(
        model, output_type=[str, DeferredToolRequests], capabilities=[ContinuityCapability(continuity=load())]
    )
    ran: list[None] = []

    @agent.tool_plain(requires_approval=True)
    def step() -> str:
        ran.append(None)
        return "RESULT"

    server.play([CALL, BUSY, LENGTH, DONE])
    asked = await agent.run("x")
    assert isinstance(asked.output, DeferredToolRequests)
    answers = DeferredToolResults(approvals={call.tool_call_id: True for call in asked.output.approvals})
    result = await agent.run(message_history=asked.all_messages(), deferred_tool_results=answers)
    assert (result.output, len(ran)) == ("done", 1)
    assert server.requests[-1].mentions("RESULT")
    assert not server.requests[-1].mentions("half")


async def test_a_tools_own_retry_prompt_stays_beside_a_resume(
    server: FaultServer, model: Any, load: Callable[..., Continuity]
) -> None:
    capability = ContinuityCapability(continuity=load())
    agent = Agent(model, capabilities=[capability])
    tries: list[None] = []

    @agent.tool_plain(retries=2)
    def step() -> str:
        tries.append(None)
        if len(tries) == 1:
            raise ModelRetry("once more, please")
        return "RESULT"

    server.play([CALL, LENGTH, CALL, CUT, DONE])
    result = await agent.run("x")
    report = capability.report(result.run_id)
    assert report is not None
    assert (result.output, len(tries), report.resumes) == ("done", 2, 2)
    assert server.requests[-1].mentions("once more, please")


# ---------------------------------------------------------------- Responses


@pytest.fixture
async def responses(server: FaultServer) -> AsyncIterator[Any]:
    """The Responses API of the provider."""
    import openai

    async with openai.AsyncOpenAI(
        base_url=server.base_url,
        api_key="any",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
    ) as client:
        yield OpenAIResponsesModel("scripted", provider=OpenAIProvider(openai_client=client))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("error", "wait"), [(responses_api.SERVER_ERROR, 5), (responses_api.RATE_LIMITED, 12.5)]
)
async def test_a_response_that_failed_is_asked_for_again(
    server: FaultServer,
    responses: Any,
    load: Callable[..., Continuity],
    clock: VirtualClock,
    stream: bool,
    error: dict[str, str],
    wait: float,
) -> None:
    server.play([responses_api.failed(error, stream=stream), DONE])
    told: list[TurnResumed] = []

    async def consume(ctx: RunContext[None], events: Any) -> None:
        told.extend([event async for event in events if isinstance(event, TurnResumed)])

    agent = Agent(responses, capabilities=[ContinuityCapability(continuity=load())])
    result = await agent.run("x", event_stream_handler=consume if stream else None)
    assert (result.output, seconds(clock)) == ("done", [wait])
    assert len(told) == int(stream)
    assert not server.requests[-1].mentions("BROKEN")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("reason", "settings", "error"),
    [
        ("max_output_tokens", {}, None),
        ("max_output_tokens", {"max_resumes": 0}, IncompleteToolCall),
        ("content_filter", {}, IncompleteToolCall),
    ],
)
async def test_no_call_of_an_incomplete_response_is_executed(
    server: FaultServer,
    responses: Any,
    load: Callable[..., Continuity],
    stream: bool,
    reason: str,
    settings: dict[str, Any],
    error: type[Exception] | None,
) -> None:
    async def consume(ctx: RunContext[None], events: Any) -> None:
        async for _ in events:
            pass

    server.play([responses_api.incomplete(reason, stream=stream), DONE])
    agent = Agent(responses, capabilities=[ContinuityCapability(continuity=load(settings))])
    ran: list[None] = []
    agent.tool_plain(lambda: ran.append(None), name="step")
    run = agent.run("x", event_stream_handler=consume if stream else None)
    if error is None:
        assert (await run).output == "done"
    else:
        with pytest.raises(error):
            await run
    assert ran == []
