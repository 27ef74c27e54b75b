"""Go on after a broken stream, a throttle, an empty answer or an error that nobody can diagnose."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core import (
    Boundary,
    Budget,
    CauseKind,
    Decision,
    Omit,
    Order,
    Point,
    Proposal,
    Remember,
    Resume,
    Stage,
    StopStrategy,
    Tighten,
    Wait,
    WaitStrategy,
    count,
    delay,
    hookimpl,
    option,
    parse_duration,
    should_stop,
    stop_strategy,
    wait_strategy,
)

_REASONS = {
    CauseKind.TRANSIENT: "the provider or the connection failed",
    CauseKind.RATE_LIMIT: "the provider throttled the request",
    CauseKind.EMPTY: "the answer was empty",
    CauseKind.UNKNOWN: "the turn failed for an unknown reason",
}


def _stop(value: object) -> StopStrategy | None:
    return None if value is None or value == "never" else stop_strategy(value)


@attrs.frozen(kw_only=True)
class StreamRecoveryOptions:
    """How often, and after which delays, a failed turn is asked for again."""

    retries: int = option(
        6, read=count, tighten=Tighten.LOWER, help="Resumes per run after failed or empty turns; 0: off."
    )
    unknown_retries: int = option(
        2,
        read=count,
        tighten=Tighten.LOWER,
        help="How many of them may follow an error that nobody can diagnose; 0: off.",
    )
    wait: WaitStrategy = option(
        "chain(fixed(5), fixed(5), fixed(5), fixed(10))",
        read=wait_strategy,
        help="Delay before each, as a tenacity strategy; it moves on when a wait was held to its end.",
    )
    stop: StopStrategy | None = option(
        "never",
        read=_stop,
        help='A tenacity stop strategy over the waits of a run, e.g. "after_delay(30min)"; '
        '"never": only the budgets count.',
    )
    max_wait: float = option(
        "6h",
        read=parse_duration,
        tighten=Tighten.LOWER,
        help="Longest wait. A longer one that the provider states ends recovery.",
    )


@attrs.frozen(eq=False)
class StreamRecovery:
    """Leaves the failed turn out and asks for another one after a staged delay."""

    Options = StreamRecoveryOptions
    order = Order(stage=Stage.RECOVER)

    options: StreamRecoveryOptions = attrs.field(factory=StreamRecoveryOptions)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """``unknown_retries`` are charged to ``retries`` too."""
        return (
            Budget("retries", self.options.retries),
            Budget("unknown_retries", self.options.unknown_retries, within="retries"),
        )

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    def _recover(self, boundary: Boundary) -> list[Decision] | None:
        reason = _REASONS.get(boundary.cause.kind)
        failure = boundary.turn.failure
        if reason is None or (failure is not None and failure.where != "model"):
            return None
        if boundary.cause.kind is CauseKind.EMPTY and boundary.host.ended_on_purpose:
            # An answer of nothing, where the caller's output type allows none.
            return None
        if boundary.point is Point.TURN_ENDED and self._stops(boundary):
            return [Remember(boundary.run.turns)]
        if boundary.point is Point.BEFORE_SETTLE and boundary.run.memory == boundary.run.turns:
            return None
        unknown = boundary.cause.kind is CauseKind.UNKNOWN
        decisions: list[Decision] = [Resume(reason, "unknown_retries" if unknown else "retries")]
        decisions += [Omit(entry, reason) for entry in boundary.turn.entries]
        if boundary.point is Point.TURN_ENDED:
            decisions += self._waits(boundary, reason)
        return decisions

    def _waits(self, boundary: Boundary, reason: str) -> list[Decision]:
        """Our own delay, and every wait that the provider states: the longest counts."""
        cap = self.options.max_wait
        seconds = delay(
            self.options.wait,
            boundary.run.waits + 1,
            cap=cap,
            seconds_since_start=boundary.run.waited_seconds,
        )
        return [
            Wait(seconds=seconds, why=reason, cap=cap),
            *(
                Wait(
                    seconds=hint.seconds, until=hint.until, why=hint.evidence or reason, stated=True, cap=cap
                )
                for hint in boundary.cause.guidance
            ),
        ]

    def _stops(self, boundary: Boundary) -> bool:
        """Asked once a turn, before its wait: that counts only for the next one."""
        stop = self.options.stop
        return stop is not None and should_stop(
            stop, boundary.run.waits + 1, seconds_since_start=boundary.run.waited_seconds
        )
