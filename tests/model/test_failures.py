"""What is read of an exception, where the reading of provider errors is not concerned."""

from __future__ import annotations

import json

import httpx2
import pytest

from continuity_core.model.failure import Failure

ANSWER = json.dumps({"choices": [{"message": {"content": "Usage limit reached, try again in 5 minutes"}}]})


HALF = ANSWER[:-8]


def failure_with(response: httpx2.Response) -> Failure:
    """As some clients raise what they could not read: with the response hung on it."""
    error = ValueError("Unterminated string starting at: line 1 column 40 (char 39)")
    error.response = response  # type: ignore[attr-defined]
    return Failure.from_exception(error)


@pytest.mark.parametrize("content", [ANSWER, HALF, ANSWER[:-3]])
def test_what_the_model_said_is_no_body_of_an_error(content: str) -> None:
    assert failure_with(httpx2.Response(200, text=content)).body is None


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, '{"error": {"message": "Usage limit reached"}, "choices": []}'),
        (200, '{"code": "1113", "msg": "Usage limit reached"}'),
        (200, "<html><h1>502 Bad Gateway</h1></html>"),
        (429, HALF),
    ],
)
def test_what_a_provider_says_of_an_error_is(status: int, content: str) -> None:
    assert failure_with(httpx2.Response(status, text=content)).body == content


@pytest.mark.parametrize("form", ["APIError: {}", "APIError: could not read {}, Original Response: {}"])
def test_what_a_client_quotes_of_the_model_is_no_text_of_an_error(form: str) -> None:
    error = RuntimeError(form.format("Unterminated string", HALF) if "read" in form else form.format(HALF))
    try:
        json.loads(HALF)
    except json.JSONDecodeError as unreadable:
        error.__cause__ = unreadable
    failure = Failure.from_exception(error)
    assert failure.message.startswith("APIError:")
    assert "Usage limit" not in failure.message


def test_what_a_client_quotes_of_an_error_is() -> None:
    told = '{"error": {"message": "Usage limit reached'
    error = RuntimeError(f"APIError: {told}")
    try:
        json.loads(told)
    except json.JSONDecodeError as unreadable:
        error.__cause__ = unreadable
    assert "Usage limit" in Failure.from_exception(error).message
