"""Which of some thousand literals can stand in a text: told by the words that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_NO_WORD = bytes(code if chr(code).isdecimal() or "a" <= chr(code) <= "z" else 32 for code in range(256))
"""Turns every ASCII character that is neither a lower-case letter nor a digit into a blank."""
_OTHER_SCRIPT = re.compile(r"[^\x00-\x7f]")
_PREFIX = 4


def _tokens(text: str) -> list[str]:
    """Every run of lower-case letters and digits of ASCII, in order."""
    return text.encode("ascii", "replace").translate(_NO_WORD).decode("ascii").split()


class FoldedText:
    """Flattened lower-case text with the words in it, which tell what is worth looking for."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = _tokens(text)
        beginnings = [word[:_PREFIX] for word in tokens]
        self.words: Final = frozenset(tokens)
        """The runs of letters and digits of ASCII."""
        self.pairs: Final = frozenset(zip(tokens, beginnings[1:], strict=False))
        """Each word with the beginning of the next one, whatever stands between them."""
        self.prefixes: Final = frozenset(beginnings)
        """The beginnings of the words."""
        self.ascii_only: Final = text.isascii()
        """Whether there is no other script."""
        self.other_characters: Final = frozenset(() if self.ascii_only else _OTHER_SCRIPT.findall(text))
        """The characters beyond ASCII."""


class IndexEntry(NamedTuple, Generic[T]):
    """A literal and the value that it stands for. Thousands are made at the first question: kept cheap."""

    literal: str
    value: T
    open_end: bool
    """Its last word may go on in the text."""
    anywhere: bool = False
    """It may begin inside a word of the text."""


def _sure_pairs(entry: IndexEntry[T], words: list[str]) -> list[tuple[str, str]]:
    """Of the pairs of the literal those that every text has in which it stands."""
    first = 1 if entry.anywhere and entry.literal[0].isalnum() else 0
    open_end = entry.open_end and len(words[-1]) < _PREFIX and entry.literal[-1].isalnum()
    sure = words[first : len(words) - open_end]
    return [(word, following[:_PREFIX]) for word, following in pairwise(sure)]


def _whole_words(entry: IndexEntry[T], words: list[str]) -> list[str]:
    """Of the ``words`` of the literal those that are whole words of every text in which it stands."""
    first = 1 if entry.anywhere and entry.literal[0].isalnum() else 0
    last = len(words) - 1 if entry.open_end and entry.literal[-1].isalnum() else len(words)
    return words[first:last] if first or last < len(words) else words


class _Keyed(Generic[K, T]):
    """Values by the one of their keys that the fewest others have."""

    def __init__(self, entries: list[tuple[Sequence[K], T]]) -> None:
        shared: Counter[K] = Counter()
        for keys, _ in entries:
            shared.update(keys)
        self._values: dict[K, list[T]] = {}
        for keys, value in entries:
            rarest = min(keys, key=shared.__getitem__) if len(keys) > 1 else keys[0]
            self._values.setdefault(rarest, []).append(value)
        self._keys = frozenset(self._values)

    def values(self, keys: frozenset[K]) -> list[T]:
        """The values that have one of the ``keys``."""
        found: list[T] = []
        for key in self._keys & keys:
            found += self._values[key]
        return found


class WordIndex(Generic[T]):
    """Values by what their literal surely brings into a text, so that a text asks only for few of them.

    That is a word with the beginning of the next, or a word, or the beginning of one, or a character of
    another script.
    """

    def __init__(self, entries: Iterable[IndexEntry[T]]) -> None:
        pairs: list[tuple[Sequence[tuple[str, str]], T]] = []
        words: list[tuple[Sequence[str], T]] = []
        prefixes: list[tuple[Sequence[str], T]] = []
        characters: list[tuple[Sequence[str], T]] = []
        self._always: list[T] = []
        for entry in entries:
            literal = entry.literal
            if not literal.isascii():
                characters.append((_OTHER_SCRIPT.findall(literal), entry.value))
                continue
            tokens = _tokens(literal)
            sure = _sure_pairs(entry, tokens) if len(tokens) > 1 else ()
            whole = () if sure else _whole_words(entry, tokens)
            if sure:
                pairs.append((sure, entry.value))
            elif whole:
                words.append((whole, entry.value))
            elif tokens and not entry.anywhere and len(tokens[0]) >= _PREFIX:
                # the beginning of a word of every text in which the literal stands
                prefixes.append(([tokens[0][:_PREFIX]], entry.value))
            else:
                self._always.append(entry.value)
        self._by_pair = _Keyed(pairs)
        self._by_word = _Keyed(words)
        self._by_prefix = _Keyed(prefixes)
        self._by_character = _Keyed(characters)

    def candidates(self, folded: FoldedText) -> list[T]:
        """The values whose literal may stand in the text, in no order."""
        found = self._always + self._by_pair.values(folded.pairs) + self._by_word.values(folded.words)
        found += self._by_prefix.values(folded.prefixes)
        if not folded.ascii_only:
            found += self._by_character.values(folded.other_characters)
        return found
