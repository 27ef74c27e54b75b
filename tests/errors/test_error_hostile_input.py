"""No text raises, and none takes more than linear time; ``nox -s fuzz`` looks for many minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors import Cause, CauseKind, Failure, classify
from continuity_core.errors.rules import RULE_KINDS
from continuity_core.errors.tables import cues, units, wait_fields
from continuity_core.errors.wordings import WORDINGS

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALLOWED_SECONDS = 0.5
"""For 16 KiB, which take some milliseconds: generous, for a machine that is busy with other things."""
LENGTH = 16 * 1024
LONG = 128 * 1024
"""Where time grows with the square of the length, it is far over ``ALLOWED_SECONDS_FOR_LONG``."""
ALLOWED_SECONDS_FOR_LONG = 1.5

PUMPS = {
    "digits": "1",
    "digits and dots": "1.",
    "digits and commas": "1,",
    "numbers": "1 ",
    "statuses": "429 ",
    "clock": "12:",
    "dates": "2026-03-01 ",
    "epochs": "1767225600",
    "durations": "1h2m3s",
    "durations after a cue": "try again in 1h 2m 3s ",
    "cues": "try again in ",
    "fillers": "reset about approximately in ",
    "trailing cues": "5 s before trying ",
    "zones": "resets at 5pm (europe/berlin) ",
    "unknown zones": "resets at 5pm (aaaa/bbbb) ",
    "open braces": "{",
    "open brackets": "[",
    "open objects": '{"a":',
    "open quotes": '"',
    "names": '"a":',
    "bare names": "a=",
    "spaces after a name": "a" + " " * 40,
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "escaped characters": "\\u0041",
    "quoted JSON": '{"a":"{\\"b\\":1}"} ',
    "tags": "<p>",
    "open tags": "<html <",
    "open scripts": "<html><script",
    "escape sequences": "\x1b[",
    "colours": "\x1b[31m",
    "links": "https://",
    "marks above letters": "a\u0301\u0323",
    "marks alone": "\u0301\u0323",
    "frames": "\n at " + "(" * 195 + ":1" * 150,
    "echoes": '"input": "',
    "echoes of objects": '"input": {"a": [',
    "values of a validator": "input_value='",
    "references": "&amp;&#1111111111",
    "long link": "https://" + "a" * 64,
    "line breaks": "\n",
    "broken lines": "a\n ",
    "percent": "50% used ",
    "limits": "limit: 1 requested: ",
    "other scripts": "请在30秒后",
    "wide letters": "\uff11",
    "letters that grow": "\u0130",
    "combining marks": "a\u0301",
    "iso durations": "pt1h",
    "bars": "|1767225600",
    "exceptions": "AError",
    "words": "x" * 100 + " ",
    "one word": "x",
    "dashes": "- ",
    "letters and digits": "a1",
    "tools": "git a ",
    "compared sizes": "input of 12345 exceeds ",
    "given sizes": "input at most 1234 given ",
    "sizes and words": "token 1234 a b c d e f g h ",
    "guesses": "this may be due to a, b or c ",
    "conditions": "if the status 404 ",
    "private hosts": "a.internal ",
    "parts of a host": "a.",
    "counts": "1 of 2 used ",
    "methods": "aa.bb failed ",
    "settings": "A_B=",
    "names of exceptions": "a.BError ",
    "underscores": "a_b ",
    "questions": "is a ",
    "remote calls": "rpc error: code = ",
    "numbers and wide letters": "1 日 ",
    "tails": "⏵ a (shift+tab ",
    "options": "a=Some(",
    "lengths": "maxlength: 1234, actual: ",
}


def seconds_for(text: str) -> float:
    start = time.perf_counter()
    classify(Failure(message=text, body=text[::-1]), now=NOW)
    return time.perf_counter() - start


@pytest.mark.parametrize("pump", PUMPS.values(), ids=PUMPS)
def test_a_repeated_fragment_takes_no_more_than_linear_time(pump: str) -> None:
    text = pump * (LONG // len(pump))
    assert min(seconds_for(text), seconds_for("429 " + text)) < ALLOWED_SECONDS_FOR_LONG


@pytest.mark.parametrize("table", WORDINGS.tables)
def test_the_phrases_of_a_table_repeated_take_no_more_than_linear_time(table: str) -> None:
    for row in WORDINGS.tables[table]:
        if len(row.phrase.pieces) > 1:  # a literal alone is one search
            for pump in (row.phrase.pieces[0], " ".join(row.phrase.pieces)):
                assert seconds_for(f"{pump} " * (LENGTH // (len(pump) + 1))) < ALLOWED_SECONDS
    whole = " ".join("".join(row.phrase.pieces) for row in WORDINGS.tables[table])
    assert seconds_for(whole * (LENGTH // len(whole) + 1)) < ALLOWED_SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "{" * 5000 + '"a":1' + "}" * 5000,
        "[" * 100_000,
        '{"a":' * 20_000,
        '{"a":"' + "\\" * 8000 + '"}',
        "1" * 8000,
        "9" * 5000 + "s",
        "&amp; &#" + "1" * 5000 + ";",
    ],
    ids=["objects", "lists", "open objects", "backslashes", "digits", "an endless duration", "a reference"],
)
def test_nesting_and_length_beyond_all_sense_are_survived(text: str) -> None:
    assert seconds_for(text) < ALLOWED_SECONDS


FRAGMENTS = st.sampled_from(
    [
        *PUMPS.values(),
        *cues.FORWARD,
        *cues.TRAILING,
        *sorted(units.UNITS),
        *(f'"{name}":' for name in wait_fields.WAIT_FIELDS),
        *(
            "in ",
            "at ",
            "5 ",
            "1e309",
            "-1",
            "NaN",
            "0",
            ":",
            " ",
            "\n",
            "'",
            "}",
            "429 ",
            "529",
            "\x00",
            "\ud800",
            "😀",
        ),
    ]
)
KNOWN = [
    json.loads(line)["text"]
    for name in ("errors.jsonl", "errors_more.jsonl")
    for line in (Path(__file__).parent.parent / "data" / name).read_text(encoding="utf-8").splitlines()
]
PIECES = st.builds(
    lambda text, start, length: text[start : start + length],
    st.sampled_from(KNOWN),
    st.integers(0, 400),
    st.integers(1, 400),
)
"""Texts of providers, cut anywhere."""
texts = st.text(max_size=200) | st.lists(FRAGMENTS | PIECES, max_size=40).map("".join)


def check(cause: Cause) -> None:
    assert cause.kind in RULE_KINDS
    assert cause.why
    waits = [hint.wait_from(NOW) for hint in cause.guidance]
    assert waits == sorted(waits, reverse=True)
    assert all(wait >= 0 for wait in waits)


@given(
    texts,
    texts,
    st.none() | st.integers(-1, 1000),
    st.dictionaries(st.sampled_from(["Retry-After", "x-ratelimit-reset"]), texts),
)
def test_no_text_raises(text: str, body: str, status: int | None, headers: dict[str, str]) -> None:
    check(classify(Failure.from_text(text, status=status, body=body, headers=headers), now=NOW))


@given(texts, st.datetimes(timezones=st.just(UTC)))
def test_no_moment_raises(text: str, now: datetime) -> None:
    cause = classify(Failure.from_text(text), now=now)
    assert all(hint.wait_from(now) >= 0 for hint in cause.guidance)


@given(texts)
def test_the_verdict_does_not_depend_on_control_characters(text: str) -> None:
    def verdict(told: str) -> Cause:
        return classify(Failure.from_text(told), now=NOW)

    assert verdict("\u200b" + text) == verdict(text)


def test_reading_a_text_of_megabytes_is_bounded_by_what_is_kept() -> None:
    def cost(read: Callable[[], object]) -> float:
        start = time.perf_counter()
        read()
        return time.perf_counter() - start

    text = "Rate limit reached, try again in 5 minutes. " * 50_000
    assert cost(lambda: classify(Failure.from_text(text, body=text), now=NOW)) < ALLOWED_SECONDS


@pytest.mark.parametrize("field", ["retry_after", "resets_at", "retryAfterMs"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_whole_number_that_no_float_holds_is_no_wait(field: str, sign: str) -> None:
    body = json.dumps({"error": {"message": "rate limit reached", field: 1}}).replace(
        "1}", sign + "1" * 400 + "}"
    )
    assert classify(Failure.from_text(body, status=429), now=NOW).guidance == ()


def test_a_quota_that_no_float_holds_says_nothing_of_what_is_left() -> None:
    body = '{"x_ratelimit_remaining": ' + "9" * 400 + ', "x_ratelimit_reset": 30}'
    assert classify(Failure.from_text("rate limit " + body, status=429), now=NOW).kind is CauseKind.RATE_LIMIT


@pytest.mark.parametrize(
    "now",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    ],
)
@pytest.mark.parametrize("when", ["5pm", "5pm (europe/berlin)", "tomorrow", "friday", "feb 29", "8am pst"])
def test_moments_at_the_ends_of_the_calendar_are_survived(now: datetime, when: str) -> None:
    check_from(now, classify(Failure.from_text(f"usage limit reached, resets at {when}"), now=now))


def check_from(now: datetime, cause: Cause) -> None:
    assert cause.kind is CauseKind.USAGE_LIMIT
    assert all(hint.wait_from(now) >= 0 for hint in cause.guidance)
