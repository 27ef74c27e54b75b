"""Reading an instant at a place in a text: stamps, dates, clock times, weekdays and epochs, in any order."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import attrs

from continuity_core.errors.tables.calendar_words import (
    CLOCK_WORDS,
    DAY_WORDS,
    HALVES,
    LEAD_WORDS,
    MONTHS,
    WEEKDAYS,
    ZONES,
)

EPOCH_SECONDS = range(1_000_000_000, 4_102_444_800)
"""From 2001 to 2099; the same in milliseconds has 13 digits. What is outside is no epoch."""
_NEVER = 2_147_483_647
"""The last second that 32 bits count, which is sent for none."""
YEARS = range(2001, 2100)
"""Years in which a reset can be; 0001 and 1970 are what an unset instant is printed as, 9999 is never."""

_STAMP = re.compile(
    r"(\d{4})[-/年.](\d{1,2})[-/月.](\d{1,2})日?"
    r"(?:(?:t|\s{1,4}|\s?(?:at|um|à|,)\s{0,4})?"
    r"(\d{1,2})[:時点时](\d{2})(?:[:分](\d{2})(?:[.,](\d{1,9}))?)?秒?)?"
)
_EPOCH = re.compile(r"(\d{10})(\d{3}|\d{6}|\d{9}|\.\d{1,6})?(?![\d.]\d|\d)")
_NUMERIC_DATE = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2}(?=[ ,]))(?!\d)")
_MONTH_AND_DAY = re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/])")
_CLOCK = re.compile(
    r"(\d{1,2})[:.h](\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?![\d:])"
    r"|(\d{1,2})(?=\s?(?:[ap]\.?m\b|uhr\b|h\b|[点點時时시]))"
)
_MERIDIEM = re.compile(r"\s?([ap])\.?m\b\.?")
_HOUR_WORD = re.compile(r"\s?(?:(?:uhr|h|o'clock)\b|[点點時时시](?:\s?(\d{1,2})\s?[分분])?)")
_DAY_NUMBER = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.|er|º|°)?(?![\d:])")
_YEAR = re.compile(r"(20\d{2})(?!\d)")
_CJK_DATE = re.compile(r"(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号일]")
_WORD = re.compile(r"[^\W\d_]{1,12}")
_OFFSET = re.compile(r"(?:utc|gmt)?\s?([+-])(\d{1,2})(?::?(\d{2}))?(?![\d:])")
_ZONE_NAME = re.compile(r"[a-z]{2,20}/[a-z_+-]{2,24}(?:/[a-z_]{2,24})?\d{0,2}")
_SEPARATOR = re.compile(r"[\s,;(\[·∙•-]{1,6}")
_FILLERS = frozenset(
    [
        "at",
        "on",
        "the",
        "of",
        "de",
        "um",
        "à",
        "a",
        "las",
        "os",
        "às",
        "le",
        "den",
        "am",
        "el",
        "la",
        "next",
        "this",
        "coming",
        "kl",
        "в",
        "ore",
        "time",
        "local",
        "your",
        "alle",
        "o'clock",
        "standard",
        "daylight",
    ]
)
_ZONE_REGIONS = frozenset(
    {"africa", "america", "antarctica", "arctic", "asia", "atlantic", "australia", "brazil", "canada"}
    | {"chile", "etc", "europe", "indian", "mexico", "pacific", "us"}
)
"""What the names of zones begin with."""
_ZONE_TAILS = frozenset({"time", "standard", "daylight"})
_LATIN = re.compile(r"[a-z]{1,16}(?=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])")
_TOKEN_LIMIT = 14
JUST_PASSED = timedelta(seconds=90)
"""A clock time that passed this short ago is meant, not tomorrow's: clock texts carry minutes."""


@attrs.frozen
class Instant:
    """An instant and where its text ends."""

    at: datetime
    end: int
    zoned: bool
    """The text named a zone; otherwise the default zone was taken."""
    coarse: bool
    """No seconds were told, and it is not midnight."""


@attrs.define
class _Parts:
    """What has been read so far."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    clock: time | None = None
    seconds_told: bool = False
    half: str | None = None
    """``a`` or ``p``, where it stands before the clock time."""
    weekday: int | None = None
    days_ahead: int | None = None
    zone: tzinfo | None = None
    zone_unreadable: bool = False
    end: int = 0


def from_epoch(number: float) -> datetime | None:
    """The instant of an epoch in seconds or thousandths of them, up to nanoseconds; None where it is none."""
    for scale in (1, 1_000, 1_000_000, 1_000_000_000):
        if int(number / scale) in EPOCH_SECONDS and int(number / scale) != _NEVER:
            return datetime.fromtimestamp(number / scale, tz=UTC)
    return None


def load_zone(name: str) -> tzinfo | None:
    """The zone of an IANA name in any case, or None where the system has no such zone or no zone data."""
    plain = name.replace(" ", "_").lower()
    found = _zone(plain.title())
    region, slash, _ = plain.partition("/")
    if found is None and (region in _ZONE_REGIONS or not slash):  # US/Eastern, America/Port-au-Prince, UTC
        found = _zone(_zone_names().get(plain, plain))
    return found


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except Exception:  # no tzdata, no such name, a name that is a folder
        return None


@cache
def _zone_names() -> dict[str, str]:
    """The system's zones by their names in lower case; reading them takes a twentieth of a second, once."""
    return {name.lower(): name for name in available_timezones()}


def read_instant(text: str, position: int, *, now: datetime, default_zone: tzinfo) -> Instant | None:
    """The instant that starts exactly at ``position`` of the lower-case ``text``, or None.

    A clock time means its next occurrence, a date without a year the nearest such day.
    """
    epoch = _EPOCH.match(text, position)
    if epoch is not None:
        at = from_epoch(float(epoch.group()))
        if at is not None:
            return Instant(at, epoch.end(), True, False)
    parts = _Parts(end=position)
    _read_parts(text, position, parts)
    if parts.zone_unreadable or (parts.clock is None and parts.day is None and parts.weekday is None):
        return None
    zone = parts.zone or default_zone
    at = _resolve(parts, now, zone)
    if at is None or at.year not in YEARS:
        return None
    end = parts.end
    if text[end : end + 1] in (")", "]") and ("(" in text[position:end] or "[" in text[position:end]):
        end += 1
    midnight = parts.clock is None or (parts.clock.hour == 0 and parts.clock.minute == 0)
    return Instant(at, end, parts.zone is not None, not (parts.seconds_told or midnight))


def _read_parts(text: str, position: int, parts: _Parts) -> None:
    for _ in range(_TOKEN_LIMIT):
        step = _read_one(text, position, parts)
        if step is None:
            return
        position, counts = step
        if counts:
            parts.end = position
        if parts.clock is not None and parts.zone is None and text[position : position + 1] in ("+", "-"):
            continue  # an offset, not a separator
        separator = _SEPARATOR.match(text, position)
        if separator is not None:
            position = separator.end()
        elif position < len(text) and text[position] in "./" and parts.month is not None:
            position += 1  # "jul. de"
            separator = _SEPARATOR.match(text, position)
            position = separator.end() if separator is not None else position


def _read_one(text: str, position: int, parts: _Parts) -> tuple[int, bool] | None:
    """Read one token: where it ends and whether it belongs to the instant; None where nothing fits."""
    if position >= len(text):
        return None
    if text[position].isdigit():
        return _read_number(text, position, parts)
    if text[position] in "+-":
        return _read_offset(text, position, parts)
    zone_name = _ZONE_NAME.match(text, position)
    if zone_name is not None:
        zone = load_zone(zone_name.group())
        if zone is None:
            parts.zone_unreadable = parts.zone is None and "/" in zone_name.group()
            return None
        parts.zone = zone
        return zone_name.end(), True
    return _read_word(text, position, parts)


def _read_number(text: str, position: int, parts: _Parts) -> tuple[int, bool] | None:
    if parts.day is None:
        for read in (_read_stamp, _read_numeric_date, _read_cjk_date):
            end = read(text, position, parts)
            if end is not None:
                return end, True
    if parts.clock is None:
        end = _read_clock(text, position, parts)
        if end is not None:
            return end, True
    if parts.month is not None and parts.year is None:
        year = _YEAR.match(text, position)
        if year is not None:
            parts.year = int(year.group(1))
            return year.end(), True
    if parts.day is None:
        day = _DAY_NUMBER.match(text, position)
        if (
            day is not None
            and 1 <= int(day.group(1)) <= 31
            and (parts.month is not None or _month_follows(text, day.end()))
        ):
            parts.day = int(day.group(1))
            return day.end(), True
    return None


def _month_follows(text: str, position: int) -> bool:
    for _ in range(2):
        separator = _SEPARATOR.match(text, position)
        position = separator.end() if separator is not None else position
        word = _WORD.match(text, position)
        if word is None:
            return False
        if word.group() in MONTHS:
            return True
        position = word.end()
    return False


def _read_stamp(text: str, position: int, parts: _Parts) -> int | None:
    match = _STAMP.match(text, position)
    if match is None:
        return None
    year, month, day, hour, minute, second, _fraction = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    parts.year, parts.month, parts.day = int(year), int(month), int(day)
    end = match.end()
    if hour is not None:
        meridiem = _MERIDIEM.match(text, end)
        parts.clock = _clock(
            int(hour), int(minute), int(second or 0), meridiem.group(1) if meridiem else None
        )
        parts.seconds_told = second is not None
        end = meridiem.end() if meridiem else end
    return end


def _read_numeric_date(text: str, position: int, parts: _Parts) -> int | None:
    match = _NUMERIC_DATE.match(text, position)
    if match is None:
        return _read_month_and_day(text, position, parts)
    first, separator, second, year = match.groups()
    month, day = (int(first), int(second)) if separator == "/" else (int(second), int(first))
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    parts.year, parts.month, parts.day = int(year) + 2000 * (len(year) == 2), month, day
    return match.end()


def _read_month_and_day(text: str, position: int, parts: _Parts) -> int | None:
    """``on 04/01``: without a year only behind ``on``, since ``4/10`` is also a fraction."""
    match = _MONTH_AND_DAY.match(text, position)
    if match is None or text[max(0, position - 3) : position] != "on ":
        return None
    month, day = int(match.group(1)), int(match.group(2))
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    parts.month, parts.day = month, day
    return match.end()


def _read_cjk_date(text: str, position: int, parts: _Parts) -> int | None:
    match = _CJK_DATE.match(text, position)
    if match is None or not (1 <= int(match.group(1)) <= 12 and 1 <= int(match.group(2)) <= 31):
        return None
    parts.month, parts.day = int(match.group(1)), int(match.group(2))
    return match.end()


def _read_clock(text: str, position: int, parts: _Parts) -> int | None:
    match = _CLOCK.match(text, position)
    if match is None:
        return None
    hour, minute, second, bare_hour = match.groups()
    end = match.end()
    meridiem = _MERIDIEM.match(text, end)
    hour_word = None if meridiem is not None else _HOUR_WORD.match(text, end)
    if hour_word is not None:
        minute = hour_word.group(1) or minute
    if meridiem is None and hour_word is None and bare_hour is not None:
        return None
    clock = _clock(
        int(hour or bare_hour or 0),
        int(minute or 0),
        int(second or 0),
        parts.half if meridiem is None else meridiem.group(1),
    )
    if clock is None:
        return None
    parts.clock = clock
    parts.seconds_told = second is not None
    for word in (meridiem, hour_word):
        end = word.end() if word is not None else end
    return end


def _clock(hour: int, minute: int, second: int, meridiem: str | None) -> time | None:
    if meridiem is not None and 1 <= hour <= 12:
        hour = hour % 12 + (12 if meridiem == "p" else 0)
    if hour == 24 and minute == 0:
        hour = 0
    if hour > 23 or minute > 59 or second > 60:
        return None
    return time(hour, minute, min(second, 59))


def _read_offset(text: str, position: int, parts: _Parts) -> tuple[int, bool] | None:
    match = _OFFSET.match(text, position)
    if match is None or parts.clock is None:
        return None
    sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if offset > timedelta(hours=15):
        return None
    parts.zone = timezone(offset if sign == "+" else -offset)
    return match.end(), True


def _read_word(text: str, position: int, parts: _Parts) -> tuple[int, bool] | None:
    if text.startswith(("utc+", "utc-", "gmt+", "gmt-", "utc +", "utc -", "gmt +", "gmt -")[:8], position):
        offset = _read_offset(text, position, parts)
        if offset is not None:
            return offset
    word = _WORD.match(text, position)
    if word is None:
        return None
    latin = _LATIN.match(text, position)  # ``utc`` of ``utcに``
    spelled = latin.group() if latin is not None else word.group()
    name = next((lead for lead in LEAD_WORDS if text.startswith(lead, position)), spelled)
    end = position + len(name)
    if name == "t" and parts.day is not None:
        return end, False
    if name in MONTHS and parts.month is None and not (name in WEEKDAYS and parts.weekday is None):
        parts.month = MONTHS[name]
        return end, True
    if name in WEEKDAYS and parts.weekday is None:
        parts.weekday = WEEKDAYS[name]
        return end, True
    if name in DAY_WORDS and parts.days_ahead is None and parts.day is None:
        parts.days_ahead = DAY_WORDS[name]
        return end, True
    if name in HALVES and parts.clock is None:
        parts.half = HALVES[name]
        return end, True
    if name in CLOCK_WORDS and parts.clock is None:
        parts.clock = time(*CLOCK_WORDS[name])
        return end, True
    if (
        name in ZONES
        and parts.zone is None
        and (
            parts.clock is not None
            or parts.day is not None
            or parts.days_ahead is not None
            or parts.weekday is not None
            or name == "beijing"
        )
    ):
        zone = ZONES[name]
        loaded = load_zone(zone) if isinstance(zone, str) else timezone(timedelta(hours=zone))
        if loaded is None:
            parts.zone_unreadable = True
            return None
        parts.zone = loaded
        return end, True
    return (end, name in _ZONE_TAILS and parts.zone is not None) if name in _FILLERS else None


def _resolve(parts: _Parts, now: datetime, zone: tzinfo) -> datetime | None:
    clock = parts.clock or time(0, 0)
    try:
        local_now = now.astimezone(zone)
        if parts.month is not None and parts.day is not None:
            day = _nearest_day(parts, local_now.date())
            return datetime.combine(day, clock, tzinfo=zone) if day is not None else None
        if parts.month is not None or parts.day is not None:
            return None
        today = local_now.date()
        if parts.days_ahead is not None:
            return datetime.combine(today + timedelta(days=parts.days_ahead), clock, tzinfo=zone)
        just_passed = now.astimezone(UTC) - JUST_PASSED  # in one zone the hours of its clocks are compared
        at = datetime.combine(today, clock, tzinfo=zone)
        if parts.weekday is not None:
            at = datetime.combine(
                today + timedelta(days=(parts.weekday - today.weekday()) % 7), clock, tzinfo=zone
            )
            return at if at > just_passed else at + timedelta(days=7)
        if at <= just_passed:
            at = at.replace(fold=1)  # where clocks are set back this hour comes twice
        if at <= just_passed:
            at = datetime.combine(today + timedelta(days=1), clock, tzinfo=zone)
        return at
    except (ValueError, OverflowError):
        return None


def _nearest_day(parts: _Parts, today: date) -> date | None:
    if parts.month is None or parts.day is None:
        return None
    years = (parts.year,) if parts.year is not None else (today.year - 1, today.year, today.year + 1)
    days: list[date] = []
    for year in years:
        try:
            days.append(date(year, parts.month, parts.day))
        except ValueError:
            continue
    return min(days, key=lambda day: abs((day - today).days), default=None)
