"""Reading what a text in another language than English is about."""

from __future__ import annotations

import re
from functools import cache

from continuity_core.errors.tables.other_languages import CONCEPTS, STATEMENTS, Statement
from continuity_core.errors.word_index import FoldedText, IndexEntry, WordIndex

_ENGLISH = frozenset(
    {
        "the",
        "your",
        "been",
        "please",
        "you",
        "was",
        "with",
        "not",
        "and",
        "that",
        "have",
        "from",
        "again",
        "this",
    }
    | {"has", "are", "reached", "exceeded", "requested", "failed", "its", "while", "after", "when", "before"}
)
"""Words of English alone: a text in ASCII with two of them is English."""
_LETTER = re.compile(r"[\u00c0-\u024f\u0370-\u1fff\u2e80-\uffef]")
"""A letter that English has not; punctuation is none."""
_ALONE = {row.concepts[0]: row for row in STATEMENTS if len(row.concepts) == 1}


@cache
def _index() -> WordIndex[tuple[str, str]]:
    return WordIndex(
        IndexEntry((stem.lstrip("*"),), (stem, concept), open_end=True, anywhere=stem[0] == "*")
        for concept, stems in CONCEPTS.items()
        for stem in stems
    )


def statement_in(folded: FoldedText) -> Statement | None:
    """What the text says in one of the languages of the table, or None."""
    text = folded.text
    if folded.ascii_only or _LETTER.search(text) is None:
        if len(folded.words & _ENGLISH) >= 2:
            return None
        if not folded.ascii_only:
            folded = FoldedText(text.encode("ascii", "ignore").decode())
    found = {concept for stem, concept in _index().candidates(folded) if _begins_a_word(stem, text)}
    if len(found) < 2:
        return next(map(_ALONE.get, found), None)
    return next((row for row in STATEMENTS if found.issuperset(row.concepts)), None)


def _begins_a_word(stem: str, text: str) -> bool:
    if stem[0] == "*":
        return stem[1:] in text
    position = text.find(stem)
    while position > 0 and stem[0] < "\u0e00" and text[position - 1].isalpha():
        position = text.find(stem, position + 1)
    return position >= 0
