"""Stems of English words: a table holds one form of a word for all (``close``, ``closed``, ``closing``)."""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = ("ing", "ed", "es", "s", "e")
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
    if word in _AS_THEY_ARE or word.endswith("eed"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
