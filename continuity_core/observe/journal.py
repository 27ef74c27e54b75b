"""A journal: every event as a JSON line in a file, for ``continuity explain-run``.

Use it as ``on_event=Journal("runs.jsonl")``, or by the setting ``journal``.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import Event
from continuity_core.model.masking import masked

LOG = logging.getLogger("continuity")

MAX_BYTES = 16 * 1024 * 1024
"""Size at which a journal is put aside and a new one begun."""

LINE_LIMIT = 64 * 1024
"""Bytes of one line; an event that is larger is written without its longest parts."""

TEXT_LIMIT = 2000
"""Characters of one text in a line."""

_OWNER_ONLY = 0o600
_ALWAYS_KEPT = ("kind", "at", "session", "run", "left_out")


class Journal:
    """Appends events to a file, one JSON object a line. May be called from any thread.

    The file is made readable for its owner only. At ``max_bytes`` it becomes ``NAME.1``, which replaces the
    one before, so that both together take at most twice that. Texts are masked and cut to 2000 characters, a
    line to 64 KiB. A file that cannot be written never harms a run: a warning says so once, and later events
    are tried again. Processes that write at the same time need a file each.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> None:
        if max_bytes < LINE_LIMIT:
            raise ValueError(f"max_bytes of a journal must be at least {LINE_LIMIT}, not {max_bytes}")
        self.path = Path(path).expanduser()
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._failing = False

    @property
    def older(self) -> Path:
        """Where the events before those of :attr:`path` are."""
        return self.path.with_name(self.path.name + ".1")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json_line(event)
        with self._lock:
            try:
                self._append(line)
            except OSError as error:
                if not self._failing:
                    LOG.warning(
                        "the journal %s cannot be written (%s): events are lost until it can",
                        self.path,
                        error.strerror or type(error).__name__,
                    )
                self._failing = True
            else:
                self._failing = False

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _OWNER_ONLY)
        try:
            full = os.fstat(descriptor).st_size + len(line) > self.max_bytes
            if not full:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if full:
            self.path.replace(self.older)
            self._append(line)


def json_line(event: Event) -> bytes:
    """The event as one line of ASCII JSON within the limits, its line end included."""
    told: dict[str, Any] = _bounded(event.to_dict())
    line = _dumped(told)
    while len(line) > LINE_LIMIT:
        sizes = {key: len(_dumped(value)) for key, value in told.items() if key not in _ALWAYS_KEPT}
        longest = max(sizes, key=sizes.__getitem__)
        del told[longest]
        told.setdefault("left_out", []).append(longest)
        line = _dumped(told)
    return line


def _dumped(value: object) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _bounded(value: JSONValue) -> Any:
    """The value with every text masked and cut."""
    if isinstance(value, str):
        text = masked(value)
        return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
    if isinstance(value, Mapping):
        return {str(key): _bounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_bounded(item) for item in value]
    return value
