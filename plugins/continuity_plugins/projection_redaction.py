"""Keep what is broken out of every request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import attrs

from continuity_core import (
    Edit,
    Entry,
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
_CUT_OR_BROKEN = (*_BROKEN, StopReason.LENGTH)
_NEVER_EDITED = ("user", "system")


@attrs.frozen(eq=False)
class ProjectionRedaction:
    """Leaves out incomplete assistant turns, orphan results, stray signatures and stale artefacts.

    The readable text of a ``length`` turn stays where it was handed out as the result. Its calls go.
    """

    order = Order(stage=Stage.REDACT)

    @hookimpl
    def continuity_project(self, projection: Projection, proposal: Proposal) -> Iterable[Edit] | None:
        # What was there before needed no edit, and nothing that follows can make it need one.
        added = projection.entries[projection.unchanged :]
        return None if is_clean(added) else edits_of(projection) or None


def is_clean(entries: Sequence[Entry]) -> bool:
    """Whether nothing can be wrong, found in one pass; a history that is only unusual is not clean either.

    Nearly every request is clean, and its history may be long.
    """
    unanswered: set[str] = set()
    for entry in entries:
        if entry.artefact or entry.belongs_to is not None:
            return False
        if entry.role == "assistant":
            if unanswered or entry.answers or entry.stop_reason in _CUT_OR_BROKEN:
                return False
            if entry.calls:
                unanswered.update(entry.calls)
            elif not entry.text or entry.text.isspace():
                return False
        elif entry.answers:
            if not unanswered.issuperset(entry.answers):
                return False
            unanswered.difference_update(entry.answers)
    return not unanswered


def edits_of(projection: Projection) -> list[Edit]:
    """All that has to go or to be narrowed."""
    entries = projection.entries
    edits = {place: edit for place in range(len(entries)) if (edit := _edit_of(entries, place))}
    callers = projection.callers()
    # An entry that goes takes others with it: until a round finds none.
    while found := _consequences(entries, callers, edits):
        edits |= found
    return list(edits.values())


def _edit_of(entries: Sequence[Entry], place: int) -> Edit | None:
    """What is wrong with the entry itself."""
    entry = entries[place]
    if entry.artefact:
        return Omit(entry.ref, "left behind by an earlier run")
    if entry.role != "assistant":
        return None
    if entry.stop_reason in _BROKEN:
        return Omit(entry.ref, f"a turn that ended in {entry.stop_reason}")
    if entry.calls and entry.stop_reason is StopReason.LENGTH:
        return _without_calls(entries, place, "its calls were cut")
    if not entry.calls and not entry.text.strip():
        return Omit(entry.ref, "an assistant turn without content")
    return None


def _consequences(
    entries: Sequence[Entry], callers: Sequence[Mapping[str, int | None]], edits: Mapping[int, Edit]
) -> dict[int, Edit]:
    """What goes because of ``edits``: results without call, calls without result, what belongs to a turn."""
    gone = {place for place, edit in edits.items() if isinstance(edit, Omit)}
    known = {entry.ref for place, entry in enumerate(entries) if place not in gone}
    answered = {
        (caller, call)
        for place, found in enumerate(callers)
        if place not in gone
        for call, caller in found.items()
    }
    edited: dict[int, Edit] = {}
    for place, entry in enumerate(entries):
        if place in gone or entry.role in _NEVER_EDITED:
            continue
        if any(caller is None or caller in edits for caller in callers[place].values()):
            edited[place] = Omit(entry.ref, "a result without its call")
        elif entry.belongs_to is not None and entry.belongs_to not in known:
            edited[place] = Omit(entry.ref, "belongs to a turn that is left out")
        elif place not in edits and any((place, call) not in answered for call in entry.calls):
            edited[place] = _without_calls(entries, place, "its calls were never answered")
    return edited


def _without_calls(entries: Sequence[Entry], place: int, why: str) -> Edit:
    """Its text alone where the user has answered to that; a host that went on by itself gave it to nobody."""
    entry = entries[place]
    if entry.text.strip() and _is_answered_by_user(entries, place):
        return Replace(entry.ref, entry.text, why)
    return Omit(entry.ref, why)


def _is_answered_by_user(entries: Sequence[Entry], place: int) -> bool:
    following = (entry.role for entry in islice(entries, place + 1, None) if entry.role != "tool")
    return next(following, None) == "user"
