"""What every step on the way to a verdict has at hand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from typing import NamedTuple

from continuity_core.errors.evidence import Evidence
from continuity_core.errors.guidance import guidance_of
from continuity_core.errors.languages import statement_in
from continuity_core.errors.lazily import lazy
from continuity_core.errors.matching import Wording
from continuity_core.errors.names import row_of_name
from continuity_core.errors.sentences import CombinationIndex
from continuity_core.errors.tables.early_words import SPOKEN_WINDOW
from continuity_core.errors.tables.other_languages import Statement
from continuity_core.errors.tables.untelling import UNTELLING, UNTELLING_PHRASES
from continuity_core.errors.tables.words_together import Combination
from continuity_core.errors.wordings import WORDINGS
from continuity_core.model.cause import CauseKind, Guidance

USAGE_WINDOW_SECONDS = 900.0
"""A stated wait longer than this makes a limit of vague wording a usage window."""

_RETURNS = ("refresh", "reset", "renew", "refill", "replenish", "regain")
_EXCEPTION = re.compile(r"(?<![\w.$])[\w.$]{1,120}(?:exception|error)\b")
_LETTERS = re.compile(r"[a-z]+")
_LONGEST_UNTELLING = max(map(len, UNTELLING))
_RETRY_FLAGS = frozenset({"retryable", "isretryable", "shouldretry", "xshouldretry", "canretry"})


class Verdict(NamedTuple):
    """What one step says."""

    kind: CauseKind
    why: str
    rule: str


class Deliberation:
    """One failure with its evidence, its guidance and the wordings that stand in it."""

    def __init__(self, evidence: Evidence, now: datetime, timezone: tzinfo) -> None:
        self.evidence = evidence
        self.now = now
        self.timezone = timezone

    @lazy
    def guidance(self) -> tuple[Guidance, ...]:
        """What the provider says on how long to wait, whatever kind of failure it is."""
        return guidance_of(self.evidence, now=self.now, timezone=self.timezone)

    def comes_back(self) -> bool:
        """Whether the text says when the balance is there again."""
        return bool(self.guidance) and any(word in self.evidence.text for word in _RETURNS)

    @lazy
    def matches(self) -> dict[str, Wording]:
        """By table the first row that the text has; a text with broken lines is looked at unbroken, too."""
        found = WORDINGS.matches(self.evidence.folded)
        if self.evidence.joined is not None:
            found = WORDINGS.matches(self.evidence.joined) | found
        return found

    @lazy
    def find(self) -> Callable[[str], Wording | None]:
        """Gives the first row of a table of wordings that the text has."""
        return self.matches.get

    @lazy
    def in_another_language(self) -> Statement | None:
        """What the text says in another language than English."""
        return statement_in(self.evidence.folded)

    def spoken(self, row: Combination) -> bool:
        """Whether the words of ``row`` stand together in a sentence of the text."""
        text = self.evidence.text
        for word in row.groups[0]:
            if word in text:  # a stem is the beginning of its word: most texts need not be taken apart
                return row.may_match(self.evidence.stems) and any(map(row.matches, self.evidence.sentences))
        return False

    def spoken_of(self, index: CombinationIndex) -> Iterator[Combination]:
        """The rows whose words stand together in a sentence of the text, in order."""
        return filter(self.spoken, index.possible(self.evidence.stems))

    def worded(self, table: str, kind: CauseKind, meaning: str) -> Verdict | None:
        """The verdict of a table of wordings, where one of its rows stands in the text."""
        found = self.find(table)
        if found is None:
            return None
        return Verdict(
            kind, f"The text says {shown(found)!r} ({found.source}): {meaning}.", f"{table}:{found.name}"
        )

    def worded_limit(self, wording: Wording | None) -> Verdict | None:
        """The verdict of a wording that speaks of some limit."""
        if wording is None:
            return None
        reason = f"the text says {shown(wording)!r} ({wording.source})"
        return self.limit(f"throttle:{wording.name}", reason)

    def limit(
        self,
        rule: str,
        reason: str,
        default: CauseKind = CauseKind.RATE_LIMIT,
        *,
        wait_decides: bool = False,
    ) -> Verdict:
        """A limit of unknown length: explicit words, else the stated wait, else the kind of bucket decide.

        With ``wait_decides`` a short stated wait makes it a throttle whatever the default.
        """
        window = self.find("usage")
        if window is not None:
            return Verdict(
                CauseKind.USAGE_LIMIT,
                f"A limit ({reason}) of a usage window: {shown(window)!r}.",
                f"usage:{window.name}",
            )
        if self.spoken(SPOKEN_WINDOW):
            return Verdict(
                CauseKind.USAGE_LIMIT, f"A limit ({reason}) of a usage window.", f"words:{SPOKEN_WINDOW.name}"
            )
        name = self._name_of_a_window()
        if name is not None:
            return Verdict(
                CauseKind.USAGE_LIMIT, f"A limit ({reason}) of a usage window: {name!r}.", "name:a window"
            )
        told = self.in_another_language
        if told is not None and told.kind is CauseKind.USAGE_LIMIT and default is not CauseKind.USAGE_LIMIT:
            return self.limit(
                rule,
                f"the text speaks of {told.name}",
                default=told.kind,
                wait_decides=told.name != "a window",
            )
        if self.find("short-window") is not None:
            return Verdict(CauseKind.RATE_LIMIT, f"A throttle of an hour at most: {reason}.", rule)
        longest = self.guidance[0].wait_from(self.now) if self.guidance else None
        if longest is not None and longest > USAGE_WINDOW_SECONDS:
            why = (
                f"A limit ({reason}) with a stated wait of more than {USAGE_WINDOW_SECONDS / 60:.0f} minutes."
            )
            return Verdict(CauseKind.USAGE_LIMIT, why, rule)
        if longest is not None and wait_decides:
            return Verdict(CauseKind.RATE_LIMIT, f"A limit ({reason}) with a short stated wait.", rule)
        if longest is None and self.find("daily") is not None:
            return Verdict(
                CauseKind.USAGE_LIMIT, f"A limit ({reason}) counted by the day, with no wait stated.", rule
            )
        return Verdict(default, f"A limit: {reason}.", rule)

    def named(self, row: Combination, name: str) -> Verdict:
        """The verdict of the words of which a code or an exception's name is built."""
        rule = f"name:{row.name}"
        if row.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
            return self.limit(rule, f"the words of {name!r} tell of {row.name}", default=row.kind)
        return Verdict(row.kind, f"The words of {name!r} tell of {row.name}.", rule)

    def _name_of_a_window(self) -> str | None:
        """A code or an exception whose words are those of a usage window."""
        evidence = self.evidence
        for plain in itertools.chain((code for code, _depth in evidence.codes), evidence.exception_names):
            spelling = evidence.spelled(plain)
            row = row_of_name(spelling)
            if row is not None and row.kind is CauseKind.USAGE_LIMIT:
                return spelling
        return None

    def _told_to_retry(self) -> bool | None:
        header = self.evidence.failure.headers.get("x-should-retry", "").strip().lower()
        if header in ("true", "false"):
            return header == "true"
        for field in self.evidence.fields:
            if field.name in _RETRY_FLAGS and isinstance(field.value, bool):
                return field.value
        return None

    def unless_told_otherwise(self, verdict: Verdict) -> Verdict:
        """``x-should-retry`` counts more than a bare status or an exception's type."""
        flag = self._told_to_retry()
        if (
            flag is None
            or (verdict.kind is CauseKind.TRANSIENT) == flag
            or verdict.kind is CauseKind.CONTEXT_OVERFLOW
        ):
            return verdict
        return self.retry_flag() or verdict

    def says_nothing(self) -> bool:
        """Whether the text has nothing but words that every failure has, and names of exceptions."""
        folded = self.evidence.folded
        telling = {word for word in folded.words if not _tells_nothing(word)}
        if telling and ("exception" in folded.text or "error" in folded.text):
            telling.difference_update(*map(_LETTERS.findall, _EXCEPTION.findall(folded.text)))
        if telling or folded.ascii_only:
            return not telling
        rest = folded.text
        for phrase in UNTELLING_PHRASES:
            rest = rest.replace(phrase, " ")
        return not any(character.isalpha() and not character.isascii() for character in rest)

    def retry_flag(self) -> Verdict | None:
        flag = self._told_to_retry()
        if flag is None:
            return None
        kind = CauseKind.TRANSIENT if flag else CauseKind.PERMANENT
        return Verdict(
            kind, f"The provider says that it {'may' if flag else 'must not'} be tried again.", "should-retry"
        )


def _tells_nothing(word: str) -> bool:
    """Whether ``word`` is one that every failure has, or two of them whose line break was lost."""
    if word in UNTELLING or not word.isalpha():
        return True
    if len(word) > 2 * _LONGEST_UNTELLING:
        return False
    return any(word[:end] in UNTELLING and word[end:] in UNTELLING for end in range(1, len(word)))


def shown(wording: Wording) -> str:
    """A wording as a person would quote it."""
    return "…".join(wording.phrase.pieces).strip()
