"""The reference session: a small agent with a tool, over the ``anthropic`` SDK, that ends on a tool's result.

Run it with the extra ``demo``. Without continuity the user would get no answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

from continuity_core import Continuity
from continuity_core.hosts.reference import AgentSession, AnthropicModel, Tool
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    {"text": "I look it up.", "tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": "High water is at 05:41 on the 12th."},
]


def high_water(day: int) -> str:
    """Time of high water on a day of this month."""
    return f"05:41 on day {day}"


async def main() -> None:
    """Ask twice: without continuity, and with it."""
    for continuity in (None, Continuity.load()):
        async with FaultServer(SCRIPT) as server:
            session = AgentSession(
                AnthropicModel(name="any", base_url=server.root_url, api_key="unused"),
                # As a stand-in for frameworks that just end after some tool.
                tools=[Tool.of(high_water, ends_run="unexplained")],
                continuity=continuity,
            )
            outcome = await session.run("When is high water on the 12th?")
        print("without continuity:" if continuity is None else "with continuity:", outcome.text)
        print(outcome.report or "no report")


if __name__ == "__main__":
    asyncio.run(main())
