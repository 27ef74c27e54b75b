"""Plugins for tests that say what they are told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from continuity_core import (
    Boundary,
    Budget,
    Event,
    Order,
    Projection,
    Proposal,
    RunView,
    Stage,
    Turn,
    hookimpl,
)

Says = Callable[[Boundary, Proposal], Any]


@attrs.define(eq=False)
class Saying:
    """Returns ``says(boundary, proposal)`` at both deciding hooks, and keeps what it was shown."""

    name: str
    says: Says
    order: Order = attrs.field(factory=Order)
    budgets: tuple[Budget, ...] = ()
    edits_user_input: bool = False
    seen: list[Boundary] = attrs.field(factory=list)
    proposals: list[Proposal] = attrs.field(factory=list)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Any:
        return self._say(boundary, proposal)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Any:
        return self._say(boundary, proposal)

    def _say(self, boundary: Boundary, proposal: Proposal) -> Any:
        self.seen.append(boundary)
        self.proposals.append(proposal)
        return self.says(boundary, proposal)


def saying(*decisions: Any, name: str = "sayer", stage: Stage = Stage.RECOVER, **facts: Any) -> Saying:
    """A plugin that always says the same; without decisions, nothing."""
    return Saying(name, lambda *_: list(decisions) or None, order=Order(stage=stage), **facts)


@attrs.define(eq=False)
class Editing:
    """Returns ``edits(projection)`` before every request."""

    name: str
    edits: Callable[[Projection], Any]
    order: Order = attrs.field(factory=lambda: Order(stage=Stage.REDACT))
    edits_user_input: bool = False
    seen: list[Projection] = attrs.field(factory=list)

    @hookimpl
    def continuity_project(self, projection: Projection, proposal: Proposal) -> Any:
        self.seen.append(projection)
        return self.edits(projection)


@attrs.define(eq=False)
class Classifying:
    """Returns ``reads(turn)`` when a turn ended."""

    name: str
    reads: Callable[[Turn], Any]

    @hookimpl
    def continuity_classify(self, turn: Turn, run: RunView) -> Any:
        return self.reads(turn)


@attrs.define(eq=False)
class Watching:
    """Keeps every event and view that it was shown; ``then`` is called with each event."""

    name: str = "watcher"
    then: Callable[[Event], Any] = lambda event: None
    events: list[Event] = attrs.field(factory=list)
    views: list[RunView] = attrs.field(factory=list)

    @hookimpl
    def continuity_observe(self, event: Event, run: RunView) -> Any:
        self.events.append(event)
        self.views.append(run)
        return self.then(event)
