"""What of the history goes into the next request."""

from __future__ import annotations

from collections.abc import Iterable

from continuity_core.engine.run import Run
from continuity_core.hosts.reference.history import History, HistoryEntry
from continuity_core.model.turn import Text


def context(history: History, run: Run | None) -> tuple[HistoryEntry, ...]:
    """The entries of the next request: the history with the run's edits, without what is no valid request."""
    if run is None:
        return valid(history.entries)
    result = run.project([history.shown(entry) for entry in history.entries])
    chosen: list[HistoryEntry] = []
    for shown in result.entries:
        entry = history.find(shown.ref)
        if entry is None:
            chosen.append(HistoryEntry(id=shown.ref.key, role="user", blocks=(Text(shown.text),)))
        elif shown.ref in result.replaced:
            chosen.append(entry.showing(result.replaced[shown.ref]))
        else:
            chosen.append(entry)
    return valid(chosen)


def valid(entries: Iterable[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    """The entries without those that every provider refuses.

    This is all that the session leaves out by itself: an assistant without text and calls, one with a call
    that has no result, and a result without its call. The text of a turn that failed or was cut stays.
    """
    entries = tuple(entries)
    answered = {(entry.answers, entry.call_id) for entry in entries if entry.role == "tool"}
    asked: set[tuple[str | None, str | None]] = set()
    kept: list[HistoryEntry] = []
    for entry in entries:
        if entry.role == "assistant":
            calls = {(entry.id, call.id) for call in entry.calls}
            if not calls <= answered or not (calls or entry.text.strip()):
                continue
            asked |= calls
        elif entry.role == "tool" and (entry.answers, entry.call_id) not in asked:
            continue
        kept.append(entry)
    return tuple(kept)
