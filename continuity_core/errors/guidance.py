"""How long the provider asks to wait: headers, fields, and what the text announces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo

from continuity_core.errors.announcements import Announcement, announcements
from continuity_core.errors.evidence import Evidence
from continuity_core.errors.names import wait_kind_of
from continuity_core.errors.quota_headers import Bucket, buckets
from continuity_core.errors.tables.calendar_words import PROVIDER_ZONES
from continuity_core.errors.tables.wait_fields import CLIENT_FIELDS, CLIENT_WAITS, RETRY_HEADERS, WAIT_FIELDS
from continuity_core.errors.values import read_wait
from continuity_core.model.cause import Guidance
from continuity_core.model.failure import Failure

_PROTO_DELAY = re.compile(r"retry_delay\s?\{\s?(?:seconds: (\d{1,9}))?\s?(?:nanos: (\d{1,9}))?")
_REQUESTS_OR_TOKENS = ("token", "request")


def guidance_of(
    failure: Failure | Evidence, *, now: datetime, timezone: tzinfo = UTC
) -> tuple[Guidance, ...]:
    """Every valid statement on how long to wait, the longest first."""
    evidence = failure if isinstance(failure, Evidence) else Evidence(failure)
    header = _retry_header(evidence, now)
    told = list(_announced(evidence, now, timezone))
    hints = [header] if header is not None else []
    hints += _fields(evidence, now)
    hints += [one.guidance for one in told if not one.instant]
    if header is None:  # a header beats an instant in prose, which gateways print in a zone that it is not in
        hints += [one.guidance for one in told if one.instant and one.zoned]
    hints += _exhausted_buckets(evidence, now, alone=not hints, told=header is not None)
    if not hints:
        hints = [one.guidance for one in told]
    return _longest_first(hints, now)


def _longest_first(hints: list[Guidance], now: datetime) -> tuple[Guidance, ...]:
    """Each wait once; where it is told exactly and roughly, the exact statement stands."""
    if len(hints) < 2:
        return tuple(hints)
    by_wait: dict[float, Guidance] = {}
    for hint in hints:
        wait = round(hint.wait_from(now), 3)
        if wait not in by_wait or (by_wait[wait].approximate and not hint.approximate):
            by_wait[wait] = hint
    return tuple(by_wait[wait] for wait in sorted(by_wait, reverse=True))


def _retry_header(evidence: Evidence, now: datetime) -> Guidance | None:
    headers = evidence.failure.headers
    for name, kind in RETRY_HEADERS:
        if name in headers:
            guidance = read_wait(headers[name], kind, now=now, evidence=f"{name}: {headers[name]}")
            if guidance is not None:
                return guidance
    return None


def _fields(evidence: Evidence, now: datetime) -> Iterator[Guidance]:
    for field in evidence.fields:
        kind = WAIT_FIELDS.get(field.name) or wait_kind_of(field.spelling)
        if kind is not None and not (field.name in CLIENT_WAITS and _tells_of_retries(evidence)):
            shown = f"{field.spelling}={field.value}"[:80]
            guidance = read_wait(field.value, kind, now=now, evidence=shown)
            if guidance is not None:
                yield guidance
    if "retry_delay" in evidence.text:
        delay = _PROTO_DELAY.search(evidence.text)
        if delay is not None and any(delay.groups()):
            seconds, nanos = (int(group or 0) for group in delay.groups())
            yield Guidance(seconds=seconds + nanos / 1e9, evidence="retry_delay")


def _tells_of_retries(evidence: Evidence) -> bool:
    """Whether fields tell how often a client has tried: it wrote the others, too."""
    return any(field.name in CLIENT_FIELDS for field in evidence.fields)


def _announced(evidence: Evidence, now: datetime, timezone: tzinfo) -> Iterator[Announcement]:
    for folded in evidence.foldings:
        yield from announcements(
            folded, now=now, default_zone=timezone, provider_zone=lambda: _provider_zone(evidence)
        )


def _provider_zone(evidence: Evidence) -> tzinfo | None:
    for marks, name in PROVIDER_ZONES:
        if any(mark in evidence.marks for mark in marks):
            from continuity_core.errors.instants import load_zone

            return load_zone(name)
    return None


def _exhausted_buckets(evidence: Evidence, now: datetime, *, alone: bool, told: bool) -> list[Guidance]:
    """Resets of exhausted buckets; where none is told to be, of the only one or the one in the text.

    Where the provider has ``told`` in a header when to try again, only those of windows count.
    """
    found = [bucket for bucket in buckets(evidence.quota_values(), now=now) if bucket.is_window or not told]
    exhausted = [bucket.guidance for bucket in found if bucket.exhausted]
    if exhausted or not alone or evidence.status != 429:
        return exhausted
    unknown = [bucket.guidance for bucket in found if bucket.exhausted is None]
    if len(found) == len(unknown) == 1:
        return unknown
    return [bucket.guidance for bucket in found if _is_named(bucket, evidence.text)]


def _is_named(bucket: Bucket, text: str) -> bool:
    named = [word for word in _REQUESTS_OR_TOKENS if f"{word}s per" in text or f"{word} per" in text]
    return len(named) == 1 and named[0] in bucket.name
