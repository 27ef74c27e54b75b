"""What every adapter of a framework does in the same way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from logging import Logger
from typing import Any, Generic, TypeVar

from continuity_core.continuity import Continuity

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


def continuity_of(
    continuity: Continuity | None,
    *,
    settings: Mapping[str, Any] | None = None,
    plugins: Iterable[object] = (),
) -> Continuity:
    """The one that is given, else one that is loaded with these settings and plugins.

    Raises ``ValueError`` where both are given, and ``ConfigurationError`` where what is loaded is not valid.
    """
    plugins = tuple(plugins)
    if continuity is None:
        return Continuity.load(settings=settings, plugins=plugins)
    if settings is not None or plugins:
        raise ValueError("give settings and plugins to Continuity.load(...), or no continuity")
    return continuity


class Cautions:
    """Warns of what does not go together with continuity: of each thing once."""

    def __init__(self, log: Logger, begins: str = "") -> None:
        """Each warning goes to ``log`` and ``begins`` with these words."""
        self._log = log
        self._begins = begins
        self._told: set[str] = set()

    def tell(self, message: str, *arguments: object) -> None:
        """Warn, unless the same was said before."""
        said = message % arguments if arguments else message
        if said not in self._told:
            self._told.add(said)
            self._log.warning("%s%s", self._begins, said)

    def forget(self) -> None:
        """Say everything once more."""
        self._told.clear()


class Newest(Generic[KeyT, ValueT]):
    """The values that were put in last, by their keys; at most ``limit`` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[KeyT, ValueT] = OrderedDict()

    def put(self, key: KeyT, value: ValueT) -> None:
        """Keep it, and let the oldest go where there are too many."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    def get(self, key: KeyT) -> ValueT | None:
        """The value, where it is kept."""
        return self._kept.get(key)

    def pop(self, key: KeyT) -> ValueT | None:
        """The value, which is kept no longer."""
        return self._kept.pop(key, None)

    def items(self) -> list[tuple[KeyT, ValueT]]:
        """All of them, the newest last."""
        return list(self._kept.items())

    def __contains__(self, key: KeyT) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)
