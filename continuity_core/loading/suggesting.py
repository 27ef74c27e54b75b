"""What a misspelt word may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, allowed: Iterable[str]) -> str | None:
    """The allowed word that ``word`` resembles most; ``None`` where none is near."""
    by_form = {_form(candidate): candidate for candidate in sorted(allowed, reverse=True)}
    near = difflib.get_close_matches(_form(word), by_form, n=1, cutoff=0.6)
    return by_form[near[0]] if near else None


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """``Did you mean …?``, or the allowed words where none is near."""
    words = sorted(allowed)
    near = closest(word, words)
    if near is not None:
        return f'Did you mean "{near}"?'
    return f"Known are {', '.join(words)}." if words else ""


def _form(word: str) -> str:
    return word[:100].lower().replace("-", "_")
