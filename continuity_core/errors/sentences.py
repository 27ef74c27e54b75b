"""The words of each sentence by their stems, and which combinations of words they can be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from continuity_core.errors.stems import stem
from continuity_core.errors.tables.combinations import Combination

_END = re.compile(r"[.;!?|\u00b7\u2022](?:\s|$)|[{}]")
_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
_NO_WORD = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))


def sentences_of(text: str) -> list[frozenset[str]]:
    """The stems of the words of each sentence of the lower-case ``text``."""
    return [stems_of(sentence) for sentence in _END.split(text)]


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words of the lower-case ``text``; a name with underscores is one word."""
    plain = text.isascii() and "_" not in text
    return frozenset(map(stem, text.translate(_NO_WORD).split() if plain else _WORD.findall(text)))


class CombinationIndex:
    """Rows of a table by the words of their shortest group, so that a text asks only for few of them."""

    def __init__(self, rows: Sequence[Combination]) -> None:
        self._rows = rows
        self._ranks: dict[str, list[int]] = {}
        for rank, row in enumerate(rows):
            for word in min(row.groups, key=len):
                self._ranks.setdefault(word, []).append(rank)
        self._words = frozenset(self._ranks)

    def possible(self, stems: frozenset[str]) -> list[Combination]:
        """The rows, in order, of which a text with these stems may have a sentence."""
        ranks: set[int] = set()
        for word in self._words & stems:
            ranks.update(self._ranks[word])
        return [row for row in map(self._rows.__getitem__, sorted(ranks)) if row.may_match(stems)]
