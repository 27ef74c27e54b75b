"""End a run that costs more than its owner allows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import attrs

from continuity_core import (
    Boundary,
    CauseKind,
    Decision,
    Halt,
    Order,
    Proposal,
    Stage,
    Tighten,
    count_or_unlimited,
    duration_or_unlimited,
    hookimpl,
    option,
)


@attrs.frozen(kw_only=True)
class RunLimitsOptions:
    """Limits of one run; none by default."""

    max_requests: int | None = option(
        "unlimited",
        read=count_or_unlimited,
        tighten=Tighten.LOWER,
        help="Provider requests, native retries included where the host counts them.",
    )
    max_output_tokens: int | None = option(
        "unlimited",
        read=count_or_unlimited,
        tighten=Tighten.LOWER,
        help="Output tokens as the provider reports them.",
    )
    deadline: float | None = option(
        "unlimited",
        read=duration_or_unlimited,
        tighten=Tighten.LOWER,
        help="Time from the start of the run; a wait that would pass it is not held.",
    )


@attrs.frozen(eq=False)
class RunLimits:
    """Asks the host to end the run once a limit is reached."""

    Options = RunLimitsOptions
    order = Order(stage=Stage.GUARD)

    options: RunLimitsOptions = attrs.field(factory=RunLimitsOptions)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._guard(boundary, proposal)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._guard(boundary, proposal)

    def _guard(self, boundary: Boundary, proposal: Proposal) -> list[Decision] | None:
        if boundary.cause.kind is CauseKind.FINAL and proposal.resume is None:
            return None
        reason = self._reached(boundary, proposal)
        return None if reason is None else [Halt(reason, end_run=True)]

    def _reached(self, boundary: Boundary, proposal: Proposal) -> str | None:
        run, options = boundary.run, self.options
        if options.max_requests is not None and run.requests >= options.max_requests:
            return f"the run made {run.requests} of {options.max_requests} requests"
        if options.max_output_tokens is not None and run.output_tokens >= options.max_output_tokens:
            return f"the run used {run.output_tokens} of {options.max_output_tokens} output tokens"
        if options.deadline is None:
            return None
        end = run.started_at + timedelta(seconds=options.deadline)
        if boundary.now >= end:
            return f"the run passed its deadline of {options.deadline:.0f} s"
        if proposal.wait is not None and proposal.wait.decision.end_from(boundary.now) >= end:
            return f"a wait would reach the run's deadline of {options.deadline:.0f} s"
        return None
