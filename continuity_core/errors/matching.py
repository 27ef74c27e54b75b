"""Phrases: literals that may have gaps, looked for in flattened lower-case text in linear time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from continuity_core.errors.lazily import lazy

T = TypeVar("T")

GAP = 160
"""The most characters that a ``*`` stands for."""


class Phrase(NamedTuple):
    """A literal with ``*`` for a gap of at most ``GAP`` characters.

    In the tables of this package a phrase begins where a word begins, unless a ``*`` stands before it. There
    ``<`` at the beginning and ``>`` at the end ask for the edge of a word to which ``_`` and ``-`` belong,
    too, and ``^`` and ``$`` for the edge of the text.
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


class Wording(NamedTuple):
    """A phrase that someone's error text is known to have."""

    name: str
    """The pattern as written in the table."""
    source: str
    """Who says it."""
    unless: tuple[str, ...] = ()
    """Substrings that show it is something else."""

    @property
    def phrase(self) -> Phrase:
        """What the pattern means; read when a text may have it, since most are never asked for."""
        return _phrase(self.name)

    @property
    def first(self) -> str:
        """The first piece of the phrase."""
        name = self.name
        start = 1 if name[0] == "*" else 0
        start += name[start] in "<^"
        star = name.find("*", start)
        return name[start:star] if star >= 0 else name[start : len(name) - (name[-1] in ">$")]

    def matches(self, text: str) -> bool:
        return self.phrase.matches(text) and not any(other in text for other in self.unless)


@cache
def _phrase(pattern: str) -> Phrase:
    return Phrase.table_entry(pattern)


def said(source: str, *patterns: str, unless: tuple[str, ...] = ()) -> tuple[Wording, ...]:
    """Table rows: what ``source`` is known to say."""
    return tuple([Wording(pattern, source, unless) for pattern in patterns])


_TOKEN = re.compile(r"[a-z0-9]+")
_PREFIX = 4


class FoldedText:
    """Flattened lower-case text with the words in it, which tell what is worth looking for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @lazy
    def words(self) -> frozenset[str]:
        """Every run of letters and digits of ASCII."""
        return frozenset(_TOKEN.findall(self.text))

    @lazy
    def prefixes(self) -> frozenset[str]:
        """The beginnings of the words."""
        return frozenset([word[:_PREFIX] for word in self.words])

    @lazy
    def ascii_only(self) -> bool:
        """Whether there is no other script."""
        return self.text.isascii()


class IndexEntry(NamedTuple, Generic[T]):
    """A literal and the value that it stands for. Thousands are made at the first question: kept cheap."""

    literal: str
    value: T
    open_end: bool
    """Its last word may go on in the text."""
    anywhere: bool = False
    """It may begin inside a word of the text."""


def _whole_words(entry: IndexEntry[T], words: list[str]) -> list[str]:
    """Of the ``words`` of the literal those that are whole words of every text in which it stands."""
    first = 1 if entry.anywhere and entry.literal[0].isalnum() else 0
    last = len(words) - 1 if entry.open_end and entry.literal[-1].isalnum() else len(words)
    return words[first:last] if first or last < len(words) else words


class WordIndex(Generic[T]):
    """Values by a word of their literal, so that a text asks only for those that can stand in it.

    Of the words that a literal holds whole, the one counts that the fewest other literals hold.
    """

    def __init__(self, entries: Iterable[IndexEntry[T]]) -> None:
        self._by_word: dict[str, list[T]] = {}
        self._by_prefix: dict[str, list[T]] = {}
        self._always: list[T] = []
        self._other_scripts: list[T] = []
        shared: Counter[str] = Counter()
        with_words: list[tuple[list[str], T]] = []
        for entry in entries:
            if not entry.literal.isascii():
                self._other_scripts.append(entry.value)
                continue
            words = _TOKEN.findall(entry.literal)
            whole = _whole_words(entry, words)
            if whole:
                shared.update(whole)
                with_words.append((whole, entry.value))
            elif words and not entry.anywhere and len(words[0]) >= _PREFIX:
                # the beginning of a word of every text in which the literal stands
                self._by_prefix.setdefault(words[0][:_PREFIX], []).append(entry.value)
            else:
                self._always.append(entry.value)
        for whole, value in with_words:
            rarest = min(whole, key=shared.__getitem__) if len(whole) > 1 else whole[0]
            self._by_word.setdefault(rarest, []).append(value)

    def candidates(self, folded: FoldedText) -> list[T]:
        """The values whose literal may stand in the text."""
        found = list(self._always)
        for word in folded.words:
            found += self._by_word.get(word, ())
        for prefix in folded.prefixes:
            found += self._by_prefix.get(prefix, ())
        if not folded.ascii_only:
            found += self._other_scripts
        return found


class Tables:
    """All tables of wordings under one index."""

    def __init__(self, tables: dict[str, tuple[Wording, ...]]) -> None:
        self.tables = tables
        self._index = WordIndex(
            IndexEntry(
                row.first,
                (row.first, name, rank, row),
                "*" in row.name[1:] or row.name[-1] != ">",
                row.name[0] == "*",
            )
            for name, rows in tables.items()
            for rank, row in enumerate(rows)
        )

    def matches(self, folded: FoldedText) -> dict[str, Wording]:
        """By table the first of its rows that stands in the text."""
        text = folded.text
        found: dict[str, tuple[int, Wording]] = {}
        for first, name, rank, row in self._index.candidates(folded):
            if first in text and (name not in found or rank < found[name][0]) and row.matches(text):
                found[name] = (rank, row)
        return {name: row for name, (_, row) in found.items()}
