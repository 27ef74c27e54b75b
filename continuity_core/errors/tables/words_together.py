"""Groups of words that tell together what an error is about, and words that many rows share.

A row holds groups of words. It applies to a sentence that has at least one word of every group and none of those
that make it something else. Rows are in the order of evidence.
"""

from __future__ import annotations

from typing import NamedTuple

from continuity_core.errors.stems import stem
from continuity_core.model.cause import CauseKind


def words_of(text: str) -> frozenset[str]:
    """The stems of the words of ``text``, as sentences have them."""
    return frozenset([stem(word) for word in text.split()])


class Combination(NamedTuple):
    """Groups of words that together tell what kind of failure it is."""

    name: str
    kind: CauseKind
    groups: tuple[frozenset[str], ...]
    unless: frozenset[str] = frozenset()

    def matches(self, sentence: frozenset[str]) -> bool:
        """Whether a sentence with these words is meant."""
        return self.may_match(sentence) and self.unless.isdisjoint(sentence)

    def may_match(self, words: frozenset[str]) -> bool:
        """Whether a sentence out of these words may be meant."""
        return not any(map(words.isdisjoint, self.groups))


TOO_MUCH = words_of(
    "long longer large larger big exceed exceeds exceeded exceeding over above overflow beyond surpasses supports"
)
REACHED = words_of(
    "reached exceeded exceed exceeds hit used exhausted consumed spent depleted no out over limited left cap capped none "
    "gone full"
)
RATES = words_of(
    "minute minutes min second seconds rpm tpm qps rps rate throttled throttle throughput hour hourly day daily week "
    "weekly month monthly today quota plan subscription bucket tier pricing concurrency"
)
RATES_OF_SECONDS = words_of(
    "minute minutes min second seconds rpm tpm rate throughput concurrent concurrency"
)
