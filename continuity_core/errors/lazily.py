"""``functools.cached_property`` without the lock that it takes before Python 3.12."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as lazy
else:

    class lazy:  # noqa: N801
        """A property that is computed at the first question and then stands in the instance."""

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function = function
            self.__doc__ = function.__doc__
            self.name = function.__name__

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["lazy"]
