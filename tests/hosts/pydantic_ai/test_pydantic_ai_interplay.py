"""Retries of the transport, fallbacks, parts of an agent, and what is sent again."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry
from pydantic_ai.capabilities import ModelFallback, ProcessHistory, WrapperCapability
from pydantic_ai.exceptions import (
    FallbackExceptionGroup,
    ModelAPIError,
    ModelHTTPError,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import DeferredToolResults
from pydantic_ai_scripts import BUSY, CALL, CUT, DENIED, DONE, LENGTH, LIMITED, seconds
from saying import Saying

from continuity_core import Adjust, Continuity, Order, Stage
from continuity_core.hosts.pydantic_ai import ContinuityCapability
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio

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
