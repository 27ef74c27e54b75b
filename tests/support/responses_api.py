"""Responses of the Responses API that the scripts of the fault server have no words for."""

from __future__ import annotations

import json
from typing import Any

SERVER_ERROR = {"code": "server_error", "message": "The server had an error while processing your request."}
RATE_LIMITED = {"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 12.5s."}

_MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant"}
_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 64,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 65,
}


def envelope(status: str, **more: Any) -> dict[str, Any]:
    """The ``response`` object."""
    return {
        "id": "resp_x",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "status": status,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def whole(response: dict[str, Any]) -> dict[str, Any]:
    """The response of the provider without streaming."""
    return {"http": 200, "headers": {}, "body": response}


def streamed(*events: dict[str, Any]) -> dict[str, Any]:
    """The same as a stream of these events."""
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)
    return {"http": 200, "headers": {"content-type": "text/event-stream"}, "body": body}


def failed(error: dict[str, str], *, stream: bool, text: str = "BROKEN") -> dict[str, Any]:
    """A response that fails; in a stream, after its first words."""
    end = envelope("failed", error=error)
    return streamed(*_beginning(text), {"type": "response.failed", "response": end}) if stream else whole(end)


def incomplete(reason: str, *, stream: bool, text: str = "HALF", call: str = "step") -> dict[str, Any]:
    """A response with a text and a call that parses, which is none the less incomplete."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {**_MESSAGE, "status": "incomplete", "content": [part]}
    step = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": call,
        "arguments": "{}",
        "status": "completed",
    }
    end = envelope("incomplete", incomplete_details={"reason": reason}, output=[message, step], usage=_USAGE)
    if not stream:
        return whole(end)
    return streamed(
        *_beginning(text),
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {**step, "status": "in_progress", "arguments": ""},
        },
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "fc_1",
            "output_index": 1,
            "delta": "{}",
        },
        {"type": "response.output_item.done", "output_index": 1, "item": step},
        {"type": "response.incomplete", "response": end},
    )


def _beginning(text: str) -> list[dict[str, Any]]:
    item = {**_MESSAGE, "status": "in_progress", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    return [
        {"type": "response.created", "response": envelope("in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part},
        {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []},
    ]
