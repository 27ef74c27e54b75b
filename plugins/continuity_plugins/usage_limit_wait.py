"""Wait until a usage limit resets, or poll where the provider does not say when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import attrs

from continuity_core import (
    Boundary,
    CauseKind,
    Decision,
    Guidance,
    Omit,
    Order,
    Point,
    Proposal,
    Resume,
    Stage,
    Tighten,
    Wait,
    Window,
    count,
    duration_or_unlimited,
    hookimpl,
    option,
    parse_duration,
)

SHORTEST_WAIT = 1.0
"""Seconds. A reset that is due at once is still not asked for in the same instant."""


@attrs.frozen(kw_only=True)
class UsageLimitWaitOptions:
    """How long a usage limit is waited for. The defaults outlast a five-hour window."""

    waits: int = option(
        30,
        read=count,
        tighten=Tighten.LOWER,
        help="Waits in one window of a session, guided and polled together; 0: off.",
    )
    held: float = option(
        "5h",
        read=parse_duration,
        tighten=Tighten.LOWER,
        help="A wait may start only while those held so far in the window sum to less; 0: off.",
    )
    later_waits: int = option(
        32,
        read=count,
        tighten=Tighten.LOWER,
        help="The same as waits, for the windows after one of the session was exhausted.",
    )
    later_held: float = option(
        "5h20min",
        read=parse_duration,
        tighten=Tighten.LOWER,
        help="The same as held, for the windows after one of the session was exhausted.",
    )
    poll: float = option(
        "10min", read=parse_duration, help="Length of a wait where the provider says nothing."
    )
    margin: float = option("30s", read=parse_duration, help="Added to guidance that is only approximate.")
    max_wait: float | None = option(
        "6h",
        read=duration_or_unlimited,
        tighten=Tighten.LOWER,
        help="Longest single wait; a longer one that the provider states ends recovery; "
        '"unlimited": up to the ceiling.',
    )


@attrs.frozen(eq=False)
class UsageLimitWait:
    """Holds the run until the window is open again; the host's own retry still goes first."""

    Options = UsageLimitWaitOptions
    order = Order(stage=Stage.WAIT)

    options: UsageLimitWaitOptions = attrs.field(factory=UsageLimitWaitOptions)

    @property
    def budgets(self) -> tuple[Window, ...]:
        """One window instead of ``max_resumes``."""
        options = self.options
        return (
            Window(
                name="window",
                waits=options.waits,
                held=options.held,
                later_waits=options.later_waits,
                later_held=options.later_held,
            ),
        )

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    def _recover(self, boundary: Boundary) -> list[Decision] | None:
        if boundary.cause.kind is not CauseKind.USAGE_LIMIT or not (self.options.waits and self.options.held):
            return None
        decisions: list[Decision] = [Resume("the usage limit has to reset", "window")]
        decisions += [Omit(entry, "a usage limit was reached") for entry in boundary.turn.entries]
        if boundary.point is Point.TURN_ENDED:
            decisions += self._waits(boundary)
        return decisions

    def _waits(self, boundary: Boundary) -> list[Decision]:
        if not boundary.cause.guidance:
            why = "a usage limit without a stated reset: asking again from time to time"
            return [Wait(seconds=max(self.options.poll, SHORTEST_WAIT), why=why, cap=self.options.max_wait)]
        return [self._guided(hint, boundary) for hint in boundary.cause.guidance]

    def _guided(self, hint: Guidance, boundary: Boundary) -> Wait:
        margin = self.options.margin if hint.approximate else 0.0
        seconds = max(hint.wait_from(boundary.now) + margin, SHORTEST_WAIT)
        return Wait(
            until=boundary.now + timedelta(seconds=seconds),
            why=f"the usage limit resets: {hint.evidence}",
            stated=True,
            cap=self.options.max_wait,
        )
