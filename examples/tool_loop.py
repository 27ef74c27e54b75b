"""An agent loop of your own: model turns, tools, and a run that every turn of one user request belongs to.

Run it with the extra ``demo``. The provider is a server on this machine that cuts a tool call, which is never
executed, and later answers with nothing.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from openai import AsyncOpenAI

from continuity_core import Continuity, Run
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 1'}], "stop": "length"},
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": ""},
    {"text": "High water is at 05:41 on the 12th."},
]
SETTINGS = {"plugins": {"stream-recovery": {"wait": "fixed(0.01)"}}}  # A real provider is given more time.
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "high_water",
            "description": "Time of high water on a day of this month.",
            "parameters": {
                "type": "object",
                "properties": {"day": {"type": "integer"}},
                "required": ["day"],
            },
        },
    }
]


def high_water(day: int) -> str:
    """The tool."""
    print(f"the tool runs for day {day}")
    return "05:41"


async def ask(client: AsyncOpenAI, run: Run, messages: list[Any]) -> Any:
    """One good turn of the model; the turns that failed before it are nowhere in ``messages``."""
    response: Any = None
    async for attempt in run.attempts(messages):
        with attempt:
            response = await client.chat.completions.create(
                model="any", max_tokens=64, messages=attempt.messages, tools=TOOLS
            )
            attempt.ended(response)
            print(f"turn ended: {response.choices[0].finish_reason}")
    return response.choices[0].message


async def main() -> None:
    """Answer one request of a user, with as many turns as it takes."""
    messages: list[Any] = [{"role": "user", "content": "When is high water on the 12th?"}]
    continuity = Continuity.load(settings=SETTINGS)
    async with (
        FaultServer(SCRIPT) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="unused", max_retries=0) as client,
    ):
        with continuity.start_run("tides") as run:
            message = await ask(client, run, messages)
            # The calls of a turn that was cut are not executable, whatever became of the attempts.
            while run.last_turn and (calls := run.last_turn.executable_calls):
                messages.append(message.model_dump(exclude_none=True))
                for call in calls:
                    result = high_water(**json.loads(call.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
                message = await ask(client, run, messages)
    print(message.content)
    print(run.report())


if __name__ == "__main__":
    asyncio.run(main())
