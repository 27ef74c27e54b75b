"""Reading a length of time at a place in a text, in any spelling that the tables know."""

from __future__ import annotations

import re
from typing import NamedTuple

from continuity_core.errors.tables.units import (
    ABBREVIATIONS,
    COMPACT,
    CONNECTORS,
    DAY,
    GUESSABLE,
    HOUR,
    MINUTE,
    NUMBER_WORDS,
    UNITS,
)
from continuity_core.model.checks import LONGEST_SECONDS

_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{1,15}){0,4}")
_RANGE = re.compile(r" ?[-\u2013] ?(\d{1,9})(?![\d.,:-])")
_SPACE = re.compile(r"[ \t\r\n-]{0,8}")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0963\u0e31-\u0e4e\u064b-\u0652]){0,15}")
"""Letters, and the marks of scripts that write vowels with them."""
_NUMBER_WORD = re.compile(r"[^\W\d_]{1,8}(?:-[^\W\d_]{1,8})?")
_JOINT = re.compile(r"[ \t\r\n,،、]{0,8}")
_ISO = re.compile(
    r"p(?:(\d{1,9})w)?(?:(\d{1,9})d)?"
    r"(?:t(?:(\d{1,9}(?:\.\d{1,12})?)h)?(?:(\d{1,9}(?:\.\d{1,12})?)m)?(?:(\d{1,12}(?:\.\d{1,12})?)s)?)?"
    r"(?![\w.])"
)
_CLOCK_LIKE = re.compile(r"(?:(\d{1,4})\.(?=\d\d:))?(\d{1,4}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)(?![\d:])")
"""``13:45:12``, or with days ``2.13:45:12``, as .NET writes a length of time."""
_STOPWATCH = re.compile(
    r"(\d{1,3}):([0-5]\d)(?![\d:.])(?! ?(?:[ap]\.?m\b|utc|gmt|z\b|[a-z]{2,3}t\b|\([a-z]{2,16}/))"
    r"(?: ?(m|h)(?:ins?|inutes?|rs?|ours?)?\b)?"
)
_AND_A_HALF = re.compile(r" (?:and a half|et demie?|y media|e meia|e mezz[ao]|und eine halbe)\b")
_TRAILING_MINUTES = re.compile(r"([0-5]\d)(?![\d.,:])")
"""The minutes of ``1h30``."""
_PARTS_LIMIT = 8


class Duration(NamedTuple):
    """A length of time and where its text ends."""

    seconds: float
    end: int
    coarse: bool
    """Told in prose and no finer than minutes, so that it may be rounded."""


def read_duration(text: str, position: int) -> Duration | None:
    """The duration that starts exactly at ``position`` of the lower-case ``text``, or None.

    Reads compounds (``1h2m3.5s``, ``5 days, 22 hours and 11 minutes``), ISO 8601 (``pt1h30m``), ``01:23:45``,
    number words (``an hour``, ``half an hour``) and units with one wrong letter.
    """
    found = _iso(text, position) or _clock_like(text, position) or _compound(text, position)
    return found if found is not None and found.seconds <= LONGEST_SECONDS else None


def read_stopwatch(text: str, position: int) -> Duration | None:
    """``4:59`` and ``2:30 hours`` at ``position``: minutes and seconds unless the unit behind says otherwise.

    Where no unit stands behind, only the caller can know that it is no time of day.
    """
    shown = _STOPWATCH.match(text, position)
    if shown is None:
        return None
    seconds = int(shown[1]) * MINUTE + int(shown[2])
    return Duration(seconds * 60 if shown[3] == "h" else seconds, shown.end(), False)


def _iso(text: str, position: int) -> Duration | None:
    if not text.startswith("p", position):
        return None
    match = _ISO.match(text, position)
    if match is None or not any(match.groups()):
        return None
    weeks, days, hours, minutes, seconds = (float(group) if group else 0.0 for group in match.groups())
    return Duration(
        weeks * 7 * DAY + days * DAY + hours * HOUR + minutes * MINUTE + seconds, match.end(), False
    )


def _clock_like(text: str, position: int, before: float = 0.0) -> Duration | None:
    match = _CLOCK_LIKE.match(text, position)
    if match is None:
        return None
    days, hours, minutes, seconds = (float(group or 0) for group in match.groups())
    return Duration(before + days * DAY + hours * HOUR + minutes * MINUTE + seconds, match.end(), False)


def _compound(text: str, position: int) -> Duration | None:
    total = 0.0
    end = position
    compact, fine, found = True, False, False
    last_unit = float("inf")
    for _ in range(_PARTS_LIMIT):
        if found and last_unit == DAY:
            clock = _clock_like(text, position, total)
            if clock is not None:
                return clock
        part = _part(text, position, first=not found)
        if part is None:
            break
        amount, unit, spelling, part_end = part
        half = _AND_A_HALF.match(text, part_end)
        if half is not None:
            amount, part_end = amount + 0.5, half.end()
        if unit >= last_unit:
            break  # "5 minutes 10 minutes" is two durations
        total += amount * unit
        end, last_unit, found = part_end, unit, True
        compact = compact and spelling in COMPACT
        fine = fine or unit <= 1.0
        position = _after_joint(text, _after_dot(text, end, spelling))
    if not found:
        return None
    if last_unit == HOUR and compact:
        trailing = _TRAILING_MINUTES.match(text, end)
        if trailing is not None:
            return Duration(total + int(trailing.group(1)) * MINUTE, trailing.end(), False)
    return Duration(total, end, not (compact or fine))


def _part(text: str, position: int, *, first: bool) -> tuple[float, float, str, int] | None:
    """An amount with its unit: the amount, the unit in seconds, its spelling, where it ends."""
    number = _NUMBER.match(text, position)
    if number is not None:
        amount, end = _amount(number.group()), number.end()
        upper = _RANGE.match(text, end)
        if upper is not None and _amount(upper.group(1)) > amount:  # 30-60 seconds
            amount, end = _amount(upper.group(1)), upper.end()
        unit_start = _end(_SPACE, text, end)
    elif first:
        word = _NUMBER_WORD.match(text, position)
        if word is None or word.group() not in NUMBER_WORDS:
            return None
        amount = NUMBER_WORDS[word.group()]
        unit_start = _end(_SPACE, text, word.end())
        half = _AND_A_HALF.match(text, word.end())
        if half is not None:
            amount, unit_start = amount + 0.5, _end(_SPACE, text, half.end())
        article = _NUMBER_WORD.match(text, unit_start)
        if article is not None and article.group() in {"a", "an"}:  # half an hour
            unit_start = _end(_SPACE, text, article.end())
    else:
        return None
    if text.startswith("more ", unit_start):  # 5 more minutes
        unit_start += 5
    unit = _unit(text, unit_start)
    if unit is None:
        return None
    seconds, spelling, end = unit
    return amount, seconds, spelling, end


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return position if match is None else match.end()


def _after_joint(text: str, position: int) -> int:
    position = _end(_JOINT, text, position)
    word = _WORD.match(text, position)
    if word is not None and word.group() in CONNECTORS:
        position = _end(_JOINT, text, word.end())
    return position


def _after_dot(text: str, position: int, spelling: str) -> int:
    """Past the dot of an abbreviation (``1 hr. 5 min.``)."""
    return position + 1 if spelling in ABBREVIATIONS and text.startswith(". ", position) else position


def _amount(digits: str) -> float:
    """``1,200`` is twelve hundred, ``1,5`` is one and a half, ``7.12`` is a fraction."""
    whole, comma, rest = digits.partition(",")
    if comma and "," not in rest and "." not in rest and len(rest) != 3:
        return float(f"{whole}.{rest}") if "." not in whole else float(whole)
    plain = digits.replace(",", "")
    head, dot, tail = plain.partition(".")
    return float(head + dot + tail.replace(".", ""))


def _unit(text: str, position: int) -> tuple[float, str, int] | None:
    word = _WORD.match(text, position)
    if word is None:
        return None
    spelling = word.group()
    if spelling in UNITS:
        return UNITS[spelling], spelling, word.end()
    if not spelling.isascii():  # no blanks between words: the longest spelling that the run starts with
        for length in range(min(6, len(spelling) - 1), 0, -1):
            if spelling[:length] in UNITS and not spelling[:length].isascii():
                return UNITS[spelling[:length]], spelling[:length], position + length
    if len(spelling) >= 4:
        for known, seconds in GUESSABLE.items():
            if abs(len(known) - len(spelling)) <= 1 and _one_slip(spelling, known):
                return seconds, known, word.end()
    return None


def _one_slip(word: str, known: str) -> bool:
    """Whether one letter is missing, added, wrong or two neighbours are swapped."""
    start = 0
    limit = min(len(word), len(known))
    while start < limit and word[start] == known[start]:
        start += 1
    if len(word) == len(known):
        if word[start + 1 :] == known[start + 1 :]:
            return True
        return (
            word[start : start + 2] == known[start : start + 2][::-1]
            and word[start + 2 :] == known[start + 2 :]
        )
    longer, shorter = (word, known) if len(word) > len(known) else (known, word)
    return longer[start + 1 :] == shorter[start:]
