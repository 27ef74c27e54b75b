"""Which of some thousand phrases can stand in a text: told by the words that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_NO_WORD = bytes(code if chr(code).isdecimal() or "a" <= chr(code) <= "z" else 32 for code in range(256))
"""Turns every ASCII character that is neither a lower-case letter nor a digit into a blank."""
_OTHER_SCRIPT = re.compile(r"[^\x00-\x7f]")
_PREFIX = 4
_beginning = itemgetter(slice(_PREFIX))


def _tokens(text: str) -> list[str]:
    """Every run of lower-case letters and digits of ASCII, in order."""
    return text.encode("ascii", "replace").translate(_NO_WORD).decode("ascii").split()


class FoldedText:
    """Flattened lower-case text with the words in it, which tell what is worth looking for."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = _tokens(text)
        beginnings = list(map(_beginning, tokens))
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
    """A phrase and the value that it stands for. Thousands are made at the first question: kept cheap."""

    pieces: tuple[str, ...]
    """The literals of the phrase; anything may stand between them."""
    value: T
    open_end: bool
    """The last word of the last piece may go on in the text."""
    anywhere: bool = False
    """The first piece may begin inside a word of the text, as every other one may."""


class _Sure(NamedTuple):
    """What stands in every text in which a phrase stands."""

    pairs: list[tuple[str, str]]
    words: list[str]


def _sure(entry: IndexEntry[T]) -> _Sure:
    pairs: list[tuple[str, str]] = []
    words: list[str] = []
    last = len(entry.pieces) - 1
    for number, piece in enumerate(entry.pieces):
        tokens = _tokens(piece)
        if (number > 0 or entry.anywhere) and piece[:1].isascii() and piece[:1].isalnum():
            del tokens[0]
        if tokens:
            open_end = (number < last or entry.open_end) and piece[-1].isalnum()
            known = tokens[:-1] if open_end and len(tokens[-1]) < _PREFIX else tokens
            pairs += [(word, following[:_PREFIX]) for word, following in pairwise(known)]
            words += tokens[:-1] if open_end else tokens
    return _Sure(pairs, words)


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
    """Values by what their phrase surely brings into a text, so that a text asks only for few of them.

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
            other_script = [one for piece in entry.pieces for one in _OTHER_SCRIPT.findall(piece)]
            sure = _sure(entry)
            beginning = _tokens(entry.pieces[0])[:1]
            if other_script:
                characters.append((other_script, entry.value))
            elif sure.pairs:
                pairs.append((sure.pairs, entry.value))
            elif sure.words:
                words.append((sure.words, entry.value))
            elif beginning and not entry.anywhere and len(beginning[0]) >= _PREFIX:
                # the beginning of a word of every text in which the phrase stands
                prefixes.append(([beginning[0][:_PREFIX]], entry.value))
            else:
                self._always.append(entry.value)
        self._by_pair = _Keyed(pairs)
        self._by_word = _Keyed(words)
        self._by_prefix = _Keyed(prefixes)
        self._by_character = _Keyed(characters)

    def candidates(self, folded: FoldedText) -> list[T]:
        """The values whose phrase may stand in the text, in no order."""
        found = self._always + self._by_pair.values(folded.pairs) + self._by_word.values(folded.words)
        found += self._by_prefix.values(folded.prefixes)
        if not folded.ascii_only:
            found += self._by_character.values(folded.other_characters)
        return found
