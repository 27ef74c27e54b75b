"""Entries of a session's history, as a projection shows them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import attrs

from continuity_core.model.stop_reason import StopReason

_NO_CALLERS: Mapping[str, int | None] = MappingProxyType({})

Role: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]


@attrs.frozen(order=True)
class EntryRef:
    """A name for one entry of the history, issued by the host adapter.

    Make one with :meth:`stable` where the host has ids, else with :meth:`positional`.
    """

    key: str = attrs.field(validator=attrs.validators.instance_of(str))

    def __hash__(self) -> int:
        """That of the key alone; edits are looked up for every entry of a history."""
        return hash(self.key)

    @classmethod
    def stable(cls, id: str) -> EntryRef:
        """Refer to an entry by the id that its host keeps for it."""
        return cls(f"id:{id}")

    @classmethod
    def positional(cls, ordinal: int, content: str, epoch: int = 0) -> EntryRef:
        """Refer to an entry by its place and a digest of its content.

        ``epoch`` counts the compactions of the session: ordinals of an earlier epoch never match again.
        """
        digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return cls(f"at:{epoch}:{ordinal}:{digest}")


@attrs.frozen(kw_only=True)
class Entry:
    """One entry as the next request would carry it."""

    ref: EntryRef
    role: Role
    text: str = ""
    """Its readable text; no reasoning, no arguments."""
    calls: tuple[str, ...] = ()
    """Ids of the tool calls that an assistant entry carries."""
    answers: tuple[str, ...] = ()
    """Ids of the tool calls whose results this entry carries."""
    stop_reason: StopReason | None = None
    """How the turn of an assistant entry ended, where the host remembers it."""
    belongs_to: EntryRef | None = None
    """The entry without which this one makes no sense, e.g. a signature or encrypted reasoning kept apart."""
    artefact: bool = False
    """Left behind by this project or a predecessor in an earlier run; never sent to a model."""
    injected: bool = False
    """Text of ours that the host sends in the user's role; it is not in the history."""
    partners: tuple[EntryRef, ...] = ()
    """The entries with the other half of its calls or results, for hosts that look up single entries."""


@attrs.frozen
class Projection:
    """The entries of the next request, in order."""

    entries: tuple[Entry, ...]
    unchanged: int = 0
    """So many of the first entries are those of the request before, which every plugin left as they were.

    A plugin that judges an entry by itself and by what stands before it may pass over them.
    """

    def callers(self) -> tuple[Mapping[str, int | None], ...]:
        """For each entry, by the id of each call that it answers: the place of the entry with that call.

        It is the nearest one before the result, since some providers use an id again in every turn; ``None``
        where there is none.
        """
        latest: dict[str, int] = {}
        found: list[Mapping[str, int | None]] = []
        for place, entry in enumerate(self.entries):
            found.append({call: latest.get(call) for call in entry.answers} if entry.answers else _NO_CALLERS)
            latest.update(dict.fromkeys(entry.calls, place))
        return tuple(found)
