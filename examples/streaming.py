"""A streamed answer whose connection breaks: what was shown is taken back, and the next attempt is shown.

Run it with the extra ``demo``. The provider is a server on this machine that resets the connection.
"""

from __future__ import annotations

import asyncio
from typing import Any

from openai import AsyncOpenAI

from continuity_core import Continuity
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    {"text": "Spring tides follow the new", "cut": "rst"},
    {"text": "Spring tides follow the new and the full moon."},
]
SETTINGS = {"plugins": {"stream-recovery": {"wait": "fixed(0.01)"}}}  # A real provider is given more time.


async def main() -> None:
    """Show the answer as it comes."""
    continuity = Continuity.load(settings=SETTINGS)
    async with (
        FaultServer(SCRIPT) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="unused", max_retries=0) as client,
    ):
        with continuity.start_run("tides") as run:
            async for attempt in run.attempts([{"role": "user", "content": "When are spring tides?"}]):
                print(f"attempt {attempt.number}: ", end="")
                with attempt:
                    stream = await client.chat.completions.create(
                        model="any", max_tokens=64, messages=attempt.messages, stream=True
                    )
                    async for chunk in attempt.stream(stream):
                        print("".join(choice.delta.content or "" for choice in chunk.choices), end="")
                print(" [broken off]" if attempt.error else "")
    print(run.report())


if __name__ == "__main__":
    asyncio.run(main())
