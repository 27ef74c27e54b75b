"""One boundary of a run, from the question to what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import attrs

from continuity_core.engine.engine import Engine
from continuity_core.engine.explain import boundary_details
from continuity_core.engine.state import NOT_HELD, HeldWait, Outcome
from continuity_core.engine.waits import HeldNow
from continuity_core.model.boundary import Point
from continuity_core.model.cause import Cause
from continuity_core.model.decisions import JSONValue
from continuity_core.model.proposal import Proposal
from continuity_core.model.turn import Turn


@attrs.define(kw_only=True, eq=False)
class Step:
    """What is known of a boundary while it is decided and held, and what its event tells afterwards.

    A run keeps the last 256, and 100,000 may wait at a time: the boundary itself, which plugins were shown,
    is not held on to.
    """

    engine: Engine
    """The one in force when it was decided; a switch meanwhile counts from the next boundary on."""
    point: Point
    turn: Turn
    number: int
    """Of the turn in the run, from 1."""
    cause: Cause
    classified_by: str | None
    now: datetime
    """The moment of the boundary."""
    proposal: Proposal
    """As decided; once the boundary is concluded, with what became of it."""
    wait: HeldNow | None = None
    """To be held before the boundary is concluded."""
    held: HeldWait = NOT_HELD
    ended_by: str | None = None
    """What came between the decision and its resume: an abort, a switch, or input."""
    outcome: Outcome = Outcome.NONE
    resumes: int
    """Of the run so far."""
    spent: Mapping[str, int]
    """What each budget was charged in the run so far."""

    def details(self) -> dict[str, JSONValue]:
        """The keys of a ``boundary`` event."""
        return boundary_details(self)
