"""Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from continuity_core.testing.fault_server.dialects.base import (
    EncodedResponse,
    ResponseContext,
    event,
    split,
    whole_number,
)
from continuity_core.testing.fault_server.requests import (
    DecodedRequest,
    MessageRole,
    ReceivedCall,
    ReceivedMessage,
    ReceivedResult,
    decoded_strings,
    objects,
    text_parts,
)
from continuity_core.testing.fault_server.responses import Cut, ModelResponse, Stop

_STOP_REASONS = {
    Stop.STOP: "end_turn",
    Stop.LENGTH: "max_tokens",
    Stop.TOOL_CALLS: "tool_use",
    Stop.CONTENT_FILTER: "refusal",
}
_ROLES: Mapping[str, MessageRole] = {"user": "user", "assistant": "assistant", "system": "system"}
_OWN_BLOCK_TYPES = frozenset({"text", "tool_use", "tool_result", "thinking", "redacted_thinking"})


class AnthropicMessages:
    """``POST …/messages``; reasoning travels as a thinking block with a signature."""

    name = "anthropic"
    endpoint = "/messages"

    def decode(self, payload: Mapping[str, Any]) -> DecodedRequest:
        """Read a request's body."""
        return DecodedRequest(
            model=str(payload.get("model", "")),
            stream=payload.get("stream") is True,
            output_limit=whole_number(payload.get("max_tokens")),
            instructions=text_parts(payload.get("system")),
            messages=tuple(_message(item) for item in objects(payload.get("messages"), "messages")),
        )

    def plain(self, response: ModelResponse, context: ResponseContext) -> dict[str, Any]:
        """The ``message`` object. Arguments that are no JSON object cannot be carried: ``{}`` is sent."""
        content: list[dict[str, Any]] = []
        if response.reasoning:
            content.append(
                {"type": "thinking", "thinking": response.reasoning, "signature": _signature(context)}
            )
        if response.text:
            content.append({"type": "text", "text": response.text})
        for index, call in enumerate(response.tool_calls):
            content.append({**_tool_use(context, index, call.name), "input": _object(call.arguments)})
        stop_reason = None if response.cut is Cut.NO_FINISH else _STOP_REASONS[response.stop]
        usage = {"input_tokens": context.input_tokens, "output_tokens": context.output_tokens}
        return {**_envelope(context), "content": content, "stop_reason": stop_reason, "usage": usage}

    def stream(self, response: ModelResponse, context: ResponseContext) -> EncodedResponse:
        """From ``message_start`` to ``message_stop``; a cut leaves the last block open."""
        start_usage = {"input_tokens": context.input_tokens, "output_tokens": 1}
        content = [
            _event("message_start", message={**_envelope(context), "content": [], "usage": start_usage}),
            _event("ping"),
        ]
        halfway = len(content)
        open_block: int | None = None

        def start_block(block: dict[str, Any]) -> None:
            nonlocal open_block
            content.extend(_block_stop(open_block))
            open_block = 0 if open_block is None else open_block + 1
            content.append(_event("content_block_start", index=open_block, content_block=block))

        def add(kind: str, **delta: str) -> None:
            content.append(_event("content_block_delta", index=open_block, delta={"type": kind, **delta}))

        if response.reasoning:
            start_block({"type": "thinking", "thinking": "", "signature": ""})
            for piece in split(response.reasoning):
                add("thinking_delta", thinking=piece)
            add("signature_delta", signature=_signature(context))
        if response.text:
            start_block({"type": "text", "text": ""})
            pieces = split(response.text)
            halfway = len(content) + len(pieces) // 2
            for piece in pieces:
                add("text_delta", text=piece)
        for index, call in enumerate(response.tool_calls):
            start_block({**_tool_use(context, index, call.name), "input": {}})
            for piece in ("", *split(call.arguments)):
                add("input_json_delta", partial_json=piece)
        delta = {"stop_reason": _STOP_REASONS[response.stop], "stop_sequence": None}
        return EncodedResponse(
            content=tuple(content),
            halfway=halfway,
            closing=_block_stop(open_block),
            finish=(
                _event("message_delta", delta=delta, usage={"output_tokens": context.output_tokens}),
                _event("message_stop"),
            ),
        )

    def error_body(self, error: Any) -> dict[str, Any]:
        """``{"type": "error", "error": …}``."""
        return {"type": "error", "error": error}

    def error_event(self, error: Any) -> bytes:
        """An ``error`` event."""
        return _event("error", error=error)


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def _block_stop(block: int | None) -> tuple[bytes, ...]:
    return () if block is None else (_event("content_block_stop", index=block),)


def _envelope(context: ResponseContext) -> dict[str, Any]:
    return {
        "id": f"msg_{context.number}",
        "type": "message",
        "role": "assistant",
        "model": context.model,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _signature(context: ResponseContext) -> str:
    return f"signature-of-response-{context.number}"


def _tool_use(context: ResponseContext, index: int, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{context.number}_{index + 1}", "name": name}


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _message(message: Mapping[str, Any]) -> ReceivedMessage:
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        raise ValueError(f"a message has the role {message.get('role')!r}")
    content = message.get("content", [])
    blocks = [] if isinstance(content, str) else objects(content, "content")
    return ReceivedMessage(
        role=role,
        texts=text_parts(content),
        calls=tuple(_call(block) for block in blocks if block.get("type") == "tool_use"),
        results=tuple(_result(block) for block in blocks if block.get("type") == "tool_result"),
        strings=tuple(decoded_strings(message)),
        has_other_content=any(block.get("type") not in _OWN_BLOCK_TYPES for block in blocks),
    )


def _call(block: Mapping[str, Any]) -> ReceivedCall:
    if not isinstance(block.get("input"), Mapping):
        raise ValueError("a tool_use block needs its input as an object")
    return ReceivedCall(
        id=str(block.get("id", "")), name=str(block.get("name", "")), arguments=json.dumps(block["input"])
    )


def _result(block: Mapping[str, Any]) -> ReceivedResult:
    return ReceivedResult(
        call_id=str(block.get("tool_use_id", "")),
        text="".join(text_parts(block.get("content"))),
        is_error=block.get("is_error") is True,
    )
