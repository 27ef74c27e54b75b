from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors.durations import read_duration
from continuity_core.errors.normalising import flat
from continuity_core.errors.tables.units import GUESSABLE, UNITS


def read(text: str) -> float | None:
    lowered = flat(text)
    duration = read_duration(lowered, 0)
    return duration.seconds if duration is not None and duration.end == len(lowered) else None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("644ms", 0.644),
        ("7m12.345s", 432.345),
        ("4h28m20s", 16100),
        ("1 h 30 m", 5400),
        ("6hr 29min", 23340),
        ("1 hr. 5 min", 3900),
        ("5 days, 22 hours, and 11 minutes", 511860),
        ("PT1H", 3600),
        ("P1DT2H30M", 95400),
        ("01:23:45", 5025),
        ("1 day, 2:03:04", 93784),
        ("1h30", 5400),
        ("1,200 seconds", 1200),
        ("1,5 Stunden", 5400),
        ("1.5 hours", 5400),
        ("an hour", 3600),
        ("half an hour", 1800),
        ("12 miutes", 720),
        ("3 mintues", 180),
        ("2 Stunden und 5 Minuten", 7500),
        ("1 小时 5 分钟 20 秒", 3920),
        ("5分", 300),
        ("30초", 30),
        ("30 सेकंड", 30),
        ("5 دقائق", 300),
        ("2 weeks", 1209600),
    ],
)
def test_a_duration_is_read_in_the_spellings_that_people_met(text: str, seconds: float) -> None:
    assert read(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["5 tokens", "30 requests", "429", "a few minutes", "a moment", "x s", "", "-5s", "5 m2"]
)
def test_what_is_no_duration_is_not_read(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("word", UNITS)
def test_every_unit_of_the_table_is_read_after_a_number(word: str) -> None:
    assert read(f"7 {word}") == pytest.approx(7 * UNITS[word])


@pytest.mark.parametrize("word", [word for word in GUESSABLE if len(word) > 4])
def test_a_unit_with_a_letter_left_out_is_still_read(word: str) -> None:
    for place in range(1, len(word) - 1):
        shorter = word[:place] + word[place + 1 :]
        assert read(f"3 {shorter}") == 3 * UNITS[word]


def compact(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours}h{minutes}m{seconds}s"


def spaced(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours} h {minutes} m {seconds} s"


def english(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours} hours, {minutes} minutes and {seconds} seconds"


def german(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours} Stunden, {minutes} Minuten und {seconds} Sekunden"


def chinese(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours}小时{minutes}分钟{seconds}秒"


def iso(hours: int, minutes: int, seconds: int) -> str:
    return f"PT{hours}H{minutes}M{seconds}S"


def clock(hours: int, minutes: int, seconds: int) -> str:
    return f"{hours}:{minutes:02}:{seconds:02}"


@pytest.mark.parametrize("render", [compact, spaced, english, german, chinese, iso, clock])
@given(hours=st.integers(0, 999), minutes=st.integers(0, 59), seconds=st.integers(0, 59))
def test_a_rendered_duration_is_read_back(render: object, hours: int, minutes: int, seconds: int) -> None:
    assert callable(render)
    assert (
        read(render(hours, minutes, seconds))
        == timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()
    )


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)))
def test_any_number_of_any_unit_is_read_back(amount: int, word: str) -> None:
    if amount * UNITS[word] <= 10**9:
        assert read(f"{amount} {word}") == pytest.approx(amount * UNITS[word])


@pytest.mark.parametrize(
    ("text", "coarse"),
    [
        ("2 minutes", True),
        ("1h2m", False),
        ("90 seconds", False),
        ("3 hours 5 seconds", False),
        ("6hr", True),
    ],
)
def test_prose_no_finer_than_minutes_may_be_rounded(text: str, coarse: bool) -> None:
    duration = read_duration(text, 0)
    assert duration is not None
    assert duration.coarse is coarse
