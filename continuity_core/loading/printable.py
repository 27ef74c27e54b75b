"""Text of others (names, paths, values, error texts) made fit for a terminal or a log line."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]{0,8}[0-~]?"
)
_UNPRINTABLE = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))

TEXT_LIMIT = 500
"""Characters that are kept of one text."""


def printable(text: object, limit: int = TEXT_LIMIT) -> str:
    """``text`` on one line of at most ``limit``, without escape sequences, control and direction characters.

    Runs of white space become one blank. An object whose own text cannot be had is named by its type.
    """
    try:
        words = str(text)
    except Exception:
        words = f"({type(text).__name__} whose text cannot be read)"
    words = _ESCAPE_SEQUENCE.sub("", words[: 8 * limit])
    kept = (
        " " if character.isspace() else character
        for character in words
        if character.isspace() or unicodedata.category(character) not in _UNPRINTABLE
    )
    line = " ".join("".join(kept).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def describe_exception(error: BaseException) -> str:
    """An exception's type and text on one line."""
    text = printable(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def describe_with_place(error: BaseException) -> str:
    """As :func:`describe_exception`, with the file and line that raised it, where Python code did."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace.tb_frame.f_code.co_filename if trace is not None else ""
    if trace is None or place.startswith("<"):
        return describe_exception(error)
    return f"{describe_exception(error)} ({printable(place, 200)}, line {trace.tb_lineno})"


def value_text(value: object) -> str:
    """A value on one line, fit for a terminal; a list without its brackets."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value) or "(empty)"
    return "unset" if value is None else printable(value.value if isinstance(value, Enum) else value)
