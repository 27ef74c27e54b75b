"""The Responses API: what fails or is incomplete in its own ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import responses_api
from pydantic_ai import Agent
from pydantic_ai.exceptions import IncompleteToolCall
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import RunContext
from pydantic_ai_scripts import DONE, seconds

from continuity_core import Continuity
from continuity_core.hosts.pydantic_ai import ContinuityCapability, TurnResumed
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def responses(client: Any) -> Any:
    """The Responses API of the provider."""
    return OpenAIResponsesModel("scripted", provider=OpenAIProvider(openai_client=client))


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
