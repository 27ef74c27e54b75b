"""The runner's own retries (``ModelSettings.retry``), made before continuity decides.

The runner retries around the model, so that its retries would come after continuity's, and start continuity's
anew each time. While recovery is on they are made inside instead, by the same function of the framework with
the same settings; what is raised after that is marked as not to be retried again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents import ModelResponse
from agents.models.interface import Model
from agents.retry import ModelRetryAdvice, ModelRetryNormalizedError

from continuity_core.hosts.openai_agents.request import Request

NOT_AGAIN = ModelRetryAdvice(
    suggested=False,
    replay_safety="unsafe",
    reason="native retries are spent, and continuity has decided",
    normalized=ModelRetryNormalizedError(is_abort=True),
)
"""The advice that no retry policy overrules."""


async def get_response(model: Model, request: Request, count: Callable[[], None]) -> ModelResponse:
    """Ask without streaming; ``count`` is called for each request."""

    async def ask() -> ModelResponse:
        count()
        return await model.get_response(**request.arguments)

    if not request.retries_natively:
        return await ask()
    from agents.run_internal.model_retry import get_response_with_retry

    return await get_response_with_retry(get_response=ask, **_how(model, request))


def stream_response(model: Model, request: Request, count: Callable[[], None]) -> Any:
    """Ask with streaming, for an iterator of events; ``count`` is called for each request."""

    def ask() -> Any:
        count()
        return model.stream_response(**request.arguments)

    if not request.retries_natively:
        return ask()
    from agents.run_internal.model_retry import stream_response_with_retry

    return stream_response_with_retry(get_stream=ask, **_how(model, request))


def _how(model: Model, request: Request) -> dict[str, Any]:
    return {
        "rewind": _nothing_to_rewind,
        "retry_settings": request.model_settings.retry,
        "get_retry_advice": model.get_retry_advice,
        "previous_response_id": request.arguments.get("previous_response_id"),
        "conversation_id": None,
    }


async def _nothing_to_rewind() -> None:
    """The request is sent again as it is; what the runner keeps of it stays."""
