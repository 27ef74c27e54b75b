"""What is read of an exception, where the reading of provider errors is not concerned."""

from __future__ import annotations

import json

import httpx2
import pytest

from continuity_core.model.failure import Failure

ANSWER = json.dumps({"choices": [{"message": {"content": "Usage limit reached, try again in 5 minutes"}}]})


def failure_with(response: httpx2.Response) -> Failure:
    """As some clients raise what they could not read: with the response hung on it."""
    error = ValueError("Unterminated string starting at: line 1 column 40 (char 39)")
    error.response = response  # type: ignore[attr-defined]
    return Failure.from_exception(error)


@pytest.mark.parametrize("content", [ANSWER, ANSWER[:-8], ANSWER[:-3]])
def test_what_the_model_said_is_no_body_of_an_error(content: str) -> None:
    assert failure_with(httpx2.Response(200, text=content)).body is None


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, '{"error": {"message": "Usage limit reached"}, "choices": []}'),
        (200, '{"code": "1113", "msg": "Usage limit reached"}'),
        (200, "<html><h1>502 Bad Gateway</h1></html>"),
        (429, ANSWER[:-8]),
    ],
)
def test_what_a_provider_says_of_an_error_is(status: int, content: str) -> None:
    assert failure_with(httpx2.Response(status, text=content)).body == content
