"""Reading any provider's error: what kind it is, and how long to wait. Usable alone.

>>> from continuity_core.errors import Failure, classify
>>> cause = classify(Failure.from_text("429 Too Many Requests", headers={"retry-after": "41"}))
>>> cause.kind.value, cause.guidance[0].seconds
('rate_limit', 41.0)

The tables of wordings are imported at the first question, not with this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from continuity_core.errors.rules import ErrorRule
from continuity_core.model.cause import Cause, CauseKind, Guidance
from continuity_core.model.failure import Failure

__all__ = ["Cause", "CauseKind", "ErrorRule", "Failure", "Guidance", "classify", "wait_guidance"]


def classify(
    failure: Failure,
    *,
    now: datetime | None = None,
    rules: Sequence[ErrorRule] = (),
    timezone: tzinfo = UTC,
) -> Cause:
    """Say what kind of failure this is, how long its provider asks to wait, and why, in one sentence.

    ``now`` (aware; default: the current time) is the moment of the failure: instants in the text are read
    from there. ``rules`` come before everything else. ``timezone`` is taken for instants that name none.

    The longest of ``Cause.guidance`` comes first. Takes time linear in the text, and raises for no text.
    """
    from continuity_core.errors.classification import classify as read

    return read(failure, now=now, rules=rules, timezone=timezone)


def wait_guidance(failure: Failure, *, now: datetime, timezone: tzinfo = UTC) -> tuple[Guidance, ...]:
    """Every valid statement of the provider on how long to wait, the longest first.

    An instant without a zone counts only where nothing better is there. Nothing is guessed at: a number that
    no unit, field or header marks as a wait is none. What kind of failure it is does not matter here;
    :func:`classify` keeps guidance only where a wait can help.
    """
    from continuity_core.errors.guidance import guidance_of

    return guidance_of(failure, now=now, timezone=timezone)
