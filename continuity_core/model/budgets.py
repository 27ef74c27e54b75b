"""Budgets that a plugin declares; the engine counts and charges them."""

from __future__ import annotations

import math

import attrs


def _count(_: object, attribute: attrs.Attribute[int], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{attribute.name} must be a whole number >= 0, not {value!r}")


def _seconds(_: object, attribute: attrs.Attribute[float], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{attribute.name} must be a finite number of seconds >= 0, not {value!r}")


@attrs.frozen
class Budget:
    """At most ``limit`` resumes in a run; charged beside ``max_resumes``."""

    name: str
    limit: int = attrs.field(validator=_count)
    within: str | None = None
    """Another budget of the same plugin that is charged too."""


@attrs.frozen(kw_only=True)
class Window:
    """The budget of waits for a usage limit: it belongs to the session and is not charged to ``max_resumes``.

    A wait may start only while fewer than ``waits`` were held in this window and they sum to less than
    ``held`` seconds. A turn that is no ``usage_limit`` ends the window. Once one was exhausted, the later
    windows of the session have ``later_waits`` and ``later_held`` instead.
    """

    name: str
    waits: int = attrs.field(validator=_count)
    held: float = attrs.field(validator=_seconds)
    later_waits: int = attrs.field(validator=_count)
    later_held: float = attrs.field(validator=_seconds)
