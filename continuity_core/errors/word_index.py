"""Which of some thousand phrases can stand in a text: told by the words that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
Key: TypeAlias = str | tuple[str, str]

_NO_WORD = bytes(code if chr(code).isdecimal() or "a" <= chr(code) <= "z" else 32 for code in range(256))
"""Turns every ASCII character that is neither a lower-case letter nor a digit into a blank."""
_OTHER_SCRIPT = re.compile(r"[^\x00-\x7f]")
_PREFIX = 4
_beginning = itemgetter(slice(_PREFIX))


def _tokens(text: str) -> list[str]:
    """Every run of lower-case letters and digits of ASCII, in order."""
    return text.encode("ascii", "replace").translate(_NO_WORD).decode("ascii").split()


class FoldedText:
    """Flattened lower-case text with what tells which phrases are worth looking for."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = _tokens(text)
        beginnings = list(map(_beginning, tokens))
        self.ascii_only: Final = text.isascii()
        """Whether there is no other script."""
        self.words: Final = frozenset(tokens)
        """The runs of letters and digits of ASCII."""
        keys: set[Key] = set(zip(tokens, beginnings[1:], strict=False))
        keys.update(tokens, beginnings)
        if not self.ascii_only:
            keys.update(_OTHER_SCRIPT.findall(text))
        self.keys: Final = keys
        """The words, their beginnings, each word with the beginning of the next one, whatever stands between
        them, and the characters beyond ASCII."""


class IndexEntry(NamedTuple, Generic[T]):
    """A phrase and the value that it stands for. Thousands are made at the first question: kept cheap."""

    pieces: tuple[str, ...]
    """The literals of the phrase; anything may stand between them."""
    value: T
    open_end: bool
    """The last word of the last piece may go on in the text."""
    anywhere: bool = False
    """The first piece may begin inside a word of the text, as every other one may."""


def _keys(entry: IndexEntry[T]) -> Sequence[Key]:
    """What stands in every text in which the phrase stands, the most telling kind alone."""
    characters: list[str] = []
    pairs: list[tuple[str, str]] = []
    words: list[str] = []
    last = len(entry.pieces) - 1
    for number, piece in enumerate(entry.pieces):
        characters += _OTHER_SCRIPT.findall(piece)
        tokens = _tokens(piece)
        if (number > 0 or entry.anywhere) and piece[:1].isascii() and piece[:1].isalnum():
            del tokens[0]
        if tokens:
            open_end = (number < last or entry.open_end) and piece[-1].isalnum()
            known = tokens[:-1] if open_end and len(tokens[-1]) < _PREFIX else tokens
            pairs += [(word, following[:_PREFIX]) for word, following in pairwise(known)]
            words += tokens[:-1] if open_end else tokens
    if characters or pairs or words:
        return characters or pairs or words
    beginning = _tokens(entry.pieces[0])[:1]
    if beginning and not entry.anywhere and len(beginning[0]) >= _PREFIX:
        return [beginning[0][:_PREFIX]]
    return ()


class WordIndex(Generic[T]):
    """Values by what their phrase surely brings into a text, so that a text asks only for few of them.

    That is a word with the beginning of the next, or a word, or the beginning of one, or a character of
    another script; of several the one that the fewest other phrases bring.
    """

    def __init__(self, entries: Iterable[IndexEntry[T]]) -> None:
        self._always: list[T] = []
        keyed: list[tuple[Sequence[Key], T]] = []
        for entry in entries:
            keys = _keys(entry)
            if keys:
                keyed.append((keys, entry.value))
            else:
                self._always.append(entry.value)
        shared = Counter(key for keys, _ in keyed for key in keys)
        self._values: dict[Key, list[T]] = {}
        for keys, value in keyed:
            rarest = min(keys, key=shared.__getitem__) if len(keys) > 1 else keys[0]
            self._values.setdefault(rarest, []).append(value)
        self._keys = frozenset(self._values)

    def candidates(self, folded: FoldedText) -> list[T]:
        """The values whose phrase may stand in the text, in no order."""
        found = self._always.copy()
        for key in self._keys & folded.keys:
            found += self._values[key]
        return found
