"""The messages of a request as entries, and the messages that a projection leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from continuity_core.engine.project import ProjectionResult
from continuity_core.hosts.langchain.reading import calls_of, stop_of
from continuity_core.model.entries import Entry, EntryRef, Role

_ROLES: Mapping[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
}


def ref_of(message: BaseMessage, place: int) -> EntryRef:
    """The name of a message: LangGraph gives every message of its state an id that stays."""
    if message.id is not None:
        return EntryRef.stable(message.id)
    if isinstance(message, ToolMessage):
        return EntryRef.stable(f"result-of-{message.tool_call_id}")
    return EntryRef.positional(place, str(message.content))


class Reader:
    """Reads messages as entries; those that the last request had are not read again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[BaseMessage, object, object, Entry]] = {}

    def read(self, messages: Sequence[BaseMessage]) -> History:
        """Name and read the messages; one that somebody changed in place is read anew."""
        before, known, entries = self._known, {}, {}
        for place, message in enumerate(messages):
            key, content = id(message), message.content
            calls = message.tool_calls if isinstance(message, AIMessage) else None
            seen = before.get(key)
            if seen is None or seen[0] is not message or seen[1] is not content or seen[2] is not calls:
                seen = (message, content, calls, _entry(message, place))
            known[key], entries[key] = seen, seen[3]
        self._known = known
        return History(messages, entries)


@attrs.frozen(eq=False)
class History:
    """The messages of a session, named."""

    messages: Sequence[BaseMessage]
    read: Mapping[int, Entry]
    """By ``id()`` of the message."""

    def ref(self, message: BaseMessage) -> EntryRef:
        """The name of a message."""
        return self.read[id(message)].ref

    def entries(self) -> list[Entry]:
        """Every message as an entry."""
        return [self.read[id(message)] for message in self.messages]

    def after(self, message_id: str | None) -> Sequence[BaseMessage]:
        """The messages behind the one of that id; all of them where it is gone."""
        for place, message in enumerate(self.messages):
            if message.id == message_id:
                return self.messages[place + 1 :]
        return self.messages

    def lookup(self, ref: EntryRef) -> Entry | None:
        """The entry of that name, with the other half of its calls or results."""
        for message in self.messages:
            if self.ref(message) == ref:
                return attrs.evolve(self.read[id(message)], partners=tuple(self._partners().get(ref, ())))
        return None

    def projected(self, result: ProjectionResult) -> list[AnyMessage]:
        """The messages that are sent, in the projection's order."""
        known = {self.ref(message): message for message in self.messages}
        sent: list[Any] = []
        for entry in result.entries:
            message = known.get(entry.ref)
            if message is None:
                sent.append(HumanMessage(entry.text))
            elif entry.ref in result.replaced:
                sent.append(_showing(message, result.replaced[entry.ref]))
            else:
                sent.append(message)
        return sent

    def _partners(self) -> Mapping[EntryRef, list[EntryRef]]:
        """The other half of each pair: a result goes with the nearest call of its id before it."""
        partners: dict[EntryRef, list[EntryRef]] = {}
        caller: dict[str, EntryRef] = {}
        for entry in self.entries():
            caller.update(dict.fromkeys(entry.calls, entry.ref))
            for call in entry.answers:
                if call in caller:
                    partners.setdefault(caller[call], []).append(entry.ref)
                    partners.setdefault(entry.ref, []).append(caller[call])
        return partners


def _entry(message: BaseMessage, place: int) -> Entry:
    return Entry(
        ref=ref_of(message, place),
        role=_ROLES.get(message.type, "other"),
        text=str(message.text),
        calls=_calls(message),
        answers=_answers(message),
        stop_reason=stop_of(message)[1].reason if isinstance(message, AIMessage) else None,
    )


def _calls(message: BaseMessage) -> tuple[str, ...]:
    if not isinstance(message, AIMessage):
        return ()
    return tuple(str(call["id"]) for call in calls_of(message) if call.get("id") is not None)


def _answers(message: BaseMessage) -> tuple[str, ...]:
    return (message.tool_call_id,) if isinstance(message, ToolMessage) else ()


def _showing(message: BaseMessage, text: str) -> BaseMessage:
    """A copy for a request whose only content is ``text``."""
    if isinstance(message, AIMessage):
        return AIMessage(text, id=message.id, name=message.name)
    return message.model_copy(update={"content": text})
