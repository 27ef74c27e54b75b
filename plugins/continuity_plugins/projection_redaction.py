"""Keep what is broken out of every request."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core import (
    Edit,
    Entry,
    EntryRef,
    Omit,
    Order,
    Projection,
    Proposal,
    Replace,
    Stage,
    StopReason,
    hookimpl,
)

_BROKEN = (StopReason.ERROR, StopReason.ABORTED)


@attrs.frozen(eq=False)
class ProjectionRedaction:
    """Leaves out incomplete assistant turns, orphan results, stray signatures and stale artefacts.

    The readable text of a ``length`` turn stays: it was handed out as the result. Its calls go.
    """

    order = Order(stage=Stage.REDACT)

    @hookimpl
    def continuity_project(self, projection: Projection, proposal: Proposal) -> Iterable[Edit] | None:
        entries = projection.entries
        answered = {call for entry in entries for call in entry.answers}
        edits: dict[EntryRef, Edit] = {}
        called: set[str] = set()
        for entry in entries:
            edit = _edit_of(entry, answered)
            if edit is not None:
                edits[entry.ref] = edit
            else:
                called.update(entry.calls)
        for entry in entries:
            if entry.answers and called.isdisjoint(entry.answers):
                edits[entry.ref] = Omit(entry.ref, "a result without its call")
            elif entry.belongs_to is not None and isinstance(edits.get(entry.belongs_to), Omit):
                edits[entry.ref] = Omit(entry.ref, "belongs to a turn that is left out")
        return edits.values() or None


def _edit_of(entry: Entry, answered: set[str]) -> Edit | None:
    if entry.artefact:
        return Omit(entry.ref, "left behind by an earlier run")
    if entry.role != "assistant":
        return None
    if entry.stop_reason in _BROKEN:
        return Omit(entry.ref, f"a turn that ended in {entry.stop_reason}")
    readable = bool(entry.text.strip())
    if entry.calls and (entry.stop_reason is StopReason.LENGTH or not answered.issuperset(entry.calls)):
        why = "its calls were cut or never answered"
        return Replace(entry.ref, entry.text, why) if readable else Omit(entry.ref, why)
    if not entry.calls and not readable:
        return Omit(entry.ref, "an assistant turn without content")
    return None
