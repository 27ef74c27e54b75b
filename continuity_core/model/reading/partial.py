"""How a turn ends: as the provider said, in a failure, or by an abort."""

from __future__ import annotations

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.reading.stop_words import Stop
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Turn, Usage


def turn_of(
    blocks: tuple[Block, ...],
    usage: Usage,
    stop: Stop,
    provider_stop: str | None,
    *,
    error: BaseException | None = None,
    failure: Failure | None = None,
    aborted: bool = False,
) -> Turn:
    """The turn of what was received; ``error``, ``failure`` and ``aborted`` outrank the provider's word."""
    if error is not None and failure is None:
        failure = Failure.from_exception(error)
    if aborted:
        stop = Stop(StopReason.ABORTED, failure)
    elif failure is not None:
        stop = Stop(StopReason.ERROR, failure)
    return Turn(
        stop_reason=stop.reason,
        blocks=blocks,
        usage=usage,
        failure=stop.failure,
        provider_stop=provider_stop,
        unfinished=stop.unfinished,
    )


def with_known(usage: Usage, later: Usage) -> Usage:
    """``usage`` with every number that ``later`` knows."""
    known = {name: value for name, value in attrs.asdict(later).items() if value is not None}
    return attrs.evolve(usage, **known) if known else usage
