"""The faults that the demonstration plays: what the provider answers, and what a whole answer is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

PROMPT = "When is high tide in Douarnenez, on the 12th and the 13th?"
ANSWER = "High tide in Douarnenez is at 05:41 on the 12th and at 06:24 on the 13th."
HALF = "High tide in Douarnenez is at 05:41 on the 12th and"
TOOL = "look_up_tide"

Calls = tuple[Mapping[str, Any], ...]


@attrs.frozen(kw_only=True)
class Fault:
    """One way in which a run dies."""

    name: str
    what: str
    """What the provider, or the session, does."""
    dialect: Literal["chat", "anthropic"] = "chat"
    stream: bool = True
    script: tuple[Mapping[str, Any], ...]
    """The provider's responses, as a scenario file writes them."""
    calls: Calls = ()
    """The arguments of each execution of the tool in a whole run, in order."""
    ends_after_tool: bool = False
    """The session has the flaw that it just ends after a tool's result."""
    recovered_by: str | None = None
    """The bundled plugin that recovers from it; ``None`` where nothing could."""


def _call(day: int) -> dict[str, Any]:
    return {"name": TOOL, "arguments": f'{{"harbour": "Douarnenez", "day": {day}}}'}


def _args(day: int) -> dict[str, Any]:
    return {"harbour": "Douarnenez", "day": day}


FAULTS = (
    Fault(
        name="output-cap",
        what="the answer is cut at the output cap",
        script=({"text": HALF, "stop": "length"}, {"text": ANSWER}),
        recovered_by="length-resume",
    ),
    Fault(
        name="cap-in-tool-call",
        what="the output cap cuts the second of two tool calls",
        dialect="anthropic",
        script=(
            {
                "tool_calls": [
                    _call(12),
                    {"name": TOOL, "arguments": '{"harbour": "Douarnenez", "day": 1'},
                ],
                "stop": "length",
            },
            {"tool_calls": [_call(12), _call(13)]},
            {"text": ANSWER},
        ),
        calls=(_args(12), _args(13)),
        recovered_by="length-resume",
    ),
    Fault(
        name="cut-stream",
        what="the connection is reset in the middle of the stream",
        script=({"text": HALF, "cut": "rst"}, {"text": ANSWER}),
        recovered_by="stream-recovery",
    ),
    Fault(
        name="overload",
        what="the stream ends in an error event: overloaded",
        dialect="anthropic",
        script=(
            {"text": HALF, "sse_error": {"type": "overloaded_error", "message": "Overloaded"}, "status": 529},
            {"text": ANSWER},
        ),
        recovered_by="stream-recovery",
    ),
    Fault(
        name="empty-answer",
        what="a successful response without any content",
        dialect="anthropic",
        stream=False,
        script=({"text": ""}, {"text": ANSWER}),
        recovered_by="stream-recovery",
    ),
    Fault(
        name="throttle",
        what="HTTP 429 with Retry-After: 20",
        script=(
            {
                "http": 429,
                "headers": {"retry-after": "20"},
                "body": {
                    "error": {
                        "type": "requests",
                        "code": "rate_limit_exceeded",
                        "message": "Rate limit reached for requests per minute.",
                    }
                },
            },
            {"text": ANSWER},
        ),
        recovered_by="stream-recovery",
    ),
    Fault(
        name="usage-limit",
        what="a usage limit that resets in 12 minutes",
        stream=False,
        script=(
            {
                "http": 429,
                "body": {
                    "error": {
                        "type": "usage_limit_reached",
                        "message": "The usage limit has been reached",
                        "resets_in_seconds": 720,
                    }
                },
            },
            {"text": ANSWER},
        ),
        recovered_by="usage-limit-wait",
    ),
    Fault(
        name="tool-tail",
        what="the session ends right after a tool's result",
        dialect="anthropic",
        script=({"text": "I look it up.", "tool_calls": [_call(12), _call(13)]}, {"text": ANSWER}),
        calls=(_args(12), _args(13)),
        ends_after_tool=True,
        recovered_by="tool-tail",
    ),
    Fault(
        name="invalid-key",
        what="HTTP 401: asking again cannot help",
        script=(
            {
                "http": 401,
                "body": {
                    "error": {
                        "type": "invalid_request_error",
                        "code": "invalid_api_key",
                        "message": "The key is not valid.",
                    }
                },
            },
        ),
    ),
)
