"""Durations as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.engine.durations import (
    UNITS,
    duration_or_unlimited,
    duration_text,
    number_text,
    parse_duration,
)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (600, 600),
        (2.5, 2.5),
        (0, 0),
        ("90", 90),
        (" 90 ", 90),
        ("1h30m", 5400),
        ("1h 30 min", 5400),
        ("10 min", 600),
        ("10MIN", 600),
        ("1.5h", 5400),
        ("500ms", 0.5),
        ("2 d", 172_800),
        ("1d2h3m4s5ms", 93_784.005),
        ("1e3", 1000),
        ("3 hours 20 minutes", 12_000),
        (timedelta(minutes=2), 120),
    ],
)
def test_a_duration_is_read_as_seconds(value: object, seconds: float) -> None:
    assert parse_duration(value) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "number is expected"),
        ("   ", "number is expected"),
        ("abc", "number is expected"),
        ("-5", "number is expected"),
        ("5 minuts", "did you mean 'minutes'"),
        ("5x", "'x' is no unit; units are"),
        ("1h30", "30 has no unit"),
        ("30 1h", "30 has no unit"),
        ("30m1h", "larger to the smaller"),
        ("5s5s", "larger to the smaller"),
        ("1h,30m", "found ',30m'"),
        ("1e999", "finite"),
        ("5" * 101, "at most 100 characters"),
        ("nan", "number is expected"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (-1, "at least 0"),
        (10**400, "finite"),
        (timedelta(seconds=-1), "at least 0"),
        (True, "number of seconds"),
        (None, "number of seconds"),
        (["5"], "number of seconds"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_duration_is_refused_with_the_reason(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_duration(value)


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)))
def test_every_unit_can_follow_a_number(number: int, unit: str) -> None:
    assert parse_duration(f"{number} {unit}") == number * UNITS[unit]


@given(st.floats(0, 1.7e308))
def test_a_number_reads_back_from_its_shortest_text(value: float) -> None:
    assert parse_duration(number_text(value)) == value


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1min"),
        (90, "1min30s"),
        (19_200, "5h20min"),
        (86_400, "24h"),
        (2.5, "2.5s"),
        (90.5, "90.5s"),
    ],
)
def test_a_duration_is_told_as_people_write_it(seconds: float, text: str) -> None:
    assert duration_text(float(seconds)) == text


@given(st.one_of(st.integers(0, 10**12).map(float), st.floats(0, 1.7e308)))
def test_a_told_duration_reads_back_as_the_same(seconds: float) -> None:
    assert parse_duration(duration_text(seconds)) == seconds


def test_a_duration_may_be_without_a_limit_where_that_is_allowed() -> None:
    assert duration_or_unlimited("unlimited") is duration_or_unlimited(None) is None
    assert duration_or_unlimited("2h") == 7200
    with pytest.raises(ValueError, match=r"'soon' is no duration: .* or write \"unlimited\""):
        duration_or_unlimited("soon")
