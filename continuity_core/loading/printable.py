"""Text of others (names, paths, values, error texts) made fit for a terminal or a log line."""

from __future__ import annotations

from enum import Enum

from continuity_core.model import masking


def printable(text: object, limit: int = 500) -> str:
    """``text`` on one line of at most ``limit`` characters, without control characters and escape sequences.

    An object whose own text cannot be had is named by its type.
    """
    try:
        words = str(text)
    except Exception:
        words = f"({type(text).__name__} whose text cannot be read)"
    return masking.printable(words, limit)


def describe_exception(error: BaseException) -> str:
    """An exception's type and text on one line, without what looks like a secret."""
    text = masking.masked(printable(error))
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
