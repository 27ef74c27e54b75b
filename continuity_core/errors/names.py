"""Reading a code or an exception's name that no table lists by the words it is built of."""

from __future__ import annotations

import re
from functools import lru_cache

from continuity_core.errors.stems import stem
from continuity_core.errors.tables.name_words import NAME_WORDS
from continuity_core.errors.tables.words_together import Combination

_NAME = re.compile(r"[A-Za-z][\w.-]{3,79}")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
"""``TPMLimitExceeded``: ``TPM``, ``Limit``, ``Exceeded``; ``model_busy``: ``model``, ``busy``."""


@lru_cache(maxsize=1024)
def row_of_name(name: str) -> Combination | None:
    """The row of :data:`NAME_WORDS` for the words of ``name``, or None where they tell nothing."""
    if _NAME.fullmatch(name) is None:
        return None
    words = frozenset([stem(word.lower()) for word in _WORD.findall(name)])
    return next((row for row in NAME_WORDS if row.matches(words)), None)
