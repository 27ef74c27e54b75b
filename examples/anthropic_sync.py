"""The synchronous ``anthropic`` SDK, throttled by its provider: the wait is held on the caller's thread.

Run it with the extra ``demo``. The provider is a server on this machine that asks for 20 seconds of patience;
the clock is sped up, as one may in tests.
"""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from continuity_core import Continuity
from continuity_core.testing.clocks import ScaledClock
from continuity_core.testing.fault_server import FaultServer

SCRIPT: list[dict[str, Any]] = [
    {
        "http": 429,
        "headers": {"retry-after": "20"},
        "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}},
    },
    {"text": "Neap tides follow the quarter moons."},
]


def main() -> None:
    """Ask one question."""
    continuity = Continuity.load(clock=ScaledClock(20))
    with (
        FaultServer.in_thread(SCRIPT) as server,
        Anthropic(base_url=server.root_url, api_key="unused", max_retries=0) as client,
        continuity.start_sync_run("tides") as run,
    ):
        for attempt in run.attempts([{"role": "user", "content": "When are neap tides?"}]):
            with attempt:
                attempt.ended(client.messages.create(model="any", max_tokens=64, messages=attempt.messages))
            turn = attempt.turn
            print(f"attempt {attempt.number}: {attempt.error or (turn and turn.text)}")
    print(run.report())


if __name__ == "__main__":
    main()
