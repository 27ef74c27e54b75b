from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors.instants import Instant, from_epoch, read_instant
from continuity_core.errors.normalising import flat
from continuity_core.errors.tables.calendar_words import MONTHS, ZONES

NOW = datetime(2026, 7, 10, 9, 52, tzinfo=UTC)
IANA = sorted(available_timezones())
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def read(text: str, now: datetime = NOW) -> Instant | None:
    return read_instant(flat(text), 0, now=now, default_zone=UTC)


def at(text: str, now: datetime = NOW) -> datetime:
    instant = read(text, now)
    assert instant is not None
    assert instant.end == len(flat(text))
    return instant.at


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-07-10T11:52:00Z", "2026-07-10T11:52:00+00:00"),
        ("2026-07-10 11:52:00 UTC", "2026-07-10T11:52:00+00:00"),
        ("2026-07-10T11:52:00.500-05:00", "2026-07-10T11:52:00-05:00"),
        ("2026/07/10 11:52", "2026-07-10T11:52:00+00:00"),
        ("2026年7月10日 11:52 北京时间", "2026-07-10T11:52:00+08:00"),
        ("July 10, 2026 at 11:52 AM", "2026-07-10T11:52:00+00:00"),
        ("Jul 10th, 2026 11:52 am", "2026-07-10T11:52:00+00:00"),
        ("10 de jul. de 2026, 11:52", "2026-07-10T11:52:00+00:00"),
        ("10. Juli 2026, 11:52", "2026-07-10T11:52:00+00:00"),
        ("10 juil. 2026 à 11:52", "2026-07-10T11:52:00+00:00"),
        ("7/10/2026, 11:52:00 AM", "2026-07-10T11:52:00+00:00"),
        ("10.07.2026, 11:52", "2026-07-10T11:52:00+00:00"),
        ("Fri, 10 Jul 2026 11:52:00 GMT", "2026-07-10T11:52:00+00:00"),
        ("Fri Jul 10 11:52:00 2026", "2026-07-10T11:52:00+00:00"),
        ("5pm (Europe/Warsaw)", "2026-07-10T17:00:00+02:00"),
        ("4:50am (Europe/Rome)", "2026-07-11T04:50:00+02:00"),
        ("Jul 12, 11:30am (Asia/Calcutta)", "2026-07-12T11:30:00+05:30"),
        ("6:00 PM PDT", "2026-07-10T18:00:00-07:00"),
        ("12:00 AM UTC", "2026-07-11T00:00:00+00:00"),
        ("00:00 UTC", "2026-07-11T00:00:00+00:00"),
        ("18:30 UTC+8", "2026-07-10T18:30:00+08:00"),
        ("noon UTC", "2026-07-10T12:00:00+00:00"),
        ("midnight Pacific Time", "2026-07-11T00:00:00-07:00"),
        ("6am tomorrow", "2026-07-11T06:00:00+00:00"),
        ("tomorrow at 8:00 AM (Europe/London)", "2026-07-11T08:00:00+01:00"),
        ("Monday at 9am PT", "2026-07-13T09:00:00-07:00"),
        ("1783684320", "2026-07-10T11:52:00+00:00"),
        ("1783684320000", "2026-07-10T11:52:00+00:00"),
    ],
)
def test_an_instant_is_read_in_the_spellings_that_people_met(text: str, iso: str) -> None:
    assert abs(at(text) - datetime.fromisoformat(iso)) < timedelta(seconds=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5 tokens",
        "99:99",
        "2026-13-45",
        "429",
        "12345678901234567890",
        "v1.2.3",
        "may",
        "25 o'clock",
        "5pm (Middle/Earth)",
    ],
)
def test_what_is_no_instant_is_not_read(text: str) -> None:
    assert read(text) is None


def test_a_clock_time_means_its_next_occurrence() -> None:
    assert at("9:51am utc") == datetime(2026, 7, 10, 9, 51, tzinfo=UTC)
    assert at("9:45am utc") == datetime(2026, 7, 11, 9, 45, tzinfo=UTC)
    assert at("9:53am utc") == datetime(2026, 7, 10, 9, 53, tzinfo=UTC)


def test_a_date_without_a_year_is_the_nearest_such_day() -> None:
    december = datetime(2026, 12, 30, tzinfo=UTC)
    assert at("Jan 2, 9am", december).year == 2027
    january = datetime(2027, 1, 2, tzinfo=UTC)
    assert at("Dec 31, 9am", january).year == 2026


def test_a_leap_day_is_read_only_where_it_exists() -> None:
    assert at("Feb 29, 9am", datetime(2028, 2, 27, tzinfo=UTC)) == datetime(2028, 2, 29, 9, tzinfo=UTC)
    assert read("Feb 29, 2026 9am") is None


def test_an_instant_without_a_zone_says_so() -> None:
    bare, zoned = read("Jul 12, 9am"), read("Jul 12, 9am UTC")
    assert bare is not None
    assert not bare.zoned
    assert zoned is not None
    assert zoned.zoned


def test_a_zone_that_the_system_does_not_know_makes_the_instant_unreadable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_zones(name: str) -> ZoneInfo:
        raise ModuleNotFoundError("no tzdata")

    monkeypatch.setattr("continuity_core.errors.instants.ZoneInfo", no_zones)
    assert read("5pm (Europe/Berlin)") is None
    assert at("5pm UTC") == datetime(2026, 7, 10, 17, tzinfo=UTC)


moments = (
    st.integers(1_000_080_000, 4_070_822_400)
    .filter(lambda seconds: seconds != 2_147_483_647)
    .map(lambda seconds: datetime.fromtimestamp(seconds, tz=UTC))
)


@given(moments)
def test_a_rendered_stamp_is_read_back(moment: datetime) -> None:
    for text in (moment.isoformat(), f"{moment:%Y-%m-%d %H:%M:%S} UTC", f"{moment:%Y/%m/%d %H:%M:%S} GMT"):
        assert at(text) == moment


@given(moments, st.integers(-12, 14))
def test_a_stamp_with_an_offset_is_read_back(moment: datetime, hours: int) -> None:
    local = moment.astimezone(timezone(timedelta(hours=hours)))
    assert at(local.isoformat()) == moment


@given(moments)
def test_a_rendered_date_in_words_is_read_back(moment: datetime) -> None:
    month = MONTH_NAMES[moment.month - 1]
    clock = f"{moment:%I:%M:%S %p}"
    for text in (
        f"{month} {moment.day}, {moment.year} at {clock} UTC",
        f"{moment.day} {month} {moment.year} {moment:%H:%M:%S} GMT",
        f"{moment:%m/%d/%Y}, {clock} UTC",
    ):
        assert at(text) == moment


@given(moments)
def test_an_epoch_is_read_back_in_seconds_and_milliseconds(moment: datetime) -> None:
    seconds = int(moment.timestamp())
    assert at(str(seconds)) == moment
    assert at(str(seconds * 1000)) == moment
    assert from_epoch(seconds) == moment


@pytest.mark.parametrize("word", MONTHS)
def test_every_month_of_the_table_is_read(word: str) -> None:
    assert at(f"15 {word} 2026, 10:00 utc") == datetime(2026, MONTHS[word], 15, 10, tzinfo=UTC)


@pytest.mark.parametrize("word", ZONES)
def test_every_zone_of_the_table_is_read_after_a_clock_time(word: str) -> None:
    instant = read(f"17:00 {word}")
    assert instant is not None
    assert instant.zoned


@pytest.mark.parametrize("number", [0, 1, -1, 999_999_999, 4_102_444_800, 10**20, float("1e300")])
def test_a_number_that_can_be_no_epoch_of_this_century_is_none(number: float) -> None:
    assert from_epoch(number) is None


@pytest.mark.parametrize("region", sorted({name.partition("/")[0] for name in IANA if "/" in name}))
def test_every_zone_of_the_system_is_read_by_its_name_in_any_case(region: str) -> None:
    for name in IANA:
        if name.startswith(f"{region}/"):
            for spelling in (name, name.lower(), name.upper()):
                instant = read(f"2am ({spelling})")
                assert instant is not None, spelling
                assert instant.zoned, spelling
                assert instant.at.utcoffset() == instant.at.astimezone(ZoneInfo(name)).utcoffset(), spelling
