"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from continuity_core.testing.fault_server.dialects.base import (
    CREATED,
    EncodedResponse,
    ResponseContext,
    event,
    whole_number,
)
from continuity_core.testing.fault_server.dialects.responses_events import EventWriter, events_of
from continuity_core.testing.fault_server.dialects.responses_input import messages_of
from continuity_core.testing.fault_server.requests import DecodedRequest, text_parts
from continuity_core.testing.fault_server.responses import Cut, ModelResponse, Stop

_INCOMPLETE = {Stop.LENGTH: "max_output_tokens", Stop.CONTENT_FILTER: "content_filter"}
_SERVER_HELD = ("previous_response_id", "conversation")


class OpenAIResponses:
    """``POST …/responses``; reasoning travels as a summary with encrypted content."""

    name = "responses"
    endpoint = "/responses"

    def decode(self, payload: Mapping[str, Any]) -> DecodedRequest:
        """Read a request's body; nothing is stored here, so that it cannot build on something stored."""
        for key in _SERVER_HELD:
            if payload.get(key) is not None:
                raise ValueError(f"{key} is set, and nothing is stored here")
        return DecodedRequest(
            model=str(payload.get("model", "")),
            stream=payload.get("stream") is True,
            output_limit=whole_number(payload.get("max_output_tokens")),
            instructions=text_parts(payload.get("instructions")),
            messages=messages_of(payload.get("input")),
        )

    def plain(self, response: ModelResponse, context: ResponseContext) -> dict[str, Any]:
        """The ``response`` object; a cap or a filter stands in ``incomplete_details``."""
        return _whole(response, context)

    def stream(self, response: ModelResponse, context: ResponseContext) -> EncodedResponse:
        """From ``response.created`` to ``.completed`` or ``.incomplete``; a cut leaves the last item open."""
        write = EventWriter()
        whole = _whole(response, context)
        begun = _envelope(context, "in_progress")
        content = [write("response.created", response=begun), write("response.in_progress", response=begun)]
        halfway = len(content)
        closing: tuple[bytes, ...] = ()
        for index, item in enumerate(whole["output"]):
            content += closing
            events = events_of(write, index, item)
            if item["type"] == "message":
                halfway = len(content) + len(events.opening) + len(events.pieces) // 2
            content += [*events.opening, *events.pieces]
            closing = events.closing
        return EncodedResponse(
            content=tuple(content),
            halfway=halfway,
            closing=closing,
            finish=(write(f"response.{whole['status'] or 'completed'}", response=whole),),
        )

    def error_body(self, error: Any) -> dict[str, Any]:
        """``{"error": …}``."""
        return {"error": error}

    def error_event(self, error: Any) -> bytes:
        """An ``error`` event that carries the error whole; the API's reference has a flat one."""
        return event({"type": "error", "error": error}, "error")


def _whole(response: ModelResponse, context: ResponseContext) -> dict[str, Any]:
    reason = _INCOMPLETE.get(response.stop)
    status = "completed" if reason is None else "incomplete"
    usage = {
        "input_tokens": context.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": context.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": context.input_tokens + context.output_tokens,
    }
    return {
        **_envelope(context, None if response.cut is Cut.NO_FINISH else status),
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": _items(response, context, status),
        "usage": usage,
    }


def _envelope(context: ResponseContext, status: str | None) -> dict[str, Any]:
    return {
        "id": f"resp_{context.number}",
        "object": "response",
        "created_at": CREATED,
        "model": context.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _items(response: ModelResponse, context: ResponseContext, status: str) -> list[dict[str, Any]]:
    """The output items; in an incomplete response the last of them is incomplete."""
    items: list[dict[str, Any]] = []
    if response.reasoning:
        items.append(
            {
                "type": "reasoning",
                "id": f"rs_{context.number}",
                "summary": [{"type": "summary_text", "text": response.reasoning}],
                "encrypted_content": f"signature-of-response-{context.number}",
            }
        )
    if response.text is not None:
        items.append(
            {
                "type": "message",
                "id": f"msg_{context.number}",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": response.text, "annotations": [], "logprobs": []}
                ],
            }
        )
    items += [
        {
            "type": "function_call",
            "id": f"fc_{context.number}_{index}",
            "call_id": f"call_{context.number}_{index}",
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for index, call in enumerate(response.tool_calls, start=1)
    ]
    if items and "status" in items[-1]:
        items[-1]["status"] = status
    return items
