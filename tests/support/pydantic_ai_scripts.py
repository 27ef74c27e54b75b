"""What the provider plays in tests of pydantic-ai, and what its waits are read by."""

from __future__ import annotations

from typing import Any

from continuity_core.testing.clocks import VirtualClock

CUT: dict[str, Any] = {"text": "half a pl", "cut": "rst"}
LENGTH = {"text": "half an ans", "stop": "length"}
DONE = {"text": "done"}
BUSY = {"http": 503, "body": {"error": {"message": "overloaded"}}}
DENIED = {"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}
LIMITED = {
    "http": 429,
    "headers": {"retry-after": "90"},
    "body": {"error": {"message": "Rate limit reached"}},
}
CALL: dict[str, Any] = {"tool_calls": [{"name": "step"}]}


def seconds(clock: VirtualClock) -> list[float]:
    return [wait.seconds for wait in clock.waits]
