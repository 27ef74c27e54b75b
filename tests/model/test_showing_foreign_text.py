"""Text of providers and plugins is shown on one line, bounded, and without secrets."""

from __future__ import annotations

import pytest

from continuity_core.model.masking import masked, printable, shown

KEY = "sk-proj-abcdefghijklmnop1234"


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"\x1b[31m{KEY}\x1b[0m was refused",
        "x \x1b[1msk-\x1b[0mproj-abcdefghijklmnop1234",
        f"Authorization: Bearer {KEY}",
        "authorization: Basic dXNlcjpwYXNzd29yZA==",
        '{"api_key": "abcdefgh12345678"}',
        "password=hunter2hunter2",
        "AIzaSyA1234567890abcdefghijklmnop",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_123",
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str) -> None:
    result = shown(text)
    assert "***" in result
    for secret in (
        KEY,
        "abcdefghijklmnop1234",
        "dXNlcjpwYXNz",
        "abcdefgh12345678",
        "hunter2",
        "AIzaSy",
        "IOSFODNN7",
        "eyJzdWIi",
    ):
        assert secret not in result


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided.",
        "You can find your API key at the provider's site",
        "Basic information about the request",
        "Rate limit reached for requests per minute",
        "the secret is out",
    ],
)
def test_ordinary_words_about_keys_stay(text: str) -> None:
    assert masked(text) == text


def test_control_characters_and_escapes_are_gone_and_length_is_bounded() -> None:
    assert printable("a\x1b]0;title\x07b\x00c\r\nd\u2028e\u202ef") == "ab c d e f"
    assert len(printable("x" * 10_000)) == 500
    assert printable("x" * 10, 5) == "xxxx…"
    assert printable("\x1b[" + "9" * 1_000_000)
