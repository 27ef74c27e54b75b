"""What the host knows at a boundary and no plugin could find out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal, TypeAlias

import attrs

from continuity_core.model.cause import Cause
from continuity_core.model.entries import Entry, EntryRef

InputKind: TypeAlias = Literal["steer", "follow_up"]


@attrs.frozen(kw_only=True, slots=False)
class HostFacts:
    """The facts of the moment, as the host sees them."""

    pending_input: InputKind | None = None
    """User input that the host has queued and not yet picked up."""
    continuation_requested: bool = False
    """Somebody else already asked for another turn."""
    aborted: bool = False
    """The user aborted; outranks every classification."""
    output_limit: int | None = None
    """The output limit in tokens that the host asked for in this request."""
    classification: Cause | None = None
    """The verdict of the host's own classifier, as evidence for ours."""
    recovers_length: bool = False
    """The host recovers ``length`` turns below the cap by itself, e.g. by compaction."""
    retry_follows: bool | None = None
    """``True``: the host's own retry comes next; ``False``: none comes; ``None``: it cannot tell."""
    ending_tools: frozenset[str] = frozenset()
    """Tools whose call ends a run on purpose."""
    ended_on_purpose: bool = False
    """The host is about to settle because the run reached a proper end (output tool, handoff, approval …)."""
    no_more_turns: str | None = None
    """Why the host cannot make another turn, e.g. because its own limit on turns is reached."""
    deadline: datetime | None = None
    """When the caller stops waiting for the run; aware."""
    lookup: Callable[[EntryRef], Entry | None] | None = attrs.field(default=None, eq=False, repr=False)
    """Finds an entry of the active history; entries of the turn itself need no look-up."""

    def knows(self, entry: EntryRef) -> bool:
        """Whether the entry is on the active history, as far as the host can look it up."""
        return self.lookup is not None and self.lookup(entry) is not None
