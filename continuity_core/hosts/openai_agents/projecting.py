"""The input items of a request as entries, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from continuity_core.engine.run import Run
from continuity_core.hosts.openai_agents.reading import CLIENT_CALLS, kind_of, text_of_message
from continuity_core.hosts.openai_agents.withholding import HandedOut
from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.reading.fields import field, text

Remembered = Callable[[Any], HandedOut | None]
"""Finds a message that was handed out of a broken turn."""

_ROLES: dict[str, Role] = {"user": "user", "system": "system", "developer": "system"}
_OUTPUT = "_output"
_OTHERS = ("item_reference", "compaction", "mcp_approval_response")


def projected(run: Run, given: Any, remembered: Remembered) -> Any:
    """What of the runner's input is sent: ``given`` itself where continuity changes nothing."""
    listed = [{"role": "user", "content": given}] if isinstance(given, str) else given
    groups = groups_of(listed, remembered)
    result = run.project([group.entry for group in groups])
    if not result.changed:
        return given
    known = {group.entry.ref: group for group in groups}
    sent: list[Any] = []
    for entry in result.entries:
        group = known.get(entry.ref)
        if group is None:
            sent.append({"role": "user", "content": entry.text})
        elif entry.ref in result.replaced:
            sent.append(group.showing(result.replaced[entry.ref]))
        else:
            sent.extend(group.items)
    return sent


@attrs.frozen
class Group:
    """Neighbouring items that stand and fall together: one turn of the model, or any other single item."""

    entry: Entry
    items: tuple[Any, ...]

    def showing(self, content: str) -> Any:
        """One item with ``content`` as all that it says."""
        if self.entry.role == "tool":
            return {**dict(self.items[0]), "output": content}
        role = self.entry.role if self.entry.role in ("user", "system") else "assistant"
        return {"role": role, "content": content}


def groups_of(listed: Sequence[Any], remembered: Remembered) -> list[Group]:
    """The items, each turn of the model as one group."""
    groups: list[Group] = []
    turn = _OpenTurn(remembered)
    for item in listed:
        kind = kind_of(item)
        is_of_model = _is_of_model(item, kind)
        if turn.items and (not is_of_model or turn.ends_before(kind)):
            turn.close_into(groups)
            turn = _OpenTurn(remembered)
        if is_of_model:
            turn.add(item, kind)
        else:
            groups.append(_single(item, kind, len(groups)))
    turn.close_into(groups)
    return groups


def _is_of_model(item: Any, kind: str) -> bool:
    if kind == "message":
        return bool(field(item, "role") == "assistant")
    return not (kind.endswith(_OUTPUT) or kind in _OTHERS)


@attrs.define
class _OpenTurn:
    """The items of one turn of the model so far: reasoning, then text, then calls."""

    remembered: Remembered
    items: list[Any] = attrs.field(factory=list)
    text: str = ""
    calls: list[str] = attrs.field(factory=list)
    known: HandedOut | None = None
    has_message: bool = False
    has_hosted: bool = False
    """What the provider ran itself has no readable content, and is none the less content."""

    def ends_before(self, kind: str) -> bool:
        """Whether an item of this kind begins another turn."""
        if kind == "reasoning":
            return self.has_message or self.has_hosted or bool(self.calls)
        return kind == "message" and (self.has_message or bool(self.calls))

    def add(self, item: Any, kind: str) -> None:
        """Take in the next item."""
        self.items.append(item)
        if kind == "message":
            self.has_message = True
            self.text += text_of_message(item)
            self.known = self.known or self.remembered(item)
        elif kind in CLIENT_CALLS:
            self.calls.append(text(field(item, "call_id")))
        elif kind != "reasoning":
            self.has_hosted = True

    def close_into(self, groups: list[Group]) -> None:
        """Add the turn to ``groups``, where there is one."""
        if not self.items:
            return
        known = self.known
        entry = Entry(
            ref=EntryRef.positional(len(groups), self.text + "".join(self.calls))
            if known is None
            else known.ref,
            role="other" if self.has_hosted else "assistant",
            text=self.text,
            calls=tuple(self.calls),
            stop_reason=None if known is None else known.stop_reason,
        )
        groups.append(Group(entry, tuple(self.items)))


def _single(item: Any, kind: str, place: int) -> Group:
    told = text_of_message(item) if kind == "message" else text(field(item, "output"))
    call_id = text(field(item, "call_id"))
    answers = (call_id,) if call_id and kind.removesuffix(_OUTPUT) in CLIENT_CALLS else ()
    role: Role = "tool" if answers else _ROLES.get(text(field(item, "role")), "other")
    ref = EntryRef.positional(place, kind + call_id + told)
    return Group(Entry(ref=ref, role=role, text=told, answers=answers), (item,))
