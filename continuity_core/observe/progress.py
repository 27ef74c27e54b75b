"""Events as lines for a person who watches a run."""

from __future__ import annotations

from typing import Any

from continuity_core.engine.state import Outcome
from continuity_core.model.boundary import Point
from continuity_core.model.events import Event, EventKind
from continuity_core.model.masking import shown

_UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def spoken_duration(seconds: float) -> str:
    """``90`` as ``1 min 30 s``; the two largest units, and tenths below ten seconds."""
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    left = round(seconds)
    parts = []
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    if left:
        parts.append(f"{left} s")
    return " ".join(parts[:2])


def line_of(event: Event) -> str | None:
    """What the event means, in one printable line; ``None`` where there is nothing to tell."""
    data: dict[str, Any] = dict(event.data)
    match event.kind:
        case EventKind.BOUNDARY:
            line = _boundary(data)
        case EventKind.WAIT_STARTED:
            line = f"waits {spoken_duration(data['seconds'])} ({data['why']})"
        case EventKind.WAIT_ENDED:
            line = None if data["ended_by"] is None else f"the wait was ended early: {data['ended_by']}"
        case EventKind.PLUGIN_FAULT:
            line = f"plugin {data['plugin']} failed in {data['hook']}: {data['error']}"
        case EventKind.PLUGIN_SLOW:
            line = f"plugin {data['plugin']} took {data['seconds'] * 1000:.0f} ms in {data['hook']}"
        case EventKind.EDIT_REFUSED:
            line = f"refused {data['what']} of plugin {data['plugin']}: {data['why']}"
        case EventKind.MODE_CHANGED:
            line = f"mode {data['mode']} ({data['reason']})"
        case EventKind.INPUT_ARRIVED:
            line = "new input arrived"
        case EventKind.ABORTED:
            line = "aborted"
        case EventKind.RUN_SETTLED:
            line = f"settled: {data['outcome']}"
        case _:
            line = None
    return None if line is None else shown(line)


def _boundary(data: dict[str, Any]) -> str | None:
    at_end = data["point"] == Point.TURN_ENDED
    turn = f"turn {data['turn']['number']} was {data['cause']['kind']}" if at_end else "before settling"
    resume = data["resume"]
    if resume is not None and data["outcome"] == Outcome.SCHEDULED:
        return f"{turn}: one more turn ({resume['plugin']}: {resume['reason']})"
    if resume is not None and data["outcome"] == Outcome.OBSERVED:
        return f"{turn}: would ask for one more turn ({resume['plugin']}: {resume['reason']})"
    if data["no_resume"] is not None:
        return f"{turn}: not resumed: {data['no_resume']}"
    return f"{turn} ({data['cause']['why']})" if at_end else None
