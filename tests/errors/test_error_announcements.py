"""What counts as a wait in a text, and what only looks like one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors import Failure, wait_guidance

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def waits(text: str) -> list[float]:
    return [hint.wait_from(NOW) for hint in wait_guidance(Failure.from_text(text), now=NOW)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("retry after 5 seconds", 5),
        ("RETRY IN 15 SEC", 15),
        ("please wait 2 minutes before trying again", 120),
        ("Wait 45 secs before retrying", 45),
        ("resets in ~28s", 28),
        ("available again in about an hour", 3600),
        ("cooldown: 42s", 42),
        ("Please wait 2:30 minutes", 150),
        ("Try again in 1:30", 90),
        ("resets in 2:30 hours", 9000),
        ("Cooldown: 04:59", 299),
        ("try again in 30-60 seconds", 60),
        ("Réessayez dans une heure et demie", 5400),
        ("Inténtalo en una hora y media", 5400),
        ("please try again in 5 more minutes", 300),
        ("limit reached, 12 minutes to go", 720),
        ("rate limited; ETA 45s", 45),
        ("rate limit, next window in 14 s", 14),
        ("3 days left until reset", 259200),
        ("next attempt allowed in 30 s", 30),
        ("your next request will be accepted in 20 seconds", 20),
        ("blocked for the next 10 minutes", 600),
        ("resets in an hour and a half", 5400),
        ("try again in two and a half hours", 9000),
        ("20s cooldown", 20),
        ("remaining time: 3h 12m", 11520),
        ("a new window starts in 1h", 3600),
        ("リセットまで1時間", 3600),
        ("あと1時間でリセットされます", 3600),
        ("초기화까지 1시간", 3600),
        ("剩余冷却时间 30 秒", 30),
        ("Setzt sich in 1 Std. 30 Min. zurück", 5400),
        ("Tente de novo em 1 hora", 3600),
        ("Осталось ждать 1 час", 3600),
        ("请在 30 秒后重试", 30),
        ("约5分後に再試行してください", 300),
        ("30초 후에 다시 시도하세요", 30),
        ("30 saniye sonra tekrar deneyin", 30),
        ("Réessayez dans 2 heures", 7200),
        ("Inténtalo de nuevo en 45 minutos", 2700),
        ("Tente novamente em 1 hora e 30 minutos", 5400),
        ("Riprova tra 2 minuti", 120),
        ("Повторите попытку через 40 минут", 2400),
        ("Spróbuj ponownie za 10 sekund", 10),
        ("Probeer het over 10 minuten opnieuw", 600),
        ("Vui lòng thử lại sau 5 phút", 300),
        ("Coba lagi dalam 5 menit", 300),
        ("Försök igen om 2 minuter", 120),
        ("حاول مرة أخرى بعد 5 دقائق", 300),
        ("30 सेकंड बाद पुनः प्रयास करें", 30),
        ("Zkuste to znovu za 5 minut", 300),
        ("Δοκιμάστε ξανά σε 5 λεπτά", 300),
        ("resets at 2026-03-01T13:00:00Z", 3600),
        ("limit reached|1772370000", 3600),
        ("try again tomorrow at 1pm UTC", 90000),
    ],
)
def test_an_announced_wait_is_read(text: str, seconds: float) -> None:
    assert waits(text) == [pytest.approx(seconds)]


@pytest.mark.parametrize(
    "text",
    [
        "Retrying in 4 seconds",
        "retried 5 times (total retry wait time: 6.25 seconds)",
        "we will back off for 30 seconds",
        "Retrying in 900 seconds (attempt 3/10)",
        "Waiting 60 seconds before retrying",
        "gave up after waiting 300 seconds",
        "will retry in 5s",
        "retry in 5s (attempt 2/5)",
        "sleeping 30 seconds before retrying",
        "timeout of 5000ms exceeded",
        "timed out after 60 seconds",
        "Request timed out after 3009 milliseconds",
        "limit of 50 requests per 1 hour",
        "10 messages every 5 hours",
        "limits reset every 5h and every week",
        "5-hour limit reached",
        "per 86400s",
        "connection reset after 30 seconds",
        "last reset at 2026-02-20 00:00 UTC",
        "token expires in 3600 seconds",
        "your trial expires in 3 days",
        "try again in a few minutes",
        "try again in a moment",
        "try again later",
        "please try again tomorrow",
        "retry after 30",
        "wait -5 seconds",
        "max wait 30s",
        "after 3 attempts",
        "Current: 3.000000 / min",
        "Used 14567, Requested 24754",
        "503 of 1048576 bytes",
        "req_011CZaaa5m30s",
        "the reset button is 5 m away",
    ],
)
def test_what_only_looks_like_a_wait_is_none(text: str) -> None:
    assert waits(text) == []


@pytest.mark.parametrize(
    ("text", "approximate"),
    [
        ("try again in ~45 min", True),
        ("try again in about an hour", True),
        ("try again in 3 hours", True),
        ("try again in 1h2m", False),
        ("try again in 20 seconds", False),
        ("try again in approximately 20 seconds", True),
        ("resets 5pm (Europe/Berlin)", True),
        ("resets at 2026-03-01T13:00:00Z", False),
    ],
)
def test_a_rounded_or_hedged_wait_is_marked_approximate(text: str, approximate: bool) -> None:
    (hint,) = wait_guidance(Failure.from_text(text), now=NOW)
    assert hint.approximate is approximate


def test_an_instant_without_a_zone_counts_only_where_nothing_better_is_there() -> None:
    assert waits("resets Mar 3, 12pm") == [172800]
    assert waits("resets Mar 3, 12pm. Try again in 20s") == [20]
    assert waits("resets Mar 3, 12pm (UTC). Try again in 20s") == [172800, 20]


def test_the_zone_of_instants_without_one_can_be_given() -> None:

    failure = Failure.from_text("resets Mar 1, 3pm")
    (hint,) = wait_guidance(failure, now=NOW, timezone=ZoneInfo("Europe/Berlin"))
    assert hint.wait_from(NOW) == 7200


def test_a_past_instant_is_no_wait() -> None:
    assert waits("limit reached|1772300000") == [0]


def test_lines_that_a_terminal_broke_are_joined() -> None:
    assert waits("try again in 4 days 1\n3 hours 5 minutes")[0] == 4 * 86400 + 13 * 3600 + 300
    assert waits("try again in 3 hours 2\nminutes") == [10920]
    assert waits("resets at 2026-03-0\n2 12:00:00 UTC") == [86400]


def test_escape_sequences_do_not_hide_a_wait() -> None:
    assert waits("\x1b[31mtry again in \x1b[1m20s\x1b[0m") == [20]


@given(
    st.integers(1, 10**6),
    st.sampled_from(
        ["try again in {}s", "retry after {} seconds", "please wait {}s before retrying", "{} 秒后重试"]
    ),
)
def test_any_number_of_seconds_is_read_back(seconds: int, template: str) -> None:
    assert waits(template.format(seconds)) == [seconds]


@given(st.timedeltas(timedelta(minutes=2), timedelta(days=300)))
def test_any_later_instant_is_read_back(distance: timedelta) -> None:
    moment = (NOW + distance).replace(microsecond=0)
    assert waits(f"Usage limit reached, resets at {moment.isoformat()}.") == [(moment - NOW).total_seconds()]


def test_hours_and_minutes_behind_at_are_a_clock_time_and_a_duration_elsewhere() -> None:
    assert waits("limit reached, resets at 13h30") == [5400]
    assert waits("limit reached, resets in 13h30") == [48600]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("利用上限。午後3時にリセットされます", 10800),
        ("利用上限。午前3時にリセットされます", 54000),
        ("한도 초과. 오후 3시에 재설정됩니다", 10800),
        ("额度已用完，明天 08:00 后再试", 72000),
        ("额度已用完，明天上午 8 点后再试", 72000),
    ],
)
def test_the_half_of_a_day_and_the_day_may_stand_before_a_clock_time(text: str, seconds: float) -> None:
    assert waits(text) == [seconds]


def test_a_time_with_seconds_is_a_clock_time_behind_at_or_before_a_zone() -> None:
    assert waits("limit hit, resets at 12:00:30") == [30]
    assert waits("limit hit, resets 12:00:30 UTC") == [30]
    assert waits("limit hit, resets in 12:00:30") == [43230]


def test_a_year_may_have_two_digits_before_a_clock_time() -> None:
    assert waits("limit hit, resets 3/2/26 at 9:00 AM UTC") == [75600]


@pytest.mark.parametrize(
    "never",
    [
        "0001-01-01T00:00:00Z",
        "1970-01-01 00:00:00 UTC",
        "9999-12-31T23:59:59Z",
        "2147483647",
        "2147483647000",
    ],
)
def test_what_programs_print_for_no_instant_is_no_wait(never: str) -> None:
    assert waits(f"usage limit reached, resets at {never}") == []


def test_hours_are_counted_by_utc_also_where_clocks_are_changed() -> None:
    failure = Failure.from_text("usage limit resets 3am (America/New_York)")
    for zone in (UTC, ZoneInfo("America/New_York")):
        now = datetime(2026, 3, 8, 4, tzinfo=UTC).astimezone(zone)
        [hint] = wait_guidance(failure, now=now)
        assert hint.wait_from(now) == 3 * 3600
        assert hint.instant_from(now) == datetime(2026, 3, 8, 7, tzinfo=UTC)
    [in_the_second_hour] = wait_guidance(
        Failure.from_text("usage limit resets 1:30am (America/New_York)"),
        now=datetime(2026, 11, 1, 6, tzinfo=UTC),
    )
    assert in_the_second_hour.wait_from(datetime(2026, 11, 1, 6, tzinfo=UTC)) == 1800
