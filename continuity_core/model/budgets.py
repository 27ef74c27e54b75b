"""Budgets that a plugin declares; the engine counts and charges them."""

from __future__ import annotations

import attrs

from continuity_core.model.checks import some_count, some_seconds


@attrs.frozen
class Budget:
    """At most ``limit`` resumes in a run; charged beside ``max_resumes``."""

    name: str
    limit: int = attrs.field(validator=some_count)
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
    waits: int = attrs.field(validator=some_count)
    held: float = attrs.field(validator=some_seconds)
    later_waits: int = attrs.field(validator=some_count)
    later_held: float = attrs.field(validator=some_seconds)
