"""What a client says of every refused request is no reason that the provider gave."""

from __future__ import annotations

import pytest

from continuity_core import CauseKind, Failure
from continuity_core.errors import classify

HTTPX = (
    "Client error '400 Bad Request' for url 'https://api.example.com/v1/messages'\n"
    "For more information check: https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/400"
)


@pytest.mark.parametrize(
    "text",
    [
        HTTPX,
        'litellm.BadRequestError: AnthropicException - b\'{"detail":"Bad Request"}\'\n' + HTTPX,
        "litellm.BadRequestError: OpenAIException - Error code: 400 - {'detail': 'Bad Request'}",
    ],
)
def test_a_status_400_about_which_only_the_client_has_words_is_undiagnosed(text: str) -> None:
    assert classify(Failure.from_text(text, status=400)).kind is CauseKind.UNKNOWN


def test_a_status_400_with_a_reason_of_the_provider_s_is_permanent() -> None:
    text = 'litellm.BadRequestError: AnthropicException - b\'{"detail":"temperature must be below 2"}\'\n'
    assert classify(Failure.from_text(text + HTTPX, status=400)).kind is CauseKind.PERMANENT
