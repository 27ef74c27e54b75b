"""Reading values out of JSON while every mistake is noted with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from continuity_core.loading.errors import Problem
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.model.masking import printable

T = TypeVar("T")


class BadValueError(Exception):
    """A value was noted as wrong; what depends on it is not read."""


@attrs.frozen
class Place:
    """A value in a file, named by its path."""

    value: Any
    where: str
    problems: list[Problem] = attrs.field(repr=False)

    def wrong(self, what: str, mend: str = "") -> BadValueError:
        """Note a problem; raise what is returned where nothing can be read in its stead."""
        self.problems.append(Problem(where=self.where, what=what, mend=mend))
        return BadValueError()

    def _must_be(self, meant: str) -> BadValueError:
        return self.wrong(f"must be {meant}, not {printable(repr(self.value), 80)}")

    # ---------------------------------------------------------------- simple values

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self._must_be("a text")
        return self.value

    def words(self) -> str:
        """A text that is not blank."""
        if not self.text().strip():
            raise self._must_be("a text with words in it")
        return self.text()

    def yes_or_no(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self._must_be("true or false")
        return self.value

    def number(self) -> float:
        """A finite number of at least 0."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or self.value < 0:
            raise self._must_be("a number of at least 0")
        return self.value

    def count(self) -> int:
        """A whole number of at least 0."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < 0:
            raise self._must_be("a whole number of at least 0")
        return self.value

    def one_of(self, words: Sequence[str]) -> str:
        """One of these words."""
        if self.value not in words:
            mend = did_you_mean(self.value, words) if isinstance(self.value, str) else ""
            raise self.wrong(
                f"must be one of {', '.join(words)}, not {printable(repr(self.value), 80)}", mend
            )
        return str(self.value)

    # ---------------------------------------------------------------- lists and objects

    def items(self) -> Iterator[Place]:
        """The items of a list, numbered from 1."""
        if not isinstance(self.value, list):
            raise self._must_be("a list")
        for number, item in enumerate(self.value, start=1):
            yield Place(item, f"{self.where}[{number}]", self.problems)

    def each(self, read: Callable[[Place], T]) -> tuple[T, ...]:
        """Read every item of a list; wrong ones are noted and left out."""
        return tuple(value for item in self.items() for value in item.tried(read))

    def fields(self) -> Mapping[str, Place]:
        """The values of an object by key."""
        if not isinstance(self.value, dict):
            raise self._must_be("an object")
        return {key: Place(item, f"{self.where}.{key}", self.problems) for key, item in self.value.items()}

    def known_fields(self, known: Sequence[str]) -> Mapping[str, Place]:
        """The same; a key that is not known is noted and left out."""
        fields = self.fields()
        for key, field in fields.items():
            if key not in known:
                field.wrong("is no key of the format", did_you_mean(key, known))
        return {key: field for key, field in fields.items() if key in known}

    def tried(self, read: Callable[[Place], T]) -> Iterator[T]:
        """The value, or nothing where it is wrong."""
        try:
            yield read(self)
        except BadValueError:
            return


def taken(fields: Mapping[str, Place], readers: Mapping[str, Callable[[Place], Any]]) -> dict[str, Any]:
    """Read the fields that there are by the reader of their key; wrong ones are noted and left out."""
    return {
        key: value for key, field in fields.items() if key in readers for value in field.tried(readers[key])
    }
