"""Validators that several parts of the model share."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, TypeAlias

import attrs

LONGEST_SECONDS: Final = 1000 * 365.25 * 86400
"""A thousand years in seconds: nobody means a longer duration, and calendars do not reach far beyond."""

_Attribute: TypeAlias = "attrs.Attribute[Any]"


def some_text(_: object, attribute: _Attribute, value: object) -> None:
    """Text with more than white space."""
    if not isinstance(value, str) or not value or value.isspace():
        raise ValueError(f"{attribute.name} must be text that says something, not {value!r}")


def text_or_none(_: object, attribute: _Attribute, value: object) -> None:
    """Text, which may be empty, or nothing."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{attribute.name} must be text or None, not {value!r}")


def some_seconds(_: object, attribute: _Attribute, value: object) -> None:
    """A number of seconds from 0 to a thousand years."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= LONGEST_SECONDS  # NaN is none of these either.
    ):
        raise ValueError(
            f"{attribute.name} must be a number of seconds from 0 to {LONGEST_SECONDS:.0f}, not {value!r}"
        )


def seconds_or_none(_: object, attribute: _Attribute, value: object) -> None:
    """A number of seconds from 0 to a thousand years, or nothing."""
    if value is not None:
        some_seconds(_, attribute, value)


def some_count(_: object, attribute: _Attribute, value: object) -> None:
    """A whole number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{attribute.name} must be a whole number >= 0, not {value!r}")


def some_instant(_: object, attribute: _Attribute, value: object) -> None:
    """An instant with a time zone."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise ValueError(f"{attribute.name} must be a datetime with a time zone, not {value!r}")


def instant_or_none(_: object, attribute: _Attribute, value: object) -> None:
    """An instant with a time zone, or nothing."""
    if value is not None:
        some_instant(_, attribute, value)


def exactly_one(owner: str, **values: object) -> None:
    """Raise ``ValueError`` unless exactly one of the values is given."""
    if list(values.values()).count(None) != len(values) - 1:
        raise ValueError(f"{owner} takes exactly one of {' and '.join(values)}")
