"""What models of pydantic-ai report."""

from __future__ import annotations

from typing import Any

_SAY_WHY = (
    "pydantic_ai.models.openai",
    "pydantic_ai.models.anthropic",
)
"""Modules whose streams give the provider's own word for the stop, where one came."""


def says_why_it_stops(model: Any) -> bool:
    """Whether a missing word for the stop means that the provider did not send one.

    Of a fallback model, all candidates have to.
    """
    candidates = getattr(model, "models", None)
    if candidates:
        return all(says_why_it_stops(candidate) for candidate in candidates)
    wrapped = getattr(model, "wrapped", None)
    if wrapped is not None:
        return says_why_it_stops(wrapped)
    return any(
        base.__module__.startswith(_SAY_WHY) and base.__name__.endswith("Model")
        for base in type(model).__mro__
    )
