"""One request against the limit that the text tells beside it."""

from __future__ import annotations

import pytest

from continuity_core.errors import CauseKind, Failure, classify
from continuity_core.errors.sizes import larger_than_its_limit, more_tokens_than_fit


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("tokens per min: limit 30000, requested 31538", (31538, 30000)),
        (
            "this request of 52,000 tokens is larger than the 30,000 tokens per minute of this key",
            (52000, 30000),
        ),
        ("tokens per min: limit 30000, requested 385", None),
        ("used 52,000 tokens, more than 30,000 per minute, by this request", None),
        ("the line has 120 characters more than 79", None),
    ],
)
def test_a_request_is_compared_with_its_limit(text: str, sizes: tuple[int, int] | None) -> None:
    assert larger_than_its_limit(text) == sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("45012 tokens > 32768", (45012, 32768)),
        ("32768 > 45012 tokens", None),
        ("max_tokens: 200000 > 64000 tokens", None),
    ],
)
def test_an_arrow_between_numbers_of_tokens_is_read(text: str, sizes: tuple[int, int] | None) -> None:
    assert more_tokens_than_fit(text) == sizes


def test_a_request_that_is_larger_than_a_bucket_never_fits() -> None:
    text = "Request of 52,000 tokens is larger than the 30,000 tokens per minute of this key"
    assert classify(Failure.from_text(text, status=429)).kind is CauseKind.CONTEXT_OVERFLOW
