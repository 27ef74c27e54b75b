"""Reading the parameters of a request: what is wrong is named by its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import attrs

from continuity_core.hosts.stdio.rpc import Code, RpcError

T = TypeVar("T")


@attrs.frozen
class Fields:
    """An object among the parameters. Other keys are ignored: newer clients may send them."""

    values: Mapping[str, Any]
    where: str = "params"

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required where there is no default."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        """A text, or ``None``."""
        return None if self.values.get(key) is None else self.text(key)

    def word(self, key: str, words: Sequence[str]) -> str:
        """One of these words."""
        value = self.values.get(key)
        if not isinstance(value, str) or value not in words:
            raise self._wrong(key, " or ".join(words))
        return value

    def optional_word(self, key: str, words: Sequence[str]) -> str | None:
        """One of these words, or ``None``."""
        return None if self.values.get(key) is None else self.word(key, words)

    def yes(self, key: str) -> bool:
        """True or false; false by default."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def optional_yes(self, key: str) -> bool | None:
        """True, false, or ``None``."""
        return None if self.values.get(key) is None else self.yes(key)

    def count(self, key: str, default: int | None = None) -> int:
        """A whole number >= 0; required where there is no default."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(key, "a whole number >= 0")
        return value

    def optional_count(self, key: str) -> int | None:
        """A whole number >= 0, or ``None``."""
        return None if self.values.get(key) is None else self.count(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty by default."""
        value = self._list(key)
        if not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of texts")
        return tuple(value)

    def pairs(self, key: str) -> Mapping[str, str]:
        """An object of texts; empty by default."""
        value = self.mapping(key)
        if not all(isinstance(item, str) for item in value.values()):
            raise self._wrong(key, "an object of texts")
        return value

    def mapping(self, key: str) -> Mapping[str, Any]:
        """An object; empty by default."""
        value = self.values.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(key, "an object")
        return value

    def instant(self, key: str) -> datetime | None:
        """An ISO 8601 instant with a zone, or ``None``."""
        value = self.optional_text(key)
        if value is None:
            return None
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            instant = None
        if instant is None or instant.tzinfo is None:
            raise self._wrong(key, "an ISO 8601 instant with a zone")
        return instant

    def object(self, key: str) -> Fields:
        """A required object."""
        if self.values.get(key) is None:
            raise self._wrong(key, "an object")
        return Fields(self.mapping(key), f"{self.where}.{key}")

    def optional_object(self, key: str) -> Fields | None:
        """An object, or ``None``."""
        return None if self.values.get(key) is None else self.object(key)

    def each(self, key: str, read: Callable[[Fields], T]) -> tuple[T, ...]:
        """A list of objects, each read by ``read``; empty by default."""
        found = []
        for number, item in enumerate(self._list(key)):
            if not isinstance(item, dict):
                raise self._wrong(f"{key}[{number}]", "an object")
            found.append(read(Fields(item, f"{self.where}.{key}[{number}]")))
        return tuple(found)

    def _list(self, key: str) -> Sequence[Any]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def _wrong(self, key: str, meant: str) -> RpcError:
        return RpcError(Code.INVALID_PARAMS, f"{self.where}.{key} must be {meant}")
