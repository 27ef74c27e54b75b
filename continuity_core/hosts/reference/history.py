"""The session's history: append-only, with entries that never change."""

from __future__ import annotations

import secrets
from typing import Literal, TypeAlias

import attrs

from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, Turn, Usage

HistoryRole: TypeAlias = Literal["user", "assistant", "tool"]


@attrs.frozen(kw_only=True)
class HistoryEntry:
    """One entry: what the user said, what the model answered, or what a tool gave."""

    id: str
    role: HistoryRole
    blocks: tuple[Block, ...] = ()
    call_id: str | None = None
    """The call whose result a tool entry is."""
    answers: str | None = None
    """Id of the assistant entry that made this call."""
    is_error: bool = False
    """The tool failed."""
    stop_reason: StopReason | None = None
    """How the turn of an assistant entry ended."""
    failure: Failure | None = None
    usage: Usage | None = None
    wire: str | None = attrs.field(default=None, repr=False)
    """An assistant's content as the provider's own JSON, signatures included, to be sent back as it came."""

    @property
    def ref(self) -> EntryRef:
        """The name of the entry at the boundaries."""
        return EntryRef.stable(self.id)

    @property
    def text(self) -> str:
        """All its readable text."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def reasoning(self) -> str:
        """All its readable reasoning."""
        return "".join(block.text for block in self.blocks if isinstance(block, Reasoning))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of an assistant entry."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    def showing(self, text: str) -> HistoryEntry:
        """A copy for a request whose only content is ``text``."""
        return attrs.evolve(self, blocks=(Text(text),), wire=None)


class History:
    """The entries in order. An edit of the context is made at request time and leaves no trace here."""

    def __init__(self) -> None:
        # Two sessions of one name never issue the same id.
        self._prefix = secrets.token_hex(4)
        self._entries: list[HistoryEntry] = []
        self._by_ref: dict[EntryRef, HistoryEntry] = {}
        self._results: dict[str, list[EntryRef]] = {}

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """Every entry so far."""
        return tuple(self._entries)

    def add_user(self, text: str) -> HistoryEntry:
        """Append what the user said."""
        return self._add(HistoryEntry(id=self._next_id(), role="user", blocks=(Text(text),)))

    def add_turn(self, turn: Turn, wire: str | None) -> HistoryEntry:
        """Append the model's answer, whole, cut or failed, with whatever came of it."""
        return self._add(
            HistoryEntry(
                id=self._next_id(),
                role="assistant",
                blocks=turn.blocks,
                stop_reason=turn.stop_reason,
                failure=turn.failure,
                usage=turn.usage,
                wire=wire,
            )
        )

    def add_result(self, assistant: HistoryEntry, call_id: str, text: str, *, is_error: bool) -> HistoryEntry:
        """Append the result of a call that ``assistant`` made."""
        entry = self._add(
            HistoryEntry(
                id=self._next_id(),
                role="tool",
                blocks=(Text(text),),
                call_id=call_id,
                answers=assistant.id,
                is_error=is_error,
            )
        )
        self._results.setdefault(assistant.id, []).append(entry.ref)
        return entry

    def find(self, ref: EntryRef) -> HistoryEntry | None:
        """The entry of that name."""
        return self._by_ref.get(ref)

    def lookup(self, ref: EntryRef) -> Entry | None:
        """The entry of that name as plugins see it."""
        entry = self._by_ref.get(ref)
        return None if entry is None else self.shown(entry)

    def shown(self, entry: HistoryEntry) -> Entry:
        """The entry as plugins see it."""
        if entry.role == "assistant":
            partners = tuple(self._results.get(entry.id, ()))
        else:
            partners = () if entry.answers is None else (EntryRef.stable(entry.answers),)
        return Entry(
            ref=entry.ref,
            role=entry.role,
            text=entry.text,
            calls=tuple(call.id for call in entry.calls),
            answers=() if entry.call_id is None else (entry.call_id,),
            stop_reason=entry.stop_reason,
            partners=partners,
        )

    def _next_id(self) -> str:
        return f"{self._prefix}-{len(self._entries) + 1}"

    def _add(self, entry: HistoryEntry) -> HistoryEntry:
        self._entries.append(entry)
        self._by_ref[entry.ref] = entry
        return entry
