"""The messages of a context as entries, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from openjiuwen.core.foundation.llm import AssistantMessage, ToolMessage, UserMessage

from continuity_core.engine.project import ProjectionResult
from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.stop_reason import StopReason

ID = "context_message_id"
"""Under this name in a message's metadata the framework keeps the message's id."""
STOP = "continuity_stop"
"""Under this one an answer that was cut or broken says so, for later runs."""
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_STOPS = {stop.value: stop for stop in StopReason}


def ref_of(message: Any, place: int) -> EntryRef:
    """The name of a message: its id where it is in the history, else its place and content."""
    id = (message.metadata or {}).get(ID)
    if id:
        return EntryRef.stable(str(id))
    return EntryRef.positional(place, f"{message.role}:{message.content}")


@attrs.frozen
class Shown:
    """An entry and the message that it stands for."""

    entry: Entry
    message: Any


def shown_entries(messages: Sequence[Any]) -> tuple[Shown, ...]:
    """The messages of a window, or of a context, as entries."""
    found: list[Shown] = []
    named: set[EntryRef] = set()
    for place, message in enumerate(messages):
        ref = ref_of(message, place)
        if ref in named:  # A processor has made two messages of one.
            ref = EntryRef.positional(place, f"{message.role}:{message.content}")
        named.add(ref)
        is_assistant = isinstance(message, AssistantMessage)
        calls = (message.tool_calls or ()) if is_assistant else ()
        found.append(
            Shown(
                Entry(
                    ref=ref,
                    role=_ROLES.get(message.role, "other"),
                    text=text_of(message),
                    calls=tuple(str(call.id or "") for call in calls),
                    answers=(message.tool_call_id,) if isinstance(message, ToolMessage) else (),
                    stop_reason=_stop_of(message) if is_assistant else None,
                ),
                message,
            )
        )
    return tuple(found)


def projected(shown: Sequence[Shown], result: ProjectionResult) -> list[Any]:
    """The messages that the projection leaves; those that nothing edits are the context's own objects."""
    messages = {one.entry.ref: one.message for one in shown}
    chosen: list[Any] = []
    for entry in result.entries:
        if entry.injected:
            chosen.append(UserMessage(content=entry.text))
        elif entry.ref not in result.replaced:
            chosen.append(messages[entry.ref])
        elif entry.role == "assistant":
            if entry.text.strip():
                chosen.append(AssistantMessage(content=entry.text))
        else:
            chosen.append(messages[entry.ref].model_copy(update={"content": entry.text}))
    return chosen


def is_cut(call_id: str | None, context: Any) -> bool:
    """Whether the call belongs to a turn of the context that did not end well.

    A call that waited for an approval is executed in another invocation.
    """
    for message in reversed([] if context is None else context.get_messages()):
        if isinstance(message, AssistantMessage) and any(
            call.id == call_id for call in message.tool_calls or ()
        ):
            return STOP in (message.metadata or {})
    return False


def _stop_of(message: Any) -> StopReason | None:
    noted = _STOPS.get(str((message.metadata or {}).get(STOP)))
    return StopReason.LENGTH if noted is None and message.finish_reason == "length" else noted


def text_of(message: Any) -> str:
    """The readable text of a message's content."""
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in content
        if isinstance(part, str | dict)
    )
