"""Recorded events, read within bounds: a journal, or a report as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of one line; a longer one is no event."""

DOCUMENT_LIMIT = 64 * 1024 * 1024
"""Bytes of a report in one piece."""

_NEEDED = ("kind", "session", "run")


class NotRecordedError(ValueError):
    """A file holds no recorded run; the text says why."""


@attrs.frozen(kw_only=True)
class RecordedRun:
    """The events of one run, in order."""

    id: str
    session: str
    events: tuple[Mapping[str, Any], ...]

    @property
    def settled(self) -> Mapping[str, Any] | None:
        """The event of its end, where that was recorded."""
        return next((event for event in reversed(self.events) if event["kind"] == "run_settled"), None)


@attrs.frozen(kw_only=True)
class Recorded:
    """What a file holds."""

    runs: tuple[RecordedRun, ...]
    """In the order of their first events."""
    unread: int = 0
    """Lines that are no events."""


def read_runs(file: Path) -> Recorded:
    """Read a journal, the part of it that was put aside first; or a report as ``Report.to_dict`` gives it.

    Raises :class:`NotRecordedError` where there is no event.
    """
    try:
        lines = _lines_of(file)
        events, unread = _parsed(lines)
        if not events and sum(map(len, lines)) <= DOCUMENT_LIMIT:
            events, unread = _events_in(b"".join(lines)), 0
    except OSError as error:
        raise NotRecordedError(f"{file} cannot be read: {error.strerror or type(error).__name__}") from error
    if not events:
        raise NotRecordedError(
            f"{file} has no event: record runs with the setting journal, e.g. CONTINUITY_JOURNAL=FILE"
        )
    runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for event in events:
        runs.setdefault((str(event["session"]), str(event["run"])), []).append(event)
    return Recorded(
        runs=tuple(RecordedRun(id=run, session=of, events=tuple(each)) for (of, run), each in runs.items()),
        unread=unread,
    )


def _lines_of(file: Path) -> list[bytes]:
    if str(file) == "-":
        return list(_bounded(sys.stdin.buffer))
    lines: list[bytes] = []
    for part in (file.with_name(file.name + ".1"), file):
        if part == file or part.is_file():
            with part.open("rb") as stream:
                lines += _bounded(stream)
    return lines


def _bounded(stream: Any) -> Iterator[bytes]:
    """The lines of a stream; the rest of a line beyond the limit is a line of its own, and no event."""
    while line := stream.readline(LINE_LIMIT):
        yield line


def _parsed(lines: Iterable[bytes]) -> tuple[list[Mapping[str, Any]], int]:
    events, unread = [], 0
    for line in lines:
        if not line.strip():
            continue
        event = _json(line)
        if _is_event(event):
            events.append(event)
        else:
            unread += 1
    return events, unread


def _events_in(document: bytes) -> list[Mapping[str, Any]]:
    value = _json(document)
    if isinstance(value, dict):
        value = value.get("events")
    return [event for event in value if _is_event(event)] if isinstance(value, list) else []


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_event(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in _NEEDED)
