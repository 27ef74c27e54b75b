"""Go on after an answer that was cut at the output cap."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core import (
    Adjust,
    Boundary,
    CauseKind,
    Decision,
    Omit,
    Order,
    Proposal,
    ReasoningEffort,
    Resume,
    Stage,
    hookimpl,
    option,
)


def _factor(value: object) -> float:
    try:
        factor = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        factor = -1.0
    if isinstance(value, bool) or not 1 <= factor <= 64:
        raise ValueError(f"takes a number from 1 (off) to 64, not {value!r}")
    return factor


def _effort(value: object) -> ReasoningEffort | None:
    if value is None or value == "unchanged":
        return None
    try:
        return ReasoningEffort(str(value))
    except ValueError:
        words = ", ".join(f'"{effort.value}"' for effort in ReasoningEffort)
        raise ValueError(f'takes "unchanged" or one of {words}, not {value!r}') from None


@attrs.frozen(kw_only=True)
class LengthResumeOptions:
    """Options for models that cannot converge under their output cap; both are off by default."""

    output_limit_factor: float = option(
        1,
        read=_factor,
        help="Multiply the output limit of the resumed turn by this, where the host can; 1: off.",
    )
    reasoning_effort: ReasoningEffort | None = option(
        "unchanged",
        read=_effort,
        help='Reasoning effort of the resumed turn, where the host can change it; "unchanged": off.',
    )


@attrs.frozen(eq=False)
class LengthResume:
    """Leaves the interrupted turn with its results out, and asks for another turn."""

    Options = LengthResumeOptions
    order = Order(stage=Stage.RECOVER)

    options: LengthResumeOptions = attrs.field(factory=LengthResumeOptions)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._recover(boundary)

    def _recover(self, boundary: Boundary) -> list[Decision] | None:
        if boundary.cause.kind is not CauseKind.LENGTH:
            return None
        decisions: list[Decision] = [Resume("the output was cut at the output cap")]
        decisions += [Omit(entry, "cut at the output cap") for entry in boundary.turn.entries]
        adjust = self._adjust(boundary)
        return decisions if adjust is None else [*decisions, adjust]

    def _adjust(self, boundary: Boundary) -> Adjust | None:
        limit, factor = boundary.host.output_limit, self.options.output_limit_factor
        larger = int(limit * factor) if limit is not None and factor > 1 else None
        effort = self.options.reasoning_effort
        if larger is None and effort is None:
            return None
        return Adjust(max_output_tokens=larger, reasoning_effort=effort)
