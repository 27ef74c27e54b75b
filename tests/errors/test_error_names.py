"""Codes, types and exceptions that no table lists, read by the words of their names."""

from __future__ import annotations

import pytest

from continuity_core.errors import CauseKind, Failure, classify

NAMES = {
    CauseKind.PERMANENT: "AuthFailure.SignatureExpire UserAccountArrears MODEL_NOT_ALLOWED prompt_blocked",
    CauseKind.TRANSIENT: "model_busy upstream_timeout STREAM_INTERRUPTED no_available_channel",
    CauseKind.RATE_LIMIT: "QpsLimitExceeded too_many_concurrent_requests CONCURRENT_LIMIT RequestThrottled",
    CauseKind.USAGE_LIMIT: "daily_quota_exceeded plan_limit_reached WeeklyLimitReached",
    CauseKind.CONTEXT_OVERFLOW: "input_too_long MaxContextLengthExceeded payload_too_large",
    CauseKind.LENGTH: "output_truncated max_tokens_reached",
}
ROWS = [(name, kind) for kind, names in NAMES.items() for name in names.split()]


@pytest.mark.parametrize(("name", "kind"), ROWS)
def test_a_code_is_read_by_its_words(name: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text("error", code=name)).kind is kind


@pytest.mark.parametrize(("name", "kind"), ROWS)
def test_a_code_in_json_is_read_by_its_words(name: str, kind: CauseKind) -> None:
    text = f'{{"error": {{"code": "{name}", "message": "It did not work."}}}}'
    assert classify(Failure.from_text(text)).kind is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ModelBusyError", CauseKind.TRANSIENT), ("AccountSuspendedError", CauseKind.PERMANENT)],
)
def test_an_exception_is_read_by_its_words(name: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text("oh", exceptions=(f"sdk.{name}",))).kind is kind


def test_a_frameworks_own_name_for_status_400_says_no_more_than_the_status() -> None:
    name = "langchain_openai.OpenAIInvalidRequestError"
    bare = Failure.from_text(
        "Error code: 400", status=400, body='{"detail":"Bad Request"}', exceptions=(name,)
    )
    told = Failure.from_text("Error code: 400 - no such field", status=400, exceptions=(name,))
    assert classify(bare).kind is CauseKind.UNKNOWN
    assert classify(told).kind is CauseKind.PERMANENT


@pytest.mark.parametrize("name", ["new_api_error", "ERR_17", "Client", "BadThing", "model_http_error"])
def test_a_name_whose_words_tell_nothing_decides_nothing(name: str) -> None:
    assert classify(Failure.from_text("it", code=name)).kind is CauseKind.UNKNOWN


def test_a_window_in_a_code_makes_a_vague_limit_one() -> None:
    failure = Failure.from_text("Quota exceeded", status=429, code="monthly_quota_exceeded")
    assert classify(failure).kind is CauseKind.USAGE_LIMIT


def test_the_words_of_a_code_do_not_outrank_a_status_that_decides() -> None:
    assert classify(Failure.from_text("error", status=401, code="model_busy")).kind is CauseKind.PERMANENT


def test_a_mistake_in_a_program_that_quotes_a_provider_is_the_providers_error() -> None:
    text = "KeyError: \"no text: {'error': {'message': 'The model is overloaded.', 'type': 'server_error'}}\""
    assert classify(Failure.from_text(text, exceptions=("KeyError",))).kind is CauseKind.TRANSIENT


def test_the_cancellation_of_any_library_is_a_stop_and_its_timeout_is_not() -> None:
    assert (
        classify(Failure.from_text("x", exceptions=("kotlinx.JobCancellationException",))).kind == "cancelled"
    )
    assert (
        classify(Failure.from_text("x", exceptions=("kotlinx.TimeoutCancellationException",))).kind
        == "transient"
    )


def test_what_a_gateway_hands_on_as_a_wrong_request_is_no_broken_connection() -> None:
    text = "Upstream request failed: [invalid_request_error] The request contains invalid parameters."
    assert classify(Failure.from_text(text)).kind is CauseKind.PERMANENT
