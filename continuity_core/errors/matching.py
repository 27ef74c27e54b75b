"""Phrases: literals that may have gaps, looked for in flattened lower-case text in linear time."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from continuity_core.errors.word_index import FoldedText, IndexEntry, WordIndex

GAP = 160
"""The most characters that a ``*`` stands for."""


class Phrase(NamedTuple):
    """A literal with ``*`` for a gap of at most ``GAP`` characters.

    In the tables of this package a phrase begins where a word begins, unless a ``*`` stands before it. There
    ``<`` at the beginning and ``>`` at the end ask for the edge of a word to which ``_`` and ``-`` belong,
    too, and ``^`` and ``$`` for the edge of the text.
    """

    pieces: tuple[str, ...]
    start: str = ""
    """The mark at the beginning, if there is one."""
    end: str = ""
    """The mark at the end, if there is one."""

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
        start = pattern[0] if pattern[0] in "<^" else ""
        end = pattern[-1] if pattern[-1] in ">$" else ""
        return cls(tuple(pattern[len(start) : len(pattern) - len(end)].split("*")), start, end)

    def matches(self, text: str) -> bool:
        """Whether the phrase stands in ``text``."""
        pieces = self.pieces
        if not all(map(text.__contains__, pieces)):
            return False
        if len(pieces) == 1 and not self.start and not self.end:
            return True
        first = pieces[0]
        if self.start == "^":
            return text.startswith(first) and self._stands_at(text, 0)
        position = text.find(first)
        while position >= 0:
            if self._stands_at(text, position):
                return True
            position = text.find(first, position + 1)
        return False

    def _stands_at(self, text: str, position: int) -> bool:
        if self.start == "<" and position > 0 and _in_word(text[position - 1]):
            return False
        end = position + len(self.pieces[0])
        for piece in self.pieces[1:]:
            found = text.find(piece, end, end + GAP + len(piece))
            if found < 0:
                return False
            end = found + len(piece)
        if self.end == "$":
            return end == len(text)
        return not (self.end and end < len(text) and _in_word(text[end]))


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
    def pieces(self) -> tuple[str, ...]:
        """The pieces of the phrase, without reading the rest of it."""
        name = self.name
        start = 1 if name[0] == "*" else 0
        start += name[start] in "<^"
        return tuple(name[start : len(name) - (name[-1] in ">$")].split("*"))

    def matches(self, text: str) -> bool:
        return self.phrase.matches(text) and not (self.unless and any(map(text.__contains__, self.unless)))


@cache
def _phrase(pattern: str) -> Phrase:
    return Phrase.table_entry(pattern)


def said(source: str, *patterns: str, unless: tuple[str, ...] = ()) -> tuple[Wording, ...]:
    """Table rows: what ``source`` is known to say."""
    return tuple([Wording(pattern, source, unless) for pattern in patterns])


class _Row(NamedTuple):
    """A row of a table in the index."""

    plain: bool
    """Its one piece is all that is asked for."""
    table: str
    rank: int
    wording: Wording


def _entry(table: str, rank: int, wording: Wording) -> IndexEntry[tuple[str, _Row]]:
    """The longest piece of a phrase and its row."""
    name, pieces = wording.name, wording.pieces
    plain = not wording.unless and pieces[0] == name
    value = (max(pieces, key=len), _Row(plain, table, rank, wording))
    return IndexEntry(pieces, value, name[-1] != ">", name[0] == "*")


class Tables:
    """All tables of wordings under one index."""

    def __init__(self, tables: dict[str, tuple[Wording, ...]]) -> None:
        self.tables = tables
        self._index = WordIndex(
            _entry(table, rank, row) for table, rows in tables.items() for rank, row in enumerate(rows)
        )

    def matches(self, folded: FoldedText) -> dict[str, Wording]:
        """By table the first of its rows that stands in the text."""
        text = folded.text
        found: dict[str, Wording] = {}
        ranks: dict[str, int] = {}
        for piece, row in self._index.candidates(folded):
            if piece in text:
                plain, table, rank, wording = row
                if rank < ranks.get(table, rank + 1) and (plain or wording.matches(text)):
                    found[table], ranks[table] = wording, rank
        return found
