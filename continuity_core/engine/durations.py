"""Durations as people write them: ``90``, ``"90s"``, ``"1h30m"``, ``"10 min"``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from continuity_core.model.options import UNLIMITED

NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""Of a decimal number without a sign."""

UNITS: Mapping[str, float] = MappingProxyType(
    {
        name: seconds
        for seconds, names in (
            (86_400.0, ("d", "day", "days")),
            (3600.0, ("h", "hr", "hrs", "hour", "hours")),
            (60.0, ("m", "min", "mins", "minute", "minutes")),
            (1.0, ("s", "sec", "secs", "second", "seconds")),
            (0.001, ("ms", "millisecond", "milliseconds")),
        )
        for name in names
    }
)
"""Name of a unit → its seconds. ``m`` is minutes."""

_LONGEST_TEXT = 100
_PART = re.compile(rf"\s*({NUMBER})\s*([^\W\d_]*)\s*")


def parse_duration(value: object) -> float:
    """The seconds of a number, a ``timedelta`` or a text such as ``"1h30m"``; a bare number is seconds.

    The parts of a compound go from the larger unit to the smaller, each unit once.
    ValueError says what is wrong with any other value; the result is finite and at least 0.
    """
    if isinstance(value, timedelta):
        return _checked(value.total_seconds(), value)
    if isinstance(value, str):
        return _checked(_parse_text(value), value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a duration is a number of seconds or a text such as '1h30m', not {value!r}")
    return _checked(value, value)


def duration_or_unlimited(value: object) -> float | None:
    """As :func:`parse_duration`, or ``unlimited`` (given back as ``None``)."""
    if value is None or value == UNLIMITED:
        return None
    try:
        return parse_duration(value)
    except ValueError as error:
        raise ValueError(f'{error}; or write "{UNLIMITED}"') from None


def _checked(seconds: float, value: object) -> float:
    try:
        seconds = float(seconds)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise ValueError(f"a duration must be finite and at least 0, not {str(value)[:_LONGEST_TEXT]}")
    return seconds


def _parse_text(text: str) -> float:
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"a duration has at most {_LONGEST_TEXT} characters, not {len(text)}")
    position, total, previous = 0, 0.0, math.inf
    while position < len(text) or position == 0:
        part = _PART.match(text, position)
        if part is None:
            raise ValueError(
                f"{text!r} is no duration: found {text[position:].strip()!r} where a number is expected; "
                "write for example 90, '90s', '10 min' or '1h30m'"
            )
        number, unit = part.groups()
        if not unit:
            if position or part.end() < len(text):
                raise ValueError(f"{text!r} is no duration: {number} has no unit (d, h, min, s, ms)")
            return float(number)
        seconds = _seconds_of(unit, text)
        if seconds >= previous:
            raise ValueError(f"{text!r} is no duration: its units must go from the larger to the smaller")
        total, previous, position = total + float(number) * seconds, seconds, part.end()
    return total


def _seconds_of(unit: str, text: str) -> float:
    seconds = UNITS.get(unit.lower())
    if seconds is None:
        near = difflib.get_close_matches(unit.lower(), UNITS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"{text!r} is no duration: {unit!r} is no unit; units are d, h, min (or m), s, ms{hint}"
        )
    return seconds


def duration_text(seconds: float) -> str:
    """The duration as people write it, and as it reads back as the same: ``5h20min``, ``2.5s``."""
    if seconds != int(seconds) or not 60 <= seconds < 1e9:
        return f"{number_text(seconds)}s"
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (left, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count)


def number_text(value: float) -> str:
    """The shortest text that reads back as ``value``: ``5``, ``2.5``, ``1e+20``."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
