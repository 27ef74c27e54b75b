"""OpenAI chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from continuity_core.testing.fault_server.dialects.base import (
    CREATED,
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
from continuity_core.testing.fault_server.responses import Cut, ModelResponse

_ROLES: Mapping[str, MessageRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_OWN_PART_TYPES = frozenset({"text", "refusal"})


class ChatCompletions:
    """``POST …/chat/completions``; reasoning travels as ``reasoning_content``."""

    name = "chat"
    endpoint = "/chat/completions"

    def decode(self, payload: Mapping[str, Any]) -> DecodedRequest:
        """Read a request's body; the newer ``max_completion_tokens`` goes before ``max_tokens``."""
        limit = whole_number(payload.get("max_completion_tokens"))
        options = payload.get("stream_options")
        return DecodedRequest(
            model=str(payload.get("model", "")),
            stream=payload.get("stream") is True,
            output_limit=whole_number(payload.get("max_tokens")) if limit is None else limit,
            streams_usage=isinstance(options, Mapping) and options.get("include_usage") is True,
            messages=tuple(_message(item) for item in objects(payload.get("messages"), "messages")),
        )

    def plain(self, response: ModelResponse, context: ResponseContext) -> dict[str, Any]:
        """The ``chat.completion`` object."""
        message: dict[str, Any] = {"role": "assistant", "content": response.text}
        if response.reasoning is not None:
            message["reasoning_content"] = response.reasoning
        if response.tool_calls:
            message["tool_calls"] = [
                {
                    "id": _call_id(context, index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for index, call in enumerate(response.tool_calls)
            ]
        finish_reason = None if response.cut is Cut.NO_FINISH else response.stop.value
        return {
            **_envelope(context, "chat.completion"),
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}],
            "usage": _usage(context),
        }

    def stream(self, response: ModelResponse, context: ResponseContext) -> EncodedResponse:
        """``chat.completion.chunk`` events and ``[DONE]``; usage only if the request asked for it."""

        def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
            return event({**_envelope(context, "chat.completion.chunk"), "choices": [choice]})

        content = [chunk({"role": "assistant", "content": ""})]
        content += [chunk({"reasoning_content": piece}) for piece in split(response.reasoning or "")]
        pieces = split(response.text or "")
        halfway = len(content) + len(pieces) // 2
        content += [chunk({"content": piece}) for piece in pieces]
        for index, call in enumerate(response.tool_calls):
            function: dict[str, Any] = {"name": call.name, "arguments": ""}
            head = {"index": index, "id": _call_id(context, index), "type": "function", "function": function}
            content.append(chunk({"tool_calls": [head]}))
            content += [
                chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                for piece in split(call.arguments)
            ]
        finish = [chunk({}, response.stop.value)]
        if context.streams_usage:
            usage = {"choices": [], "usage": _usage(context)}
            finish.append(event({**_envelope(context, "chat.completion.chunk"), **usage}))
        finish.append(b"data: [DONE]\n\n")
        return EncodedResponse(content=tuple(content), halfway=halfway, finish=tuple(finish))

    def error_body(self, error: Any) -> dict[str, Any]:
        """``{"error": …}``."""
        return {"error": error}

    def error_event(self, error: Any) -> bytes:
        """``{"error": …}`` in place of a chunk."""
        return event({"error": error})


def _envelope(context: ResponseContext, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{context.number}", "object": kind, "created": CREATED, "model": context.model}


def _usage(context: ResponseContext) -> dict[str, int]:
    return {
        "prompt_tokens": context.input_tokens,
        "completion_tokens": context.output_tokens,
        "total_tokens": context.input_tokens + context.output_tokens,
    }


def _call_id(context: ResponseContext, index: int) -> str:
    return f"call_{context.number}_{index + 1}"


def _message(message: Mapping[str, Any]) -> ReceivedMessage:
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        raise ValueError(f"a message has the role {message.get('role')!r}")
    content = message.get("content")
    texts = text_parts(content)
    parts = content if isinstance(content, list) else []
    results: tuple[ReceivedResult, ...] = ()
    if role == "tool":
        results = (ReceivedResult(call_id=str(message.get("tool_call_id", "")), text="".join(texts)),)
        texts = ()
    elif role == "assistant" and isinstance(message.get("refusal"), str):
        texts += (message["refusal"],)
    return ReceivedMessage(
        role=role,
        texts=texts,
        calls=tuple(_call(call) for call in objects(message.get("tool_calls") or [], "tool_calls")),
        results=results,
        strings=tuple(decoded_strings(message)),
        has_other_content=any(
            isinstance(part, Mapping) and part.get("type") not in _OWN_PART_TYPES for part in parts
        )
        and role != "tool",
    )


def _call(call: Mapping[str, Any]) -> ReceivedCall:
    function = call.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("arguments"), str):
        raise ValueError("a tool call needs a function with its arguments as a string")
    return ReceivedCall(
        id=str(call.get("id", "")), name=str(function.get("name", "")), arguments=function["arguments"]
    )
