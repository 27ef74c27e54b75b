"""An agent of LangChain with a tool, against a provider that cuts, breaks off and limits; and it finishes.

Run it with the extra ``langchain``. Waits pass a hundred times as fast here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from continuity_core import Continuity
from continuity_core.hosts.langchain import ContinuityMiddleware
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


def high_water(day: int) -> str:
    """Time of high water on a day of this month."""
    print(f"the tool runs for day {day}")
    return f"05:41 on day {day}"


async def main() -> None:
    """Ask once; every turn but two fails in a way of its own."""
    middleware = ContinuityMiddleware(continuity=Continuity.load(clock=ScaledClock(100)))
    async with FaultServer(SCRIPT) as server:
        model = ChatOpenAI(model="any", base_url=server.base_url, api_key="unused", max_retries=0)
        agent = create_agent(model, [high_water], middleware=[middleware])
        question = {"messages": [{"role": "user", "content": "When is high water on the 12th?"}]}
        shown: str | None = None
        async for message, _ in agent.astream(question, stream_mode="messages"):
            if message.id != shown:
                shown = message.id
                print(f"\n{message.type}: ", end="")
            print(message.text, end="")
    print(f"\n{middleware.report_of()}")


if __name__ == "__main__":
    asyncio.run(main())
