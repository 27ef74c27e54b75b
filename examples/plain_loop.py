"""A loop of your own over the ``openai`` SDK: attempts until the answer is whole.

Run it with the extra ``demo``. The provider is a server on this machine that cuts the first answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

from openai import AsyncOpenAI

from continuity_core import Continuity
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    {"text": "A tide is the rise and", "stop": "length"},
    {"text": "A tide is the rise and fall of the sea."},
]


async def main() -> None:
    """Ask one question."""
    continuity = Continuity.load()
    async with (
        FaultServer(SCRIPT) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="unused", max_retries=0) as client,
    ):
        with continuity.start_run("tides") as run:
            async for attempt in run.attempts([{"role": "user", "content": "What is a tide?"}]):
                with attempt:
                    response = await client.chat.completions.create(
                        model="any", max_tokens=64, messages=attempt.messages
                    )
                    attempt.ended(response)
                    choice = response.choices[0]
                    print(f"attempt {attempt.number} ({choice.finish_reason}): {choice.message.content}")
    print(run.report())


if __name__ == "__main__":
    asyncio.run(main())
