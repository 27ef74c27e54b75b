"""Showing the log ``continuity`` to a person: one line a record, fit for a terminal."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from continuity_core.model.masking import shown

LEVELS = ("debug", "info", "warning", "error")

LOGGER = logging.getLogger("continuity")
_LINE_LIMIT = 2000


class LineFormatter(logging.Formatter):
    """``continuity: warning: …``: without control characters and secrets; a traceback keeps its lines."""

    def format(self, record: logging.LogRecord) -> str:
        line = shown(record.getMessage(), _LINE_LIMIT)
        text = f"{record.name}: {record.levelname.lower()}: {line}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            text = "\n".join([text, *(f"  {_indented(line)}" for line in trace)])
        return text


def _indented(line: str) -> str:
    words = shown(line, _LINE_LIMIT)
    return " " * (len(line) - len(line.lstrip(" "))) + words


@contextmanager
def log_to(stream: TextIO, level: str = "warning") -> Iterator[logging.Handler]:
    """Show what the log ``continuity`` says from ``level`` on, one of ``LEVELS``, while the block runs.

    Handlers that an application has set up get the records as well.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    handler.setLevel(level.upper())
    before = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(min(handler.level, LOGGER.getEffectiveLevel()))
    try:
        yield handler
    finally:
        LOGGER.setLevel(before)
        LOGGER.removeHandler(handler)


@contextmanager
def only_from(level: str) -> Iterator[None]:
    """Keep what is less than ``level`` out of the log ``continuity`` while the block runs."""
    before = LOGGER.level
    LOGGER.setLevel(level.upper())
    try:
        yield
    finally:
        LOGGER.setLevel(before)


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep what this thread says out of the log ``continuity`` while the block runs."""
    thread = threading.get_ident()

    def is_another_s(record: logging.LogRecord) -> bool:
        return threading.get_ident() != thread

    LOGGER.addFilter(is_another_s)
    try:
        yield
    finally:
        LOGGER.removeFilter(is_another_s)
