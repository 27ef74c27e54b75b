"""Waits that a text announces: a cue, words that may stand between, and a duration or an instant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from continuity_core.errors.durations import Duration, read_duration, read_stopwatch
from continuity_core.errors.tables.calendar_words import (
    CLOCK_WORDS,
    DAY_WORDS,
    LEAD_WORDS,
    MONTHS,
    WEEKDAYS,
)
from continuity_core.errors.tables.cues import (
    BEFORE_CLOCKS,
    CLIENT_NOTICES,
    FILLERS,
    FORWARD,
    HEDGES,
    NOT_AFTER,
    OWN_ENDINGS,
    OWN_FORMS,
    TRAILING,
    WINDOWS,
)
from continuity_core.errors.tables.units import NUMBER_WORDS
from continuity_core.errors.word_index import FoldedText, IndexEntry, WordIndex
from continuity_core.model.cause import Guidance

if TYPE_CHECKING:
    from continuity_core.errors.instants import Instant

_GAP_AND_WORD = re.compile(r"([\s:=,\"'`(\[~≈·∙•|<>*→-]{0,12})([^\W\d_]{1,16})?")
_WORD = re.compile(r"[^\W\d_]{1,16}")
_ENDING = re.compile(r"[-_]?[^\W\d_]{0,12}")
_NUMBER_START = re.compile(r"(?<!\d)(?<!\d[.,:])\d|(?<!\w)p(?=t?\d)")
_ATTEMPT = re.compile(r"[^\w]{0,8}\(?(?:attempt|retry|try) #?\d")
_ISO_DURATION = re.compile(r"p(?=t?\d)")
_VALUE_WORDS = frozenset({*NUMBER_WORDS, *MONTHS, *WEEKDAYS, *DAY_WORDS, *CLOCK_WORDS})
"""Words with which a duration or an instant can begin."""
_HEDGES = tuple(HEDGES)
_NEGATIVE = re.compile(r"[\s:=(]-\d")
_CLOCK_BEHIND_AT = re.compile(r"\d{1,2}(?:h\d{2}(?![\dm])|:\d\d:\d\d)")
"""``13h00`` and ``13:00:30``: clock times behind ``at``, durations elsewhere."""
_CLOCK_WITH_ZONE = re.compile(r"\d{1,2}:\d\d:\d\d ?(?:utc|gmt|[ap]\.?m\b|z\b|[a-z]{2,3}t\b|\([a-z]{2,16}/)")
_BEFORE_STOPWATCHES = (" in", "wait", "cooldown", "cool-down", "remaining", "time left")
_FILLER_LIMIT = 7
_COUNTER = re.compile(r"[^\d()]{0,24}\((?:第|attempt|retry|try)? ?#?\d{1,3} ?(?:/|of) ?\d{1,3}(?!\d)")
"""How often a client has tried: ``(2/5)``, ``(第 2/5 次)``."""
_TRAILING_WINDOW = 48
_VERB_WINDOW = 14
_OCCURRENCE_LIMIT = 32
"""Announcements of one kind that are looked at in one text."""


class _Cue(NamedTuple):
    """Words beside which a time stands."""

    words: str
    endings: tuple[str, ...] | None
    """How the last word may go on."""
    trailing: bool
    """The time stands before them, not behind."""


_CUES = WordIndex(
    IndexEntry((cue.words,), cue, open_end=True)
    for cue in (
        *(_Cue(words, endings, False) for words, endings in FORWARD.items()),
        *(_Cue(words, None, True) for words in TRAILING),
    )
)


class Announcement(NamedTuple):
    """A wait that a text announces."""

    guidance: Guidance
    instant: bool
    zoned: bool


def announcements(
    folded: FoldedText, *, now: datetime, default_zone: tzinfo, provider_zone: Callable[[], tzinfo | None]
) -> Iterator[Announcement]:
    """Every wait that the text announces. Linear in the text.

    ``provider_zone`` gives the zone in which this provider writes instants without one, if that is known.
    """
    text = folded.text
    reader = _Reader(text, now, default_zone, provider_zone)
    cues = [(position, cue) for cue in _CUES.candidates(folded) for position in _occurrences(text, cue.words)]
    cues.sort(key=itemgetter(0))
    for position, cue in cues:
        found = None if cue.trailing else reader.after(cue, position)
        if found is not None:
            yield found
    for position in _occurrences(text, "|"):
        found = reader.after_bar(position)
        if found is not None:
            yield found
    for position, cue in cues:
        found = reader.before(position) if cue.trailing else None
        if found is not None:
            yield found


def _occurrences(text: str, literal: str) -> list[int]:
    positions: list[int] = []
    position = text.find(literal)
    while position >= 0 and len(positions) < _OCCURRENCE_LIMIT:
        positions.append(position)
        position = text.find(literal, position + len(literal))
    return positions


def _word_before(text: str, position: int) -> str:
    """The word at most four characters before ``position``; of a long one its last 16 characters."""
    end = position
    while end > max(0, position - 4) and not _in_word(text[end - 1]):
        end -= 1
    start = end
    while start > max(0, end - 16) and _in_word(text[start - 1]):
        start -= 1
    return text[start:end]


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_'"


def _is_own(text: str, end: int) -> bool:
    """Whether the verb behind a time says that the client itself tries again."""
    if _COUNTER.match(text, end) is not None:
        return True
    if text.isascii():
        return False
    behind = text[end : end + _VERB_WINDOW]
    return any(map(behind.__contains__, OWN_ENDINGS))


def _stopwatch(text: str, position: int) -> Duration | None:
    """``4:59`` where no time of day can stand: behind ``in``, or before ``minutes``."""
    shown = read_stopwatch(text, position)
    if shown is None or text[shown.end - 1].isalpha():
        return shown
    before = text[max(0, position - 16) : position].rstrip(" :=(-")
    return shown if before.endswith(_BEFORE_STOPWATCHES) else None


def _with_lead_words(text: str, start: int) -> int:
    """Where the words of a day or a half of it begin that stand right before a clock time, as in Chinese."""
    for _ in range(2):
        before = text[max(0, start - 4) : start].rstrip()
        word = next((word for word in LEAD_WORDS if before.endswith(word)), None)
        if word is None:
            return start
        start = text.rindex(word, 0, start)
    return start


class _Reader:
    def __init__(
        self,
        text: str,
        now: datetime,
        default_zone: tzinfo,
        provider_zone: Callable[[], tzinfo | None],
    ) -> None:
        self.text = text
        self.now = now
        self.default_zone = default_zone
        self.provider_zone = provider_zone
        self._told: set[tuple[int, bool, bool, bool]] = set()
        """Where values were looked for, behind which words: ``try again in`` announces twice."""
        self._read_to = 0
        """Where the value of an announcement without hedges was found: what stands before belongs to it."""

    def after(self, cue: _Cue, position: int) -> Announcement | None:
        """What follows the cue at ``position``."""
        if position < self._read_to:
            return None
        text = self.text
        words, endings, _trailing = cue
        end = position + len(words)
        if endings is not None:
            if position > 0 and (text[position - 1].isalnum() or text[position - 1] == "_"):
                return None
            ending = _ENDING.match(text, end)
            if ending is None or ending.group() not in endings:
                return None
            end = ending.end()
            if words in NOT_AFTER and _word_before(text, position) in NOT_AFTER[words]:
                return None
        elif words[0].isascii() or words[0].isalpha():
            ending = _WORD.match(text, end)
            if ending is not None and words[-1] < "\u2e80":
                end = ending.end()
            if text[position:end] in OWN_FORMS or _word_before(text, position) in OWN_FORMS:
                return None
        return self._value_after(position, end)

    def _value_after(self, start: int, position: int) -> Announcement | None:
        text = self.text
        hedged = window = clock = False
        for _ in range(_FILLER_LIMIT):
            step = _GAP_AND_WORD.match(text, position)
            if step is None:
                return None
            between, name = step.groups()
            position = step.end(1)
            hedged = hedged or "~" in between or "≈" in between
            if between.endswith("-") and _NEGATIVE.match(text, position - 2):
                return None
            if (
                name is None
                or name in _VALUE_WORDS
                or (name[0] == "p" and _ISO_DURATION.match(text, position))
            ):
                if (position, hedged, window, clock) in self._told:
                    return None
                self._told.add((position, hedged, window, clock))
                found = self._value_at(start, position, hedged, window, clock)
                if found is not None:
                    self._read_to = 0 if hedged or window else position
                    return found
            if name is None:
                return None
            if name in FILLERS or name in HEDGES:
                hedged = hedged or name in HEDGES
                window = window or name in WINDOWS
                clock = name in BEFORE_CLOCKS
                position = step.end()
            elif not name[0].isascii() and name[0] in FILLERS:
                hedged = hedged or name[0] in HEDGES
                position += 1
            else:
                return None
        return None

    def _value_at(
        self, start: int, position: int, hedged: bool, window: bool, clock: bool = False
    ) -> Announcement | None:
        text = self.text
        is_clock = _CLOCK_WITH_ZONE.match(text, position) or (
            clock and _CLOCK_BEHIND_AT.match(text, position)
        )
        duration = None if is_clock else (_stopwatch(text, position) or read_duration(text, position))
        if duration is not None:
            if window or _ATTEMPT.match(text, duration.end) or _is_own(text, duration.end):
                return None
            return self._of_duration(duration, start, hedged)
        instant, zoned = self._instant(position)
        if instant is None or (window and not any(map(str.isdigit, text[position : instant.end]))):
            return None  # ``every Monday`` tells how often, not when next
        guidance = Guidance(
            until=instant.at,
            approximate=hedged or instant.coarse,
            evidence=text[start : instant.end].strip()[:80],
        )
        return Announcement(guidance, True, zoned)

    def _instant(self, position: int) -> tuple[Instant | None, bool]:
        """The instant at ``position``, and whether its zone is known."""
        from continuity_core.errors.instants import read_instant

        instant = read_instant(self.text, position, now=self.now, default_zone=self.default_zone)
        if instant is None or instant.zoned:
            return instant, instant is not None
        zone = self.provider_zone()
        if zone is None:
            return instant, False
        return read_instant(self.text, position, now=self.now, default_zone=zone), True

    def _of_duration(self, duration: Duration, start: int, hedged: bool) -> Announcement:
        guidance = Guidance(
            seconds=duration.seconds,
            approximate=hedged or duration.coarse,
            evidence=self.text[start : duration.end].strip()[:80],
        )
        return Announcement(guidance, False, True)

    def after_bar(self, position: int) -> Announcement | None:
        """``limit reached|1762952400`` (Claude Code)."""
        if not self.text[position + 1 : position + 11].isdecimal():
            return None
        return self._value_at(position, position + 1, False, True)

    def before(self, position: int) -> Announcement | None:
        """What ends right before the trailing cue at ``position``."""
        text = self.text
        floor = max(0, position - _TRAILING_WINDOW)
        for number in _NUMBER_START.finditer(text, floor, position):
            start = _with_lead_words(text, number.start())
            lead = text[max(0, start - 24) : start]
            duration = read_duration(text, start)
            if duration is not None and not text[duration.end : position].strip(" ."):
                if any(map(lead.__contains__, CLIENT_NOTICES)) or _is_own(text, duration.end):
                    return None
                hedged = lead.rstrip().endswith(_HEDGES)
                return self._of_duration(duration, start, hedged)
            instant, zoned = self._instant(start)
            if instant is not None and not text[instant.end : position].strip():
                guidance = Guidance(
                    until=instant.at, approximate=instant.coarse, evidence=text[start:position].strip()[:80]
                )
                return Announcement(guidance, True, zoned)
        return None
