"""Options of plugins and of the core: frozen attrs classes whose fields carry help and a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

import attrs

OPTION_METADATA: Final = "continuity_option"
"""Key of an attrs field's metadata under which its :class:`OptionInfo` is found."""

UNLIMITED: Final = "unlimited"
"""The word for a limit that only the ceilings bound."""

T = TypeVar("T")


class Tighten(StrEnum):
    """How a configuration file that was merely found may change an option."""

    LOWER = "lower"
    """To a smaller number; to anything smaller than ``unlimited``."""
    OFF = "off"
    """From true to false."""
    ON = "on"
    """From false to true."""
    MORE = "more"
    """To a longer list: names are added, none is removed."""
    LATER = "later"
    """To a later member of its enumeration, which goes from doing much to doing little."""


@attrs.frozen(kw_only=True)
class OptionInfo:
    """What the loader and the reference know of an option."""

    help: str
    read: Callable[[Any], Any]
    tighten: Tighten | None = None
    """``None``: only trusted configuration may set it."""


def option(default: object, *, read: Callable[[Any], T], help: str, tighten: Tighten | None = None) -> T:
    """Declare one option of an options class.

    ``read`` turns what a configuration says (TOML values, or text from the environment) into the value, and
    raises ``ValueError`` or ``TypeError`` with a message that says what is allowed; it must accept its own
    results. ``default`` goes through it too.
    """
    info = OptionInfo(help=help, read=read, tighten=tighten)
    return cast(T, attrs.field(default=default, converter=read, metadata={OPTION_METADATA: info}))


def count(value: object) -> int:
    """Read a whole number >= 0."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"takes a whole number >= 0, not {value!r}")
    return value


def count_or_unlimited(value: object) -> int | None:
    """Read a whole number >= 0, or ``unlimited`` (given back as ``None``)."""
    if value is None or value == UNLIMITED:
        return None
    try:
        return count(value)
    except ValueError:
        raise ValueError(f'takes a whole number >= 0 or "{UNLIMITED}", not {value!r}') from None


def flag(value: object) -> bool:
    """Read true or false; from text also ``1``/``0``, ``yes``/``no``, ``on``/``off``."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
    raise ValueError(f"takes true or false, not {value!r}")


def names(value: object) -> tuple[str, ...]:
    """Read a list of names; from text, separated by commas. Doubles are dropped."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, Iterable):
        raise ValueError(f"takes a list of names, not {value!r}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise ValueError(f"takes a list of names, and {item!r} is none")
    return tuple(dict.fromkeys(items))


def choice(allowed: type[StrEnum]) -> Callable[[object], Any]:
    """Make a reader for one of the values of an enumeration."""

    def read(value: object) -> StrEnum:
        try:
            return allowed(str(value))
        except ValueError:
            words = ", ".join(f'"{member.value}"' for member in allowed)
            raise ValueError(f"takes one of {words}, not {value!r}") from None

    return read
