"""The order of evidence."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from continuity_core.errors import CauseKind, Failure, classify

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def kind(text: str = "", **known: object) -> CauseKind:
    return classify(Failure.from_text(text, **known), now=NOW).kind  # type: ignore[arg-type]


def test_a_tools_failure_is_not_the_providers() -> None:
    assert kind("429 Too Many Requests", where="tool") is CauseKind.UNKNOWN
    assert kind("429 Too Many Requests", where="model") is CauseKind.RATE_LIMIT


def test_the_providers_type_outranks_its_prose() -> None:
    body = json.dumps({"error": {"type": "engine_overloaded_error", "message": "rate limit exceeded"}})
    assert kind("rate limit exceeded", status=429, body=body) is CauseKind.TRANSIENT
    body = json.dumps({"error": {"type": "rate_limit_error", "message": "The engine is overloaded"}})
    assert kind("The engine is overloaded", status=429, body=body) is CauseKind.RATE_LIMIT


def test_a_quoted_providers_code_outranks_the_gateways() -> None:
    inner = json.dumps({"error": {"type": "invalid_request_error", "message": "bad tool"}})
    outer = {"error": {"type": "overloaded_error", "message": f"upstream said {inner}"}}
    assert kind(json.dumps(outer), status=529) is CauseKind.PERMANENT
    outer = {"error": {"type": "overloaded_error", "message": "upstream said nothing"}}
    assert kind(json.dumps(outer), status=529) is CauseKind.TRANSIENT


def test_money_outranks_the_status() -> None:
    for status in (402, 403, 429, 500):
        assert kind("insufficient balance", status=status) is CauseKind.PERMANENT


def test_a_balance_that_comes_back_at_a_stated_time_is_a_window() -> None:
    assert kind("Insufficient credits.") is CauseKind.PERMANENT
    assert kind("Insufficient credits. Your credits refresh in 3 hours.") is CauseKind.USAGE_LIMIT


def test_the_same_sentence_is_money_with_one_provider_and_a_throttle_with_another() -> None:
    sentence = "You exceeded your current quota, please check your plan and billing details."
    assert kind(sentence, status=429) is CauseKind.PERMANENT
    assert kind(f"{sentence} RESOURCE_EXHAUSTED", status=429) is CauseKind.RATE_LIMIT
    assert kind(f"{sentence} https://help.aliyun.com/x", status=429) is CauseKind.RATE_LIMIT


def test_a_request_larger_than_the_limit_never_fits_whatever_the_status() -> None:
    text = "Rate limit reached on tokens per minute (TPM): Limit 7000, Used 0, Requested {}. Try again in 7s."
    assert kind(text.format("7,895"), status=429) is CauseKind.CONTEXT_OVERFLOW
    assert kind(text.format("6,895"), status=429) is CauseKind.RATE_LIMIT


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, CauseKind.RATE_LIMIT), (900, CauseKind.RATE_LIMIT), (901, CauseKind.USAGE_LIMIT)],
)
def test_more_than_fifteen_minutes_make_a_vague_limit_a_window(seconds: int, expected: CauseKind) -> None:
    assert kind("Too many requests", headers={"retry-after": str(seconds)}) is expected
    assert kind(f"Weekly limit reached, retry after {seconds} s") is CauseKind.USAGE_LIMIT


def test_a_bucket_of_a_day_is_a_window_unless_it_refills_soon() -> None:
    assert kind("Rate limit reached on tokens per day (TPD)") is CauseKind.USAGE_LIMIT
    assert kind("Rate limit reached on tokens per day (TPD). Try again in 9m38s") is CauseKind.RATE_LIMIT


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, CauseKind.UNKNOWN),
        (401, CauseKind.PERMANENT),
        (402, CauseKind.PERMANENT),
        (403, CauseKind.PERMANENT),
        (404, CauseKind.PERMANENT),
        (408, CauseKind.TRANSIENT),
        (409, CauseKind.TRANSIENT),
        (413, CauseKind.CONTEXT_OVERFLOW),
        (422, CauseKind.PERMANENT),
        (429, CauseKind.RATE_LIMIT),
        (500, CauseKind.TRANSIENT),
        (501, CauseKind.PERMANENT),
        (502, CauseKind.TRANSIENT),
        (529, CauseKind.TRANSIENT),
        (599, CauseKind.TRANSIENT),
        (200, CauseKind.UNKNOWN),
        (None, CauseKind.UNKNOWN),
    ],
)
def test_a_bare_status_decides_where_nothing_else_does(status: int | None, expected: CauseKind) -> None:
    assert kind("", status=status) is expected


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 503",
        "503: gone",
        "status_code=503",
        "got status: 503",
        "API Error (503 {})",
        "[503 ]",
        "Error code: 503",
        "(HTTP 503)",
        "responded with status 503",
        "it said 503 Service Unavailable again",
        '{"error":{"code":503}}',
        "{'status': '503'}",
    ],
)
def test_a_status_is_read_from_a_field_or_an_anchored_place(text: str) -> None:
    assert kind(text) is CauseKind.TRANSIENT


@pytest.mark.parametrize(
    "text",
    [
        "wrote 503 of 1048576 bytes",
        "trace 401-503-9f",
        "503 bytes",
        "line 503, in run",
        "listening on 127.0.0.1:503",
        "id 1503529",
        "got 503 tokens",
        "version 5.0.503",
        "503%",
        "503ms",
    ],
)
def test_other_digits_are_no_status(text: str) -> None:
    assert kind(text) is CauseKind.UNKNOWN


def test_x_should_retry_counts_more_than_a_bare_status() -> None:
    assert kind("", status=500, headers={"x-should-retry": "false"}) is CauseKind.PERMANENT
    assert kind("", status=404, headers={"x-should-retry": "true"}) is CauseKind.TRANSIENT
    assert kind("", headers={"x-should-retry": "true"}) is CauseKind.TRANSIENT
    assert kind("invalid api key", status=401, headers={"x-should-retry": "true"}) is CauseKind.PERMANENT


def test_a_caller_who_stops_is_told_from_a_transport_that_cancels() -> None:
    assert kind("aborted") is CauseKind.CANCELLED
    assert kind("terminated") is CauseKind.TRANSIENT
    assert kind("The pending stream has been canceled", code="ERR_HTTP2_STREAM_CANCEL") is CauseKind.TRANSIENT
    assert kind("", exceptions=["asyncio.exceptions.CancelledError"]) is CauseKind.CANCELLED
    assert (
        kind("The operation was aborted due to timeout", exceptions=["TimeoutError"]) is CauseKind.TRANSIENT
    )


def test_guidance_is_kept_only_where_a_wait_can_help() -> None:
    for text, count in (
        ("Rate limited. Try again in 60 seconds", 1),
        ("Overloaded. Try again in 60 seconds", 1),
        ("Session token has expired. Try again in 60 seconds", 0),
        ("[Request interrupted by user] Try again in 60 seconds", 0),
    ):
        assert len(classify(Failure.from_text(text), now=NOW).guidance) == count


def test_a_text_with_guidance_alone_is_a_limit_of_its_length() -> None:
    assert kind("Try again in 60 seconds") is CauseKind.RATE_LIMIT
    assert kind("Try again in 60 minutes") is CauseKind.USAGE_LIMIT


def test_words_in_web_addresses_say_nothing() -> None:
    assert (
        kind("see https://example.invalid/rate-limits/quota?upgrade=429#insufficient-balance")
        is CauseKind.UNKNOWN
    )


def test_a_proxys_page_is_read_without_its_markup() -> None:
    hidden = "<style>.rate-limit{}</style><script>var quota=429</script>"
    page = f"<!DOCTYPE html>{hidden}<title>502 Bad Gateway</title>"
    assert kind(page) is CauseKind.TRANSIENT


def test_words_that_a_terminal_broke_are_read() -> None:
    assert kind("prompt is too lo\nng for it") is CauseKind.CONTEXT_OVERFLOW
    assert kind('{"type":"overload     ed_error"}') is CauseKind.TRANSIENT


def test_the_moment_defaults_to_now() -> None:
    cause = classify(Failure.from_text("Usage limit reached, resets at 2001-09-10T00:00:00Z"))
    assert cause.guidance[0].wait_from(datetime.now(UTC)) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the peer went away and the socket is closed", CauseKind.TRANSIENT),
        ("your weekly allotment is spent", CauseKind.USAGE_LIMIT),
        ("more calls than the maximum throughput", CauseKind.RATE_LIMIT),
        ("this conversation is far too big", CauseKind.CONTEXT_OVERFLOW),
        ("the answer was cut: maximum length", CauseKind.LENGTH),
        ("that credential seems to be wrong", CauseKind.PERMANENT),
    ],
)
def test_words_that_stand_together_tell_what_no_known_wording_does(text: str, expected: CauseKind) -> None:
    cause = classify(Failure.from_text(text), now=NOW)
    assert cause.kind is expected
    assert cause.rule is not None
    assert cause.rule.startswith("words:")


def test_words_of_different_sentences_do_not_stand_together() -> None:
    assert kind("The socket is open. The door is closed.") is CauseKind.UNKNOWN


def test_words_are_not_believed_beside_a_mistake_in_a_program_or_a_telling_status() -> None:
    assert kind("TypeError: unsupported type of a parameter") is CauseKind.UNKNOWN
    assert kind("the socket is closed", status=403) is CauseKind.PERMANENT


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ('{"type":"error","error":{"type":"overloaded_error"}}', "'overloaded_error'"),
        ('{"error":{"code":"RESOURCE_EXHAUSTED"}}', "'RESOURCE_EXHAUSTED'"),
    ],
)
def test_the_reason_quotes_a_code_as_the_provider_spells_it(text: str, spelling: str) -> None:
    assert spelling in classify(Failure.from_text(text), now=NOW).why


def test_the_reason_quotes_an_exception_as_it_is_spelled() -> None:
    failure = Failure.from_text("", exceptions=("openai.RateLimitError",))
    assert "RateLimitError" in classify(failure, now=NOW).why


def test_the_evidence_of_a_wait_names_the_field_or_the_header_as_it_is_spelled() -> None:
    field = classify(Failure.from_text('{"error":{"code":"rate_limit","resets_in_seconds":720}}'), now=NOW)
    assert field.guidance[0].evidence == "resets_in_seconds=720"
    headers = {"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "6m0s"}
    header = classify(Failure.from_text("slow down", status=429, headers=headers), now=NOW)
    assert header.guidance[0].evidence == "x-ratelimit-reset-tokens: 6m0s"


@pytest.mark.parametrize(
    "denial", ["not your usage limit", "this is not a billing issue", "not due to a quota limit"]
)
def test_what_a_text_says_not_to_be_the_reason_is_none(denial: str) -> None:
    cause = classify(
        Failure.from_text(f"The server limits requests at the moment ({denial}): rate limited"), now=NOW
    )
    assert cause.kind is CauseKind.RATE_LIMIT


def test_a_stated_wait_outweighs_words_of_sign_in_beside_a_limit() -> None:
    text = "Permission denied: rate limit reached for this model. Resets in: 2m27s"
    cause = classify(Failure.from_text(text), now=NOW)
    assert (cause.kind, cause.guidance[0].seconds) == (CauseKind.RATE_LIMIT, 147)
    assert classify(Failure.from_text(text, status=401), now=NOW).kind is CauseKind.PERMANENT


@pytest.mark.parametrize(
    "prefix", ["", "Error: ", "AbortError: ", "ConnectError: [canceled] ", "CanceledError: "]
)
@pytest.mark.parametrize("stop", ["canceled", "This operation was aborted", "request was cancelled."])
def test_a_bare_stop_is_a_stop_behind_any_prefix(prefix: str, stop: str) -> None:
    assert classify(Failure.from_text(prefix + stop), now=NOW).kind is CauseKind.CANCELLED


def test_single_words_lean_one_way_where_nothing_else_tells() -> None:
    assert kind("this seat is not eligible") is CauseKind.PERMANENT
    assert kind("a hiccup on our side") is CauseKind.TRANSIENT
    assert kind("the tool is not installed") is CauseKind.UNKNOWN


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The gateway says so: (INSUFFICIENT_CREDITS)", CauseKind.PERMANENT),
        ("the reason is MODEL_CAPACITY_EXHAUSTED, it seems", CauseKind.TRANSIENT),
    ],
)
def test_a_decisive_code_counts_as_a_word_of_prose(text: str, kind: CauseKind) -> None:
    cause = classify(Failure.from_text(text))
    assert cause.kind is kind
    assert cause.rule.startswith("code:")


def test_a_quoted_name_is_no_code() -> None:
    cause = classify(Failure.from_text("the name 'usage_limit_reached' is taken"))
    assert not cause.rule.startswith("code:")


def test_a_status_stands_behind_a_closed_bracket() -> None:
    text = "Error in the API call (Attempt 1/3): {} Provider returned error"
    assert classify(Failure.from_text(text.format(400))).kind is CauseKind.UNKNOWN
    assert classify(Failure.from_text(text.format(429))).kind is CauseKind.RATE_LIMIT


def test_a_throttle_is_the_reason_of_a_bare_refusal() -> None:
    page = "<html><title>Access denied</title><h1>Error 1015</h1><h2>You are being rate limited</h2></html>"
    assert classify(Failure.from_text(page)).kind is CauseKind.RATE_LIMIT
    assert classify(Failure.from_text("Access denied")).kind is CauseKind.PERMANENT


def test_an_offer_of_a_spending_limit_is_no_spent_one() -> None:
    text = "You've hit your usage limit for this model. Switch to Auto or set a spend limit."
    assert classify(Failure.from_text(text)).kind is CauseKind.USAGE_LIMIT


def test_x_should_retry_counts_more_than_a_bad_request() -> None:
    failure = Failure.from_text("not now", status=400, headers={"x-should-retry": "true"})
    assert classify(failure).kind is CauseKind.TRANSIENT


def test_a_plan_without_the_model_is_no_spent_window() -> None:
    text = "your current token plan does not offer this model"
    assert classify(Failure.from_text(text)).kind is CauseKind.PERMANENT
