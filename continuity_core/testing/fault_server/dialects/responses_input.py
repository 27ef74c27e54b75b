"""Reading the input items of an OpenAI Responses request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from continuity_core.testing.fault_server.requests import (
    MessageRole,
    ReceivedCall,
    ReceivedMessage,
    ReceivedResult,
    decoded_strings,
    objects,
    text_parts,
)

_ROLES: Mapping[str, MessageRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_TEXTS = ("input_text", "output_text", "text")
_OWN_PART_TYPES = frozenset({*_TEXTS, "refusal"})


def messages_of(given: Any) -> tuple[ReceivedMessage, ...]:
    """The messages of an ``input``; the items of one assistant turn in a row are one message.

    Raises ``ValueError`` where it cannot be one.
    """
    if isinstance(given, str):
        return (ReceivedMessage(role="user", texts=(given,), strings=(given,)),)
    messages: list[ReceivedMessage] = []
    for item in objects(given, "input"):
        message = _message(item)
        if messages and messages[-1].role == message.role == "assistant":
            messages[-1] = _joined(messages[-1], message)
        else:
            messages.append(message)
    return tuple(messages)


def _joined(one: ReceivedMessage, other: ReceivedMessage) -> ReceivedMessage:
    return attrs.evolve(
        one,
        texts=one.texts + other.texts,
        calls=one.calls + other.calls,
        strings=one.strings + other.strings,
        has_other_content=one.has_other_content or other.has_other_content,
    )


def _message(item: Mapping[str, Any]) -> ReceivedMessage:
    strings = tuple(decoded_strings({key: value for key, value in item.items() if key != "status"}))
    match item.get("type", "message"):
        case "message":
            return _of_role(item, strings)
        case "function_call":
            return ReceivedMessage(role="assistant", calls=(_call(item),), strings=strings)
        case "function_call_output":
            return ReceivedMessage(role="tool", results=(_result(item),), strings=strings)
        case "reasoning":
            return ReceivedMessage(role="assistant", strings=strings)
        case "item_reference":
            raise ValueError(f"item {item.get('id')!r} is referred to, and nothing is stored here")
        case _:
            return ReceivedMessage(role="assistant", strings=strings, has_other_content=True)


def _of_role(item: Mapping[str, Any], strings: tuple[str, ...]) -> ReceivedMessage:
    role = _ROLES.get(str(item.get("role")))
    if role is None:
        raise ValueError(f"a message has the role {item.get('role')!r}")
    content = item.get("content")
    parts = [] if isinstance(content, str) else objects(content, "content")
    refusals = tuple(str(part.get("refusal", "")) for part in parts if part.get("type") == "refusal")
    return ReceivedMessage(
        role=role,
        texts=text_parts(content, _TEXTS) + refusals,
        strings=strings,
        has_other_content=any(part.get("type") not in _OWN_PART_TYPES for part in parts),
    )


def _call(item: Mapping[str, Any]) -> ReceivedCall:
    if not isinstance(item.get("arguments"), str):
        raise ValueError("a function_call needs its arguments as a string")
    return ReceivedCall(
        id=str(item.get("call_id", "")), name=str(item.get("name", "")), arguments=item["arguments"]
    )


def _result(item: Mapping[str, Any]) -> ReceivedResult:
    output = item.get("output")
    if not isinstance(output, str | list):
        raise ValueError("a function_call_output needs its output as a string or a list")
    return ReceivedResult(call_id=str(item.get("call_id", "")), text="".join(text_parts(output, _TEXTS)))
