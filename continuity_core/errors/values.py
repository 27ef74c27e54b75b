"""Reading the value of a header or a field that is known to hold a wait."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from continuity_core.errors.durations import read_duration, read_stopwatch
from continuity_core.errors.fields import Value
from continuity_core.errors.normalising import flat
from continuity_core.errors.tables.wait_fields import WaitKind
from continuity_core.model.cause import Guidance

_NUMBERS = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:, \d{1,20}(?:\.\d{1,20})?){0,4}")
"""A number, or several: what a header holds that a proxy and its origin have both set."""
_LONGEST_SECONDS = 1_000_000_000
"""A number of seconds from here on is an epoch."""
_LONGEST_TEXT = 64
_UNITS = {"milliseconds": 0.001, "minutes": 60.0, "hours": 3600.0}


def read_wait(value: Value, kind: WaitKind, *, now: datetime, evidence: str) -> Guidance | None:
    """What ``value`` says, or None where it is unreadable, negative, not finite or a sentinel."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip().strip("\"'")
        if not text or len(text) > _LONGEST_TEXT:
            return None
        if not _NUMBERS.fullmatch(text):
            return _read_text(text, kind, now=now, evidence=evidence)
        value = max(map(float, text.split(", ")))
    try:
        number = float(value)
    except OverflowError:  # JSON holds whole numbers of any size
        return None
    if not math.isfinite(number) or number < 0:
        return None
    if kind in _UNITS:
        number *= _UNITS[kind]
    elif kind == "instant" or number >= _LONGEST_SECONDS:
        from continuity_core.errors.instants import from_epoch

        at = from_epoch(number)
        return None if at is None else Guidance(until=at, evidence=evidence)
    return Guidance(seconds=number, evidence=evidence) if number < _LONGEST_SECONDS else None


def _read_text(text: str, kind: WaitKind, *, now: datetime, evidence: str) -> Guidance | None:
    lowered = flat(text)
    shown = read_stopwatch(lowered, 0) if kind == "seconds" else None
    duration = shown or read_duration(lowered, 0)
    if duration is not None and duration.end == len(lowered):
        return Guidance(seconds=duration.seconds, approximate=duration.coarse, evidence=evidence)
    at = _http_date(text)
    if at is None:
        from continuity_core.errors.instants import read_instant

        instant = read_instant(lowered, 0, now=now, default_zone=UTC)
        if instant is None or instant.end != len(lowered):
            return None
        at = instant.at
    return Guidance(until=at, evidence=evidence) if 2001 <= at.year < 2100 else None


def _http_date(text: str) -> datetime | None:
    if "," not in text and "gmt" not in text.lower():
        return None
    from email.utils import parsedate_to_datetime  # brings the sockets' module; few texts have such a date

    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
