"""What a request of LangChain says of itself, and how it is changed for one turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelPermissionDeniedError,
    ModelRefusalError,
)

from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.decisions import Adjust

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
"""Names of the output limit: OpenAI and Anthropic, OpenAI's older one, Google, Ollama."""
_EFFORT = "reasoning_effort"
_VERDICTS: Mapping[type[BaseException], CauseKind] = {
    ContextOverflowError: CauseKind.CONTEXT_OVERFLOW,
    ModelAuthenticationError: CauseKind.PERMANENT,
    ModelPermissionDeniedError: CauseKind.PERMANENT,
    ModelRefusalError: CauseKind.PERMANENT,
}


class OutputLimits:
    """The output limits of requests; the model's own is looked up once, as long as the model is the same."""

    def __init__(self) -> None:
        self._model: Any = None
        self._limit: int | None = None

    def of(self, request: ModelRequest[Any]) -> int | None:
        """The output tokens that the request asks for."""
        if request.model_settings:
            given = _first_limit(request.model_settings.get)
            if given is not None:
                return given
        if request.model is not self._model:
            self._limit = _first_limit(lambda name: getattr(request.model, name, None))
            self._model = request.model
        return self._limit


def _first_limit(value_of: Callable[[str], Any]) -> int | None:
    for name in _LIMITS:
        limit = value_of(name)
        if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
            return limit
    return None


def adjusted(request: ModelRequest[Any], adjust: Adjust | None) -> ModelRequest[Any]:
    """The request with other settings, as far as its model knows them."""
    if adjust is None:
        return request
    changes: dict[str, Any] = {}
    if adjust.max_output_tokens is not None:
        name = _name_of_limit(request)
        if name is not None:
            changes[name] = adjust.max_output_tokens
    if adjust.reasoning_effort is not None and hasattr(request.model, _EFFORT):
        changes[_EFFORT] = adjust.reasoning_effort.value
    if not changes:
        return request
    return request.override(model_settings={**request.model_settings, **changes})


def _name_of_limit(request: ModelRequest[Any]) -> str | None:
    """The name that the request already uses, or else the one by which the model takes its own limit."""
    given = next((name for name in _LIMITS if name in request.model_settings), None)
    if given is not None:
        return given
    name = next((name for name in _LIMITS if hasattr(request.model, name)), None)
    field = getattr(type(request.model), "model_fields", {}).get(name)
    alias = None if field is None else field.alias  # langchain_openai sends its own one beside any other name
    return alias if alias in _LIMITS else name


def direct_tools_of(request: ModelRequest[Any]) -> frozenset[str]:
    """The tools whose result is the run's."""
    return frozenset(tool.name for tool in request.tools if getattr(tool, "return_direct", False) is True)


def verdict_of(error: BaseException) -> Cause | None:
    """LangChain's own classification, where it says more than that something failed."""
    for kind, cause in _VERDICTS.items():
        if isinstance(error, kind):
            why = f"LangChain calls it {type(error).__mro__[0].__name__}."
            return Cause(kind=cause, why=why, rule=f"langchain.{kind.__name__}")
    return None
