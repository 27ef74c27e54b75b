"""Words by their stem, and what words of a sentence tell together."""

from __future__ import annotations

import pytest

from continuity_core.errors import CauseKind, Failure, classify
from continuity_core.errors.stems import stem
from continuity_core.errors.steps import by_faults
from continuity_core.errors.wordings import WORDINGS


@pytest.mark.parametrize(
    "forms", ["close closed closes closing", "crash crashed crashes", "exceed exceeds exceeding"]
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("message", "messages"), ("limit", "limited"), ("request", "requested")]
)
def test_a_form_that_tells_something_keeps_its_own_stem(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("the client connection is closing", CauseKind.TRANSIENT),
        ("two of the four workers died", CauseKind.TRANSIENT),
        ("gzip: the stream is corrupt", CauseKind.TRANSIENT),
        ("this prompt does not fit", CauseKind.CONTEXT_OVERFLOW),
        ("the variable EXAMPLE_KEY is not set in the environment", CauseKind.PERMANENT),
    ],
)
def test_words_that_no_table_has_as_a_phrase_are_read_together(text: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text(text)).kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "messages.3.content.0: the timeout block is unknown",
        "response_format: the schema 'usage limit' has no properties",
        "Invalid 'metadata.rate_limit': expected a string",
    ],
)
def test_a_named_field_of_the_request_outranks_the_words_of_its_value(text: str) -> None:
    assert classify(Failure.from_text(text, status=400)).kind is CauseKind.PERMANENT


def test_a_field_whose_content_is_too_long_is_still_an_overflow() -> None:
    text = "messages.3.content: prompt is too long: 213462 tokens > 200000 maximum"
    assert classify(Failure.from_text(text, status=400)).kind is CauseKind.CONTEXT_OVERFLOW


def test_a_mistake_in_a_program_is_not_the_providers_error() -> None:
    failure = Failure.from_exception(KeyError("rate_limits"))
    assert classify(failure).kind is CauseKind.UNKNOWN


def test_a_mistake_in_a_program_beside_the_providers_error_does_not_hide_it() -> None:
    failure = Failure.from_text("rate limit reached", exceptions=("KeyError", "openai.RateLimitError"))
    assert classify(failure).kind is CauseKind.RATE_LIMIT


def test_a_request_larger_than_its_bucket_never_fits() -> None:
    text = "This request needs 61,204 tokens; the bucket of this minute holds 60,000."
    assert classify(Failure.from_text(text, status=429)).kind is CauseKind.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("Failed to connect to the provider: your credentials are unset", None, CauseKind.PERMANENT),
        ("The purse of the team: balance exhausted", 500, CauseKind.PERMANENT),
        ("upstream error: this workspace is suspended", 429, CauseKind.PERMANENT),
        ("fetch failed: the certificate is not issued by a trusted issuer", None, CauseKind.PERMANENT),
        ("the model cluster is busy", 429, CauseKind.TRANSIENT),
        ("Rate limit: the daily calls of this project are used up", 429, CauseKind.USAGE_LIMIT),
        ("the answer stopped at a length of 4096 tokens, its maximum", None, CauseKind.LENGTH),
        ("the limit of this deployment is exceeded", 403, CauseKind.RATE_LIMIT),
    ],
)
def test_words_that_stand_together_outrank_what_else_broke(
    text: str, status: int | None, kind: CauseKind
) -> None:
    assert classify(Failure.from_text(text, status=status)).kind is kind


@pytest.mark.parametrize(
    "text",
    ["npm returned 503 Service Unavailable", "Hook lint: command timed out", "WebFetch: tool error 429"],
)
def test_a_text_that_begins_with_a_tools_failure_is_not_the_providers(text: str) -> None:
    assert classify(Failure.from_text(text)).kind is CauseKind.UNKNOWN


def test_a_handshake_that_is_refused_is_no_broken_connection() -> None:
    text = "failed to connect to the websocket: HTTP error: 403 Forbidden by the gateway"
    assert classify(Failure.from_text(text)).kind is CauseKind.PERMANENT


def test_a_limit_is_the_reason_of_a_stream_that_was_cut_for_it() -> None:
    cut = "stream disconnected before completion: "
    assert classify(Failure.from_text(cut + "The throughput cap is reached")).kind is CauseKind.RATE_LIMIT
    assert classify(Failure.from_text(cut + "the connection limit was reached")).kind is CauseKind.TRANSIENT


@pytest.mark.parametrize(
    "text", ["the output cap of this model was hit", "the completion hit its length limit"]
)
def test_an_output_cap_is_read_by_its_words(text: str) -> None:
    assert classify(Failure.from_text(text)).kind is CauseKind.LENGTH


def test_an_allowance_that_comes_back_within_a_minute_is_a_throttle() -> None:
    text = "Your allowance will reset after {}"
    assert classify(Failure.from_text(text.format("53s"))).kind is CauseKind.RATE_LIMIT
    assert classify(Failure.from_text(text.format("5h"))).kind is CauseKind.USAGE_LIMIT


def test_the_rows_that_a_step_singles_out_are_rows_of_the_tables() -> None:
    known = {f"{table}:{row.name}" for table, rows in WORDINGS.tables.items() for row in rows}
    assert known >= by_faults.NOT_REACHED | by_faults.FORWARDED | by_faults.SAYING_LITTLE
