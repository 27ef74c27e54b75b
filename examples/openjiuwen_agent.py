"""An agent of openJiuwen with a tool, against a provider that cuts, breaks off and limits; and it finishes.

Run it with the extra ``openjiuwen``. Waits pass a hundred times as fast here.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from openjiuwen.core.foundation.llm.model_clients.openai_model_client import OpenAIModelClient
from openjiuwen.core.foundation.llm.schema.config import ModelClientConfig, ModelRequestConfig
from openjiuwen.core.foundation.tool import LocalFunction, ToolCard
from openjiuwen.core.runner import Runner
from openjiuwen.core.single_agent import AgentCard
from openjiuwen.core.single_agent.agents.react_agent import ReActAgent, ReActAgentConfig

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.clocks import ScaledClock
from continuity_core.testing.fault_server import FaultServer

LIMIT: dict[str, Any] = {
    "http": 429,
    "headers": {"retry-after": "20"},
    "body": {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}},
}
SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 1'}], "stop": "length"},
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": "High water is", "cut": "rst"},
    LIMIT,
    {"text": "High water is at 05:41 on the 12th."},
]


async def high_water(day: int) -> str:
    """Time of high water on a day of this month."""
    print(f"the tool runs for day {day}")
    return f"05:41 on day {day}"


async def main() -> None:
    """Ask once; every turn but two fails in a way of its own."""
    logging.disable(logging.ERROR)  # The framework logs every step on the console.
    rail = ContinuityRail(continuity=Continuity.load(clock=ScaledClock(100)))
    card = ToolCard(
        id="high_water",
        name="high_water",
        description="Time of high water on a day of this month.",
        input_params={"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]},
    )
    async with FaultServer(SCRIPT) as server:
        agent = ReActAgent(AgentCard(id="tides", name="tides", description="Knows the tides."))
        agent.configure(
            ReActAgentConfig(
                model_name="any",
                model_client_config=ModelClientConfig(
                    client_provider="OpenAI", api_key="unused", api_base=server.base_url, verify_ssl=False
                ),
                model_config_obj=ModelRequestConfig(model="any", max_tokens=1024),
            )
        )
        Runner.resource_mgr.add_tool(LocalFunction(card, high_water))
        agent.ability_manager.add(card)
        await agent.register_rail(rail)
        async for chunk in agent.stream({"query": "When is high water on the 12th?"}):
            if chunk.type == "answer":
                print(chunk.payload["output"])
        await OpenAIModelClient.aclose()  # The framework keeps its clients for the life of the process.
    print(rail.report)
    logging.disable(logging.NOTSET)


if __name__ == "__main__":
    asyncio.run(main())
