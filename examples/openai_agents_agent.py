"""An agent of OpenAI Agents with a tool, against a provider that cuts, breaks off and limits; it finishes.

Run it with the extra ``openai-agents``. Waits pass a hundred times as fast here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, ModelSettings, MultiProvider, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from continuity_core import Continuity
from continuity_core.hosts.openai_agents import ContinuityProvider
from continuity_core.testing.clocks import ScaledClock
from continuity_core.testing.fault_server import FaultServer

LIMIT: dict[str, Any] = {
    "http": 429,
    "headers": {"retry-after": "20", "x-should-retry": "false"},
    "body": {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}},
}
SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 1'}], "stop": "length"},
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": "High water is", "cut": "rst"},
    LIMIT,
    {"text": "High water is at 05:41 on the 12th."},
]


@function_tool
async def high_water(day: int) -> str:
    """Time of high water on a day of this month."""
    print(f"the tool runs for day {day}")
    return f"05:41 on day {day}"


def show(event: Any) -> None:
    """Print the text as it comes, and where it begins anew."""
    if event.type == "raw_response_event":
        if event.data.type == "response.output_text.delta":
            print(event.data.delta, end="")
        elif event.data.type == "continuity.turn_resumed":
            print(f" [{event.data.reason}]")


async def main() -> None:
    """Ask once; every turn but two fails in a way of its own."""
    agent = Agent(
        name="Tides", model="any", tools=[high_water], model_settings=ModelSettings(include_usage=True)
    )
    async with (
        FaultServer(SCRIPT) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="unused") as client,
    ):
        provider = ContinuityProvider(
            MultiProvider(openai_client=client, openai_use_responses=False),
            continuity=Continuity.load(clock=ScaledClock(100)),
            on_report=lambda report: print(f"\n{report}"),
        )
        config = RunConfig(model_provider=provider, tracing_disabled=True)
        result = Runner.run_streamed(agent, "When is high water on the 12th?", run_config=config)
        async for event in result.stream_events():
            show(event)
        print(f"{result.context_wrapper.usage.requests} requests")


if __name__ == "__main__":
    asyncio.run(main())
