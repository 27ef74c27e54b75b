"""Stems of English words: a table holds one form of a word for all (``close``, ``closed``, ``closing``)."""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = ("ing", "ed", "es", "s", "e")
_DIGITS = "0123456789"
_SHORTEST = 4
_AS_THEY_ARE = frozenset(
    {
        "billing",
        "connected",
        "includes",
        "limited",
        "loading",
        "messages",
        "missing",
        "needed",
        "pending",
        "process",
        "provided",
        "requested",
        "setting",
        "settings",
        "string",
    }
)
"""Words whose form tells something that their stem does not."""


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """``word``, in lower case, without the ending of a verb's form or a plural."""
    if word[0].isdigit():  # ``10mb`` is ``mb``
        word = word.lstrip(_DIGITS) or word
    if word in _AS_THEY_ARE or word.endswith("eed"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
