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
    turn = _OpenTurn()
    for item in listed:
        if _is_of_model(item):
            if turn.ends_before(item):
                turn.close_into(groups, remembered)
                turn = _OpenTurn()
            turn.items.append(item)
            continue
        turn.close_into(groups, remembered)
        turn = _OpenTurn()
        groups.append(_single(item, len(groups)))
    turn.close_into(groups, remembered)
    return groups


def _is_of_model(item: Any) -> bool:
    kind = kind_of(item)
    if kind == "message":
        return bool(field(item, "role") == "assistant")
    return not (kind.endswith(_OUTPUT) or kind in ("item_reference", "compaction", "mcp_approval_response"))


@attrs.define
class _OpenTurn:
    """The items of one turn of the model so far: reasoning, then text, then calls."""

    items: list[Any] = attrs.field(factory=list)

    def ends_before(self, item: Any) -> bool:
        """Whether ``item`` begins another turn."""
        kinds = {kind_of(earlier) for earlier in self.items}
        if kind_of(item) == "reasoning":
            return bool(kinds - {"reasoning"})
        return kind_of(item) == "message" and bool(kinds & (CLIENT_CALLS | {"message"}))

    def close_into(self, groups: list[Group], remembered: Remembered) -> None:
        """Add the turn to ``groups``, where there is one."""
        if not self.items:
            return
        told = "".join(text_of_message(item) for item in self.items)
        calls = tuple(text(field(item, "call_id")) for item in self.items if kind_of(item) in CLIENT_CALLS)
        # What the provider ran itself has no readable content, and is none the less content.
        hosted = any(kind_of(item) not in CLIENT_CALLS | {"message", "reasoning"} for item in self.items)
        broken = (remembered(item) for item in self.items if kind_of(item) == "message")
        known = next((found for found in broken if found is not None), None)
        entry = Entry(
            ref=EntryRef.positional(len(groups), told + "".join(calls)) if known is None else known.ref,
            role="other" if hosted else "assistant",
            text=told,
            calls=calls,
            stop_reason=None if known is None else known.stop_reason,
        )
        groups.append(Group(entry, tuple(self.items)))


def _single(item: Any, place: int) -> Group:
    kind = kind_of(item)
    told = text_of_message(item) if kind == "message" else text(field(item, "output"))
    call_id = text(field(item, "call_id"))
    answers = (call_id,) if call_id and kind.removesuffix(_OUTPUT) in CLIENT_CALLS else ()
    role: Role = "tool" if answers else _ROLES.get(text(field(item, "role")), "other")
    ref = EntryRef.positional(place, kind + call_id + told)
    return Group(Entry(ref=ref, role=role, text=told, answers=answers), (item,))
