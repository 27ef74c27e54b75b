"""Changing immutable values on the hot path."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def changed(value: T, **changes: Any) -> T:
    """A copy of an attrs instance with these fields changed; validators and converters do not run again.

    For classes without slots. It takes a quarter of the time of ``attrs.evolve``, which goes through every
    field and calls the class: a boundary changes several values of 15 to 25 fields each.
    """
    copy = object.__new__(type(value))
    fields = copy.__dict__
    fields.update(value.__dict__)
    fields.update(changes)
    return copy
