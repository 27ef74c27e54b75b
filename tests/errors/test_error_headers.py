from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from continuity_core.errors import Failure, wait_guidance

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def waits(
    text: str = "Too Many Requests", *, status: int | None = 429, body: object = None, **headers: str
) -> list[float]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    failure = Failure.from_text(
        text, status=status, headers=named, body=None if body is None else json.dumps(body)
    )
    return [hint.wait_from(NOW) for hint in wait_guidance(failure, now=NOW)]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("41", 41),
        ("2.5", 2.5),
        ("0", 0),
        ("86400", 86400),
        ("Thu, 01 Jan 2026 02:00:00 GMT", 7200),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
        ("2026-01-01T00:01:00Z", 60),
        ("1m30s", 90),
        ("1767225660", 60),
        ("30, 30", 30),
        ("12, 30", 30),
    ],
)
def test_retry_after_is_read_as_seconds_a_date_a_duration_or_an_epoch(value: str, seconds: float) -> None:
    assert waits(retry_after=value) == [seconds]


@pytest.mark.parametrize(
    "value",
    ["-1", "soon", "", "NaN", "inf", "1e9999", "0x10", "9" * 30, "9999-12-31T00:00:00Z", "2147483647"],
)
def test_what_is_no_wait_in_retry_after_is_no_guidance(value: str) -> None:
    assert waits(retry_after=value) == []


def test_milliseconds_outrank_seconds() -> None:
    assert waits(retry_after_ms="250", retry_after="1") == [0.25]
    assert waits(x_ms_retry_after_ms="1500", retry_after="2") == [1.5]


def test_a_header_outranks_an_instant_in_prose_but_not_a_duration() -> None:
    assert waits("Limit resets at: 2026-01-01 02:00:00 UTC", retry_after="60") == [60]
    assert waits("Please retry after 90 seconds", retry_after="60") == [90, 60]


def test_only_the_exhausted_bucket_counts() -> None:
    assert waits(
        x_ratelimit_remaining_requests="14370",
        x_ratelimit_reset_requests="2m59.56s",
        x_ratelimit_remaining_tokens="0",
        x_ratelimit_reset_tokens="7.66s",
    ) == [7.66]
    assert waits(
        anthropic_ratelimit_input_tokens_remaining="0",
        anthropic_ratelimit_input_tokens_reset="2026-01-01T00:00:42Z",
        anthropic_ratelimit_requests_remaining="49",
        anthropic_ratelimit_requests_reset="2026-01-01T00:10:00Z",
    ) == [42]
    assert waits(
        x_codex_primary_used_percent="100",
        x_codex_primary_reset_after_seconds="7000",
        x_codex_secondary_used_percent="80",
        x_codex_secondary_reset_after_seconds="316705",
    ) == [7000]
    assert waits(
        anthropic_ratelimit_unified_5h_status="rejected",
        anthropic_ratelimit_unified_5h_reset="1767229200",
        anthropic_ratelimit_unified_7d_status="allowed",
        anthropic_ratelimit_unified_7d_reset="1767700000",
    ) == [3600]


def test_a_bucket_with_something_left_is_no_guidance() -> None:
    assert waits(x_ratelimit_remaining_requests="100", x_ratelimit_reset_requests="60s") == []
    assert (
        waits(anthropic_ratelimit_unified_status="allowed", anthropic_ratelimit_unified_reset="1767229200")
        == []
    )


def test_where_none_is_exhausted_the_bucket_that_the_text_names_counts() -> None:
    text = "Rate limit reached on tokens per min: Limit 30000, Used 29937, Requested 385"
    assert waits(
        text,
        x_ratelimit_remaining_requests="499",
        x_ratelimit_reset_requests="120ms",
        x_ratelimit_remaining_tokens="63",
        x_ratelimit_reset_tokens="59.87s",
    ) == [59.87]


def test_a_lone_reset_counts_for_a_throttled_request_only() -> None:
    assert waits(x_ratelimit_reset="30") == [30]
    assert waits(x_ratelimit_reset="30", status=500) == []


@pytest.mark.parametrize("value", ["0", "1", "-1", "4102444801", "99999999999999999"])
def test_unset_and_endless_resets_are_no_guidance(value: str) -> None:
    expected = [1.0] if value == "1" else []
    assert waits(x_ratelimit_remaining="0", x_ratelimit_reset=value) == expected


def test_the_combined_headers_of_the_drafts_are_read() -> None:
    assert waits(ratelimit='"default";r=0;t=50') == [50]
    assert waits(ratelimit="limit=100, remaining=0, reset=33") == [33]
    assert waits(ratelimit='"default";r=5;t=50') == []


@pytest.mark.parametrize(
    ("field", "value", "seconds"),
    [
        ("retry_after", 3.5, 3.5),
        ("retryAfter", "30", 30),
        ("retry-after-ms", 2500, 2.5),
        ("retryDelay", "34.074824224s", 34.074824224),
        ("resets_in_seconds", 18000, 18000),
        ("resets_at", 1767229200, 3600),
        ("resetAt", 1767229200000, 3600),
        ("quotaResetTimeStamp", "2026-01-01T01:00:00Z", 3600),
        ("quotaResetDelay", "1h16m10.352s", 4570.352),
        ("estimated_time", 119.5, 119.5),
        ("retry_after", "PT2M", 120),
    ],
)
def test_fields_of_the_body_are_read_however_they_are_nested(
    field: str, value: object, seconds: float
) -> None:
    assert waits("rate limited", body={"error": {"details": [{field: value}]}}) == [pytest.approx(seconds)]
    quoted = {"error": {"message": json.dumps({"error": {field: value}})}}
    assert waits("rate limited", body=quoted)[0] == pytest.approx(seconds)


@pytest.mark.parametrize("value", [None, True, False, -5, float("nan"), float("inf"), "", "never", [], {}])
def test_fields_that_hold_no_wait_are_no_guidance(value: object) -> None:
    assert waits("rate limited", body={"error": {"retry_after": value}}) == []


def test_the_text_form_of_a_protocol_buffer_is_read() -> None:
    assert waits("429 Quota exceeded, retry_delay {\n  seconds: 34\n  nanos: 500000000\n}") == [34.5]


def test_only_headers_that_tell_of_limits_are_kept() -> None:
    failure = Failure.from_text(
        "x", headers={"Authorization": "Bearer s3cret", "Set-Cookie": "a=b", "Retry-After": "1"}
    )
    assert dict(failure.headers) == {"retry-after": "1"}


def test_a_bucket_that_is_full_again_later_does_not_outrank_what_the_provider_says_of_the_next_try() -> None:
    bucket = {"x_ratelimit_remaining_tokens": "0", "x_ratelimit_reset_tokens": "1m0.052s"}
    assert waits(retry_after_ms="494", **bucket) == [0.494]
    assert waits(**bucket) == [60.052]
    window = {"x_codex_primary_used_percent": "100", "x_codex_primary_reset_after_seconds": "18000"}
    assert waits(retry_after="30", **window) == [18000, 30]


def test_a_length_of_time_in_seconds_and_nanos_is_read() -> None:
    assert waits(body={"error": {"details": [{"retryDelay": {"seconds": "7", "nanos": 500_000_000}}]}}) == [
        7.5
    ]
    assert waits(body={"error": {"details": [{"retryDelay": {"seconds": "soon"}}]}}) == []


def test_what_a_client_writes_of_its_own_next_try_is_no_guidance() -> None:
    assert waits(body={"retryInMs": 557.01, "retryAttempt": 1, "maxRetries": 10}) == []
    assert waits(body={"retryInMs": 557}) == [0.557]
