"""The words of each sentence by their stems, and which combinations of words they can be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from continuity_core.errors.stems import stem
from continuity_core.errors.tables.words_together import Combination

_KEY = "api_key"
_KEYS = ("_api_key", "_apikey", "_access_key", "_secret_key", "_api_token", "_auth_token")
"""Endings of names of keys: ``example_api_key`` is an ``api_key``, too."""
_END = re.compile(r"[.;!?|\u00b7\u2022](?:\s|$)|[{}]")
_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
_NO_WORD = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))


def sentences_of(text: str) -> list[frozenset[str]]:
    """The stems of the words of each sentence of the lower-case ``text``."""
    return [stems_of(sentence) for sentence in _END.split(text)]


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words of the lower-case ``text``; a name with underscores is one word."""
    if "_" not in text:
        return frozenset(
            map(stem, text.translate(_NO_WORD).split() if text.isascii() else _WORD.findall(text))
        )
    words = _WORD.findall(text)
    keys = (_KEY for word in words if word.endswith(_KEYS))
    return frozenset(map(stem, itertools.chain(words, keys)))


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
