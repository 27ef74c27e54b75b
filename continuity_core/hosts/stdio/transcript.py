"""The history of a session as the client last told it: each entry is sent once, not before every request."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from continuity_core.hosts.stdio.rpc import Code, RpcError
from continuity_core.model.entries import Entry, EntryRef


class Transcript:
    """The entries in order; the client says how many of them still hold, and what follows those."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._by_ref: dict[EntryRef, Entry] | None = None

    def update(self, keep: int, entries: Sequence[Entry]) -> None:
        """Keep the first ``keep`` entries and put ``entries`` after them. Raises :class:`RpcError`."""
        if keep > len(self.entries):
            raise RpcError(Code.RESYNC, f"only {len(self.entries)} entries are known here, not {keep}")
        if keep == len(self.entries) and not entries:
            return
        self.entries[keep:] = entries
        self._by_ref = None

    def lookup(self, ref: EntryRef) -> Entry | None:
        """The entry of that name, with the other half of its calls or results."""
        if self._by_ref is None:
            self._by_ref = {entry.ref: entry for entry in self.entries}
        entry = self._by_ref.get(ref)
        if entry is None or not (entry.calls or entry.answers):
            return entry
        return attrs.evolve(entry, partners=self._partners(entry))

    def _partners(self, entry: Entry) -> tuple[EntryRef, ...]:
        calls, answers = set(entry.calls), set(entry.answers)
        return tuple(
            other.ref
            for other in self.entries
            if not calls.isdisjoint(other.answers) or not answers.isdisjoint(other.calls)
        )
