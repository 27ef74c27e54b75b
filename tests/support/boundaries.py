"""Boundaries for tests of single plugins, without a run around them."""

from __future__ import annotations

from typing import Any

from continuity_core import (
    Boundary,
    Cause,
    CauseKind,
    HostFacts,
    Point,
    Proposal,
    RunView,
    Turn,
    cause_of_turn,
)
from continuity_core.testing.strategies import NOW


def at(
    turn: Turn,
    kind: CauseKind | None = None,
    *,
    point: Point = Point.TURN_ENDED,
    guidance: tuple[Any, ...] = (),
    host: HostFacts | None = None,
    recent: tuple[Any, ...] = (),
    **view: Any,
) -> Boundary:
    """The boundary after ``turn``; ``view`` is what the run looks like."""
    cause = (
        cause_of_turn(turn) if kind is None else Cause(kind=kind, why="as the test says", guidance=guidance)
    )
    run = RunView(id="run", session="s", **{"started_at": NOW, "now": NOW, "turns": 1, **view})
    return Boundary(
        point=point, turn=turn, cause=cause, host=host or HostFacts(), run=run, now=NOW, recent=recent
    )


def said_by(plugin: Any, boundary: Boundary, proposal: Proposal | None = None) -> list[Any]:
    """What the plugin says at the boundary, as a list."""
    hook = {
        Point.TURN_ENDED: getattr(plugin, "continuity_turn_ended", None),
        Point.BEFORE_SETTLE: getattr(plugin, "continuity_before_settle", None),
    }[boundary.point]
    if hook is None:
        return []
    return list(hook(boundary=boundary, proposal=proposal or Proposal()) or ())
