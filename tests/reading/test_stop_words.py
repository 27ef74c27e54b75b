"""One table says what providers' words for the end of a response mean."""

from __future__ import annotations

import pytest

from continuity_core import CauseKind, classify
from continuity_core.model.reading.stop_words import NO_STOP_WORD, read_stop_word
from continuity_core.model.stop_reason import StopReason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", StopReason.STOP),
        ("end_turn", StopReason.STOP),
        ("stop_sequence", StopReason.STOP),
        ("STOP", StopReason.STOP),
        ("tool_calls", StopReason.TOOL_USE),
        ("function_call", StopReason.TOOL_USE),
        ("tool_use", StopReason.TOOL_USE),
        ("length", StopReason.LENGTH),
        ("max_tokens", StopReason.LENGTH),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("max_output_tokens", StopReason.LENGTH),
    ],
)
def test_a_plain_word_is_normalised_without_a_failure(word: str, reason: StopReason) -> None:
    stop = read_stop_word(word)
    assert (stop.reason, stop.failure, stop.unfinished) == (reason, None, False)


@pytest.mark.parametrize(
    "word",
    [
        "content_filter",
        "refusal",
        "safety",
        "recitation",
        "prohibited_content",
        "model_context_window_exceeded",
    ],
)
def test_a_word_for_no_answer_is_a_failure_whose_code_is_the_word(word: str) -> None:
    stop = read_stop_word(word)
    assert stop.reason is StopReason.ERROR
    assert stop.failure is not None
    assert stop.failure.code == word
    assert word in stop.failure.message


@pytest.mark.parametrize("word", ["pause_turn", "pending", "deferred"])
def test_a_turn_that_goes_on_later_is_unfinished(word: str) -> None:
    stop = read_stop_word(word)
    assert stop.unfinished
    assert stop.failure is None


@pytest.mark.parametrize("word", [None, "", "  ", 7])
def test_a_missing_word_is_a_failure(word: object) -> None:
    stop = read_stop_word(word)
    assert stop.reason is StopReason.ERROR
    assert stop.failure is not None
    assert (stop.failure.message, stop.failure.code) == (NO_STOP_WORD, None)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("content_filter", CauseKind.PERMANENT),
        ("refusal", CauseKind.PERMANENT),
        ("SAFETY", CauseKind.PERMANENT),
        ("model_context_window_exceeded", CauseKind.CONTEXT_OVERFLOW),
        (None, CauseKind.TRANSIENT),
    ],
)
def test_the_reader_of_errors_knows_what_such_a_failure_is(word: str | None, kind: CauseKind) -> None:
    failure = read_stop_word(word).failure
    assert failure is not None
    assert classify(failure).kind is kind


def test_a_word_that_nobody_knows_is_never_taken_for_an_answer() -> None:
    stop = read_stop_word("Insufficient_System_Resource")
    assert stop.reason is StopReason.ERROR
    assert stop.failure is not None
    assert stop.failure.code == "insufficient_system_resource"


def test_what_the_provider_said_besides_is_kept() -> None:
    stop = read_stop_word("refusal", told="The request concerns a weapon.")
    assert stop.failure is not None
    assert stop.failure.message.endswith("The request concerns a weapon.")
