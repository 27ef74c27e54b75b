"""What a turn was, and how long its provider asks us to wait."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import attrs
from attrs.validators import deep_iterable, instance_of

from continuity_core.model.checks import (
    exactly_one,
    instant_or_none,
    seconds_or_none,
    some_text,
    text_or_none,
)
from continuity_core.model.words import Words


class CauseKind(Words):
    """What a turn was."""

    FINAL = "final"
    """An answer: the model stopped by itself."""
    TOOL_CALLS = "tool_calls"
    """The model called tools."""
    LENGTH = "length"
    """Cut at the output cap, also where a provider reports the cap as an error."""
    EMPTY = "empty"
    """A successful response with neither text nor a call."""
    TRANSIENT = "transient"
    """The connection, the stream or the provider failed; asking again may help."""
    RATE_LIMIT = "rate_limit"
    """Too many requests or tokens in a short time: it passes within a quarter of an hour."""
    USAGE_LIMIT = "usage_limit"
    """The window of a plan is used up: it resets in minutes, hours or days."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The input is too long: the host's compaction is what helps."""
    PERMANENT = "permanent"
    """Asking again cannot help: credentials, billing, safety, an invalid request."""
    CANCELLED = "cancelled"
    """The user aborted."""
    UNKNOWN = "unknown"
    """Nothing tells what it was."""


@attrs.frozen(kw_only=True)
class Guidance:
    """One statement of a provider on how long to wait: ``seconds`` or ``until``, exactly one of them."""

    seconds: float | None = attrs.field(default=None, validator=seconds_or_none)
    """Seconds from the moment of the failure, from 0 to a thousand years; no margin of ours is in it."""
    until: datetime | None = attrs.field(default=None, validator=instant_or_none)
    """An aware instant; one in the past means now."""
    approximate: bool = False
    """The provider rounded or hedged (``~2 min``)."""
    evidence: str = ""
    """Where it was read: a header's name, a field's path, or the words in the text."""

    def __attrs_post_init__(self) -> None:
        if (self.seconds is None) == (self.until is None):
            exactly_one("Guidance", seconds=self.seconds, until=self.until)

    def wait_from(self, now: datetime) -> float:
        """Seconds to wait from ``now``, at least 0."""
        if self.seconds is not None:
            return self.seconds
        assert self.until is not None
        # By UTC: between two times of one zone Python counts the hours of its clocks.
        return max(0.0, (self.until.astimezone(UTC) - now.astimezone(UTC)).total_seconds())

    def instant_from(self, now: datetime) -> datetime:
        """The instant at which the wait is over, if it starts at ``now``."""
        return now.astimezone(UTC) + timedelta(seconds=self.wait_from(now))


def _as_tuple(hints: Iterable[Guidance]) -> tuple[Guidance, ...]:
    return tuple(hints)


@attrs.frozen(kw_only=True)
class Cause:
    """The verdict on a turn."""

    kind: CauseKind = attrs.field(converter=CauseKind)
    why: str = attrs.field(validator=some_text)
    """One sentence for a person."""
    guidance: tuple[Guidance, ...] = attrs.field(
        default=(), converter=_as_tuple, validator=deep_iterable(instance_of(Guidance))
    )
    """Every valid statement on how long to wait; which one counts is the longest, after any margin."""
    rule: str | None = attrs.field(default=None, validator=text_or_none)
    """The name of the table entry or rule that decided."""
