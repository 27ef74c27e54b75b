"""Where a plugin stands in the chain, and the budgets that it brings."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core.model.words import Words


class Stage(Words):
    """The stages of the chain, in order: a guard sees what it guards against."""

    WAIT = "wait"
    """Waits that the provider asks for."""
    RECOVER = "recover"
    """Asking for another turn after a broken one."""
    TAIL = "tail"
    """Going on where a run would end without an answer."""
    GUARD = "guard"
    """Limits on all of the above."""
    REDACT = "redact"
    """Keeping what is broken out of requests."""

    @property
    def rank(self) -> int:
        """Place in the chain, from 0."""
        return _STAGE_RANKS[self]


_STAGE_RANKS = {stage: rank for rank, stage in enumerate(Stage)}


def _names(value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"plugin names must be a tuple or list, not the single text {value!r}")
    return tuple(value)


@attrs.frozen(kw_only=True)
class Order:
    """A plugin's place: its stage, and the plugins of that stage it runs before or after."""

    stage: Stage = attrs.field(default=Stage.RECOVER, converter=Stage)
    runs_before: tuple[str, ...] = attrs.field(default=(), converter=_names)
    runs_after: tuple[str, ...] = attrs.field(default=(), converter=_names)
