"""Phrases: literals that may have gaps, looked for in flattened lower-case text in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Generic, TypeVar

import attrs

T = TypeVar("T")

GAP = 160
"""The most characters that a ``*`` stands for."""


@attrs.frozen
class Phrase:
    """A literal with ``*`` for a gap of at most ``GAP`` characters.

    In the tables of this package a phrase begins where a word begins, unless a ``*`` stands before it; ``<`` at
    the beginning and ``>`` at the end ask for the edge of a word to which ``_`` and ``-`` belong, too, and ``^``
    and ``$`` for the edge of the text.
    """

    pieces: tuple[str, ...]
    word_before: bool = False
    word_after: bool = False
    text_start: bool = False
    text_end: bool = False

    @classmethod
    def literal(cls, pattern: str) -> Phrase:
        """A phrase in which only ``*`` has a meaning."""
        pieces = tuple(piece for piece in pattern.lower().split("*") if piece)
        if not pieces:
            raise ValueError(f"{pattern!r} matches everything: write at least one character beside '*'")
        return cls(pieces)

    @classmethod
    def table_entry(cls, pattern: str) -> Phrase:
        """A phrase in the notation of the tables."""
        pattern = pattern.removeprefix("*")
        start, end = pattern[:1], pattern[-1:]
        inner = pattern[start in "<^" : len(pattern) - (end in ">$")]
        return cls(
            tuple(inner.split("*")),
            word_before=start == "<",
            word_after=end == ">",
            text_start=start == "^",
            text_end=end == "$",
        )

    def matches(self, text: str) -> bool:
        """Whether the phrase stands in ``text``."""
        first = self.pieces[0]
        if first not in text:
            return False
        if len(self.pieces) == 1 and not (
            self.word_before or self.word_after or self.text_start or self.text_end
        ):
            return True
        start = 0 if self.text_start else text.find(first)
        while start >= 0:
            if text.startswith(first, start) and self._stands_at(text, start):
                return True
            start = -1 if self.text_start else text.find(first, start + 1)
        return False

    def _stands_at(self, text: str, start: int) -> bool:
        if self.word_before and start > 0 and _in_word(text[start - 1]):
            return False
        end = start + len(self.pieces[0])
        for piece in self.pieces[1:]:
            found = text.find(piece, end, end + GAP + len(piece))
            if found < 0:
                return False
            end = found + len(piece)
        if self.text_end:
            return end == len(text)
        return not (self.word_after and end < len(text) and _in_word(text[end]))


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_-"


@attrs.frozen
class Wording:
    """A phrase that someone's error text is known to have."""

    phrase: Phrase
    name: str
    """The pattern as written in the table."""
    source: str
    """Who says it."""
    unless: tuple[str, ...] = ()
    """Substrings that show it is something else."""

    def matches(self, text: str) -> bool:
        return self.phrase.matches(text) and not any(other in text for other in self.unless)


def said(source: str, *patterns: str, unless: tuple[str, ...] = ()) -> tuple[Wording, ...]:
    """Table rows: what ``source`` is known to say."""
    return tuple(Wording(Phrase.table_entry(pattern), pattern, source, unless) for pattern in patterns)


_TOKEN = re.compile(r"[a-z0-9]+")
_PREFIX = 4


class FoldedText:
    """Flattened lower-case text with the words in it, which tell what is worth looking for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> frozenset[str]:
        """Every run of letters and digits of ASCII."""
        return frozenset(_TOKEN.findall(self.text))

    @cached_property
    def ascii_only(self) -> bool:
        return self.text.isascii()


class WordIndex(Generic[T]):
    """Values by the first word of a literal, so that a text asks only for those that can stand in it."""

    def __init__(self) -> None:
        self._by_word: dict[str, list[T]] = {}
        self._by_prefix: dict[str, list[T]] = {}
        self._always: list[T] = []
        self._other_scripts: list[T] = []

    def add(self, literal: str, value: T, *, open_end: bool, anywhere: bool = False) -> None:
        """``open_end``: the last word of the literal may go on in the text. ``anywhere``: also inside a word."""
        first = _TOKEN.search(literal)
        if not literal.isascii():
            self._other_scripts.append(value)
        elif anywhere or first is None:
            self._always.append(value)
        elif open_end and first.end() == len(literal) and len(first.group()) >= _PREFIX:
            self._by_prefix.setdefault(first.group()[:_PREFIX], []).append(value)
        else:
            self._by_word.setdefault(first.group(), []).append(value)

    def candidates(self, folded: FoldedText) -> Iterator[T]:
        """The values whose literal may stand in the text."""
        by_word, by_prefix = self._by_word, self._by_prefix
        for word in folded.words:
            if word in by_word:
                yield from by_word[word]
        for prefix in {word[:_PREFIX] for word in folded.words}:
            if prefix in by_prefix:
                yield from by_prefix[prefix]
        yield from self._always
        if not folded.ascii_only:
            yield from self._other_scripts


class Tables:
    """All tables of wordings under one index."""

    def __init__(self, tables: dict[str, tuple[Wording, ...]]) -> None:
        self._index: WordIndex[tuple[str, int, Wording]] = WordIndex()
        for name, rows in tables.items():
            for rank, row in enumerate(rows):
                phrase = row.phrase
                self._index.add(
                    phrase.pieces[0],
                    (name, rank, row),
                    open_end=len(phrase.pieces) > 1 or not phrase.word_after,
                    anywhere=row.name.startswith("*"),
                )

    def candidates(self, folded: FoldedText) -> dict[str, list[Wording]]:
        """By table the rows that may stand in the text, in the table's order."""
        found: dict[str, list[tuple[int, Wording]]] = {}
        for name, rank, row in self._index.candidates(folded):
            found.setdefault(name, []).append((rank, row))
        return {name: [row for _, row in sorted(rows, key=_rank)] for name, rows in found.items()}


def _rank(item: tuple[int, Wording]) -> int:
    return item[0]


def first_match(rows: Iterable[Wording], text: str) -> Wording | None:
    """The first of ``rows`` that stands in ``text``."""
    for row in rows:
        if row.matches(text):
            return row
    return None
