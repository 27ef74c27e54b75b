"""Phrases: literals that may have gaps, looked for in flattened lower-case text in linear time."""

from __future__ import annotations

import attrs

GAP = 160
"""The most characters that a ``*`` stands for."""


@attrs.frozen
class Phrase:
    """A literal with ``*`` for a gap of at most ``GAP`` characters.

    In the tables of this package, ``<`` at the beginning and ``>`` at the end ask for the edge of a word (``_``
    and ``-`` belong to words), ``^`` and ``$`` for the edge of the text.
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


def first_match(table: tuple[Wording, ...], text: str) -> Wording | None:
    """The first row of ``table`` that stands in ``text``."""
    for wording in table:
        if wording.phrase.pieces[0] in text and wording.matches(text):
            return wording
    return None
