"""The reset of the bucket that is exhausted, from quota headers or from fields of the same names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from continuity_core.errors.fields import Field, Value
from continuity_core.errors.tables.wait_fields import (
    BUCKET_ENDINGS,
    BUCKET_PREFIXES,
    EXHAUSTED_STATUSES,
    EXHAUSTED_WHEN_FULL,
    EXHAUSTED_WHEN_ZERO,
    WINDOW_PREFIXES,
    WaitKind,
)
from continuity_core.errors.values import read_wait
from continuity_core.model.cause import Guidance

_COMBINED = re.compile(r"\b(r|remaining|t|reset)\s?=\s?(\d{1,12})", re.IGNORECASE)


class Bucket(NamedTuple):
    """A quota as the headers tell of it."""

    name: str
    guidance: Guidance
    exhausted: bool | None
    """None where nothing says how much is left."""

    @property
    def is_window(self) -> bool:
        """Whether nothing is served before the reset."""
        return self.name.startswith(WINDOW_PREFIXES)


def buckets(values: Iterable[Field], *, now: datetime) -> Iterator[Bucket]:
    """Every bucket whose reset can be read; names are as ``plain_name`` gives them."""
    chosen = [field for field in values if field.name.startswith(BUCKET_PREFIXES)]
    if not chosen:
        return
    known = {field.name: field.value for field in chosen}
    spelled = {field.name: field.spelling for field in chosen}
    for name, value in known.items():
        if name in {"ratelimit", "xratelimit"} and isinstance(value, str):
            yield from _combined(name, value, now=now, spelling=spelled[name])
            continue
        ending = next((ending for ending in BUCKET_ENDINGS if ending in name), None)
        if ending is None:
            continue
        guidance = read_wait(value, _kind(ending), now=now, evidence=f"{spelled[name]}: {value}"[:80])
        if guidance is None or guidance.seconds == 0:
            continue
        before, _, after = name.partition(ending)
        yield Bucket(name, guidance, _exhausted(known, before, after))


def _kind(ending: str) -> WaitKind:
    if ending == "resetms":
        return "milliseconds"
    return "instant" if ending == "resetat" else "either"


def _exhausted(known: Mapping[str, Value], before: str, after: str) -> bool | None:
    for word in EXHAUSTED_WHEN_ZERO:
        number = _number(known.get(before + word + after))
        if number is not None:
            return number <= 0
    status = known.get(before + "status" + after)
    if isinstance(status, str):
        return status.strip().lower() in EXHAUSTED_STATUSES
    for word, full in EXHAUSTED_WHEN_FULL:
        number = _number(known.get(before + word + after))
        if number is not None:
            return number >= full
    return None


def _combined(name: str, value: str, *, now: datetime, spelling: str) -> Iterator[Bucket]:
    """``limit=100, remaining=0, reset=50`` and ``"default";r=0;t=50`` (the IETF drafts)."""
    parts = {found[0].lower()[:3]: float(found[1]) for found in _COMBINED.findall(value)}
    reset = parts.get("t", parts.get("res"))
    if reset is None:
        return
    guidance = read_wait(reset, "either", now=now, evidence=f"{spelling}: {value}"[:80])
    remaining = parts.get("r", parts.get("rem"))
    if guidance is not None and guidance.seconds != 0:
        yield Bucket(name, guidance, None if remaining is None else remaining <= 0)


def _number(value: Value) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
