"""A plugin as the engine holds it: registered, ordered, and with what it declared."""

from __future__ import annotations

import attrs

from continuity_core.model.budgets import Budget, Window
from continuity_core.model.order import Order


@attrs.frozen(kw_only=True, eq=False)
class RegisteredPlugin:
    """A plugin that passed every check at registration."""

    name: str
    plugin: object
    order: Order = attrs.field(factory=Order)
    budgets: tuple[Budget | Window, ...] = ()
    edits_user_input: bool = False
    """Whether it declared that it may edit user and system entries."""
    distribution: str | None = None
    version: str | None = None
