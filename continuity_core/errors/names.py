"""Reading a code or an exception's name that no table lists by the words it is built of."""

from __future__ import annotations

import re
from functools import lru_cache

from continuity_core.errors.stems import stem
from continuity_core.errors.tables.name_words import NAME_WORDS
from continuity_core.errors.tables.wait_fields import NO_WAIT_WORDS, UNIT_WORDS, WAIT_WORDS, WaitKind
from continuity_core.errors.tables.words_together import Combination

_NAME = re.compile(r"[A-Za-z][\w.-]{3,79}")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
"""``TPMLimitExceeded``: ``TPM``, ``Limit``, ``Exceeded``; ``model_busy``: ``model``, ``busy``."""


@lru_cache(maxsize=1024)
def row_of_name(name: str) -> Combination | None:
    """The row of :data:`NAME_WORDS` for the words of ``name``, or None where they tell nothing."""
    if _NAME.fullmatch(name) is None:
        return None
    words = frozenset([stem(word) for word in words_of_name(name)])
    return next((row for row in NAME_WORDS if row.matches(words)), None)


@lru_cache(maxsize=1024)
def wait_kind_of(name: str) -> WaitKind | None:
    """How a field of this name holds a wait, by its words (``cooldown_seconds_remaining``), or None."""
    words = frozenset(words_of_name(name))
    if words.isdisjoint(WAIT_WORDS) or not words.isdisjoint(NO_WAIT_WORDS):
        return None
    return next((UNIT_WORDS[word] for word in sorted(words) if word in UNIT_WORDS), None)


def words_of_name(name: str) -> list[str]:
    """The words in lower case of which ``name`` is built."""
    return [word.lower() for word in _WORD.findall(name)]
