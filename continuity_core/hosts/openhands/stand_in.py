"""Standing for another object: all is its own but for what a subclass says."""

from __future__ import annotations

from typing import Any


class StandIn:
    """Passes on whatever it does not have, and is taken for what it stands for by checks of the type."""

    def __init__(self, own: Any) -> None:
        self._continuity_own = own

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self._continuity_own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._continuity_own, name)
