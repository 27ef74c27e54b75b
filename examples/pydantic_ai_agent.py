"""An agent of pydantic-ai whose model is cut in a tool call, breaks off, and is limited; it finishes.

Run it with the extra ``pydantic-ai``. The provider is scripted, and the waits are jumped over.
"""

from __future__ import annotations

import asyncio
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from continuity_core import Continuity
from continuity_core.hosts.pydantic_ai import ContinuityCapability, TurnResumed
from continuity_core.testing import VirtualClock
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    # The day would be the 1st; the model was about to write the 12th.
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 1}'}], "stop": "length"},
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": "High water is", "cut": "rst"},
    {"http": 429, "headers": {"retry-after": "20"}, "body": {"error": {"message": "Rate limit reached"}}},
    {"text": "High water is at 05:41 on the 12th."},
]


def high_water(day: int) -> str:
    """Time of high water on a day of this month."""
    print(f"the tool runs for day {day}")
    return "05:41"


async def main() -> None:
    """Ask once, and show the answer as it is streamed."""
    async with (
        FaultServer(SCRIPT) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="unused", max_retries=0) as client,
    ):
        model = OpenAIChatModel("any", provider=OpenAIProvider(openai_client=client))
        capability = ContinuityCapability(continuity=Continuity.load(clock=VirtualClock()))
        agent = Agent(model, tools=[high_water], capabilities=[capability])
        async with agent.run_stream_events("When is high water on the 12th?") as events:
            async for event in events:
                if isinstance(event, TurnResumed):
                    print(f" [taken back: {event.reason}]")
                elif event.event_kind == "part_start" and event.part.part_kind == "text":
                    print(event.part.content, end="")
                elif event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
                    print(event.delta.content_delta, end="")
                elif event.event_kind == "agent_run_result":
                    print(f"\n{event.result.output}")
                    print(capability.report(event.result.run_id))


if __name__ == "__main__":
    asyncio.run(main())
