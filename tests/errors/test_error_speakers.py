"""Texts in which no provider speaks, although they have the words of its errors."""

from __future__ import annotations

import pytest

from continuity_core.errors import CauseKind, Failure, classify


@pytest.mark.parametrize(
    "text",
    [
        "slack.message.post failed: rate_limited, retry after 30s",
        "mcp__files__read failed: timed out",
        "fetch_url error: HTTP 503",
        "Error during web search: 429 Too Many Requests",
        "Read tests/test_limits.py: 31: 'You have hit your usage limit. Try again at 3:45 PM.'",
        "WebFetch: 429 Too Many Requests",
        "gh: API rate limit exceeded for user ID 1. (HTTP 403)",
        "page.goto: net::ERR_CONNECTION_REFUSED",
        "[Tavily] This request exceeds your plan's set usage limit.",
        '{"isError": true, "content": [{"type": "text", "text": "429 Too Many Requests"}]}',
    ],
)
def test_a_tools_error_is_not_the_providers(text: str) -> None:
    assert classify(Failure.from_text(text)).kind is CauseKind.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "fix(retry): back off when the rate limit is reached",
        "if response.status == 429: sleep(5)",
        "except openai.RateLimitError as error:",
        "expect(error.message).toContain('usage limit reached')",
        "RATE_LIMIT_ENABLED=true",
    ],
)
def test_a_line_of_a_program_only_mentions_errors(text: str) -> None:
    assert classify(Failure.from_text(text)).kind is CauseKind.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "Your usage limit resets at 3 PM",
        "You have 5 messages remaining until 3 PM",
        "3 of 50 premium requests used",
        "rate limit: 58 of 60 requests left",
        '{"rate_limit": {"allowed": true, "limit_reached": false, "reset_after_seconds": 2470886}}',
        "does my usage limit reset at 3pm?",
    ],
)
def test_a_display_of_usage_or_a_question_about_it_is_no_failure(text: str) -> None:
    cause = classify(Failure.from_text(text))
    assert cause.kind is CauseKind.UNKNOWN
    assert cause.guidance == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("api.openai.com returned 502", CauseKind.TRANSIENT),
        ("openai.chat.completions.create failed: 429 too many requests", CauseKind.RATE_LIMIT),
        ("50 of 50 premium requests used", CauseKind.USAGE_LIMIT),
        ("You've hit your limit. Your limit resets at 3 PM.", CauseKind.USAGE_LIMIT),
        ("tool_use ids were found without tool_result blocks immediately after", CauseKind.PERMANENT),
    ],
)
def test_what_a_provider_says_in_a_like_form_is_still_read(text: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text(text)).kind is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("could not connect to ollama app, is it running?", CauseKind.TRANSIENT),
        ("Cooldown: 30 seconds remaining", CauseKind.RATE_LIMIT),
        ("If this is a temporary overload, try again later", CauseKind.TRANSIENT),
        ("Updated terms of service must be accepted", CauseKind.PERMANENT),
    ],
)
def test_an_errors_own_question_remaining_time_or_condition_does_not_hide_it(
    text: str, kind: CauseKind
) -> None:
    assert classify(Failure.from_text(text)).kind is kind
