"""Reading what was saved as JSON: every value is checked, since storage may be damaged or edited by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs


@attrs.frozen
class SavedFields:
    """The keys of one saved object. What is missing or of another kind is a ``ValueError`` with its place."""

    data: Any
    place: str = ""

    def count(self, name: str) -> int:
        """A whole number >= 0."""
        value = self._value(name)
        if type(value) is not int or value < 0:
            raise self._wrong(name, "a whole number >= 0")
        return value

    def seconds(self, name: str) -> float:
        """A finite number >= 0."""
        value = self._value(name)
        if type(value) is int and 0 <= value < 2**53:
            return value
        if type(value) is float and 0 <= value < math.inf:
            return value
        raise self._wrong(name, "a number of seconds")

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._value(name)
        if type(value) is not bool:
            raise self._wrong(name, "true or false")
        return value

    def text(self, name: str) -> str:
        """Text, which may be empty."""
        value = self._value(name)
        if not isinstance(value, str):
            raise self._wrong(name, "text")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Text or null."""
        return None if self._value(name) is None else self.text(name)

    def instant(self, name: str) -> datetime:
        """An instant with its zone, in ISO 8601."""
        try:
            value = datetime.fromisoformat(self.text(name))
        except ValueError:
            value = datetime.min  # noqa: DTZ901
        if value.tzinfo is None:
            raise self._wrong(name, "an instant with its zone")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._value(name)
        if not isinstance(value, list | tuple) or not all(isinstance(member, str) for member in value):
            raise self._wrong(name, "a list of texts")
        return tuple(value)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object with any values."""
        value = self._value(name)
        if not isinstance(value, Mapping):
            raise self._wrong(name, "an object")
        return value

    def counts(self, name: str) -> dict[str, int]:
        """An object of whole numbers >= 0."""
        fields = SavedFields(self.mapping(name), self._place(name))
        return {key: fields.count(key) for key in fields.data}

    def inner(self, name: str) -> SavedFields:
        """An object in this one."""
        return SavedFields(self.mapping(name), self._place(name))

    def inner_or_none(self, name: str) -> SavedFields | None:
        """An object in this one, or null."""
        return None if self._value(name) is None else self.inner(name)

    def objects(self, name: str) -> dict[str, SavedFields]:
        """An object of objects."""
        fields = self.inner(name)
        return {key: fields.inner(key) for key in fields.data}

    def listed(self, name: str) -> list[SavedFields]:
        """A list of objects."""
        value = self._value(name)
        if not isinstance(value, list | tuple) or not all(isinstance(member, Mapping) for member in value):
            raise self._wrong(name, "a list of objects")
        return [SavedFields(member, f"{self._place(name)}[{n}]") for n, member in enumerate(value)]

    def _value(self, name: str) -> Any:
        try:
            return self.data[name]
        except KeyError:
            raise ValueError(f"{self._place(name)} is missing") from None

    def _place(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def _wrong(self, name: str, meant: str) -> ValueError:
        return ValueError(f"{self._place(name)} is not {meant}")
