"""pydantic-ai: one capability, ``Agent(..., capabilities=[ContinuityCapability()])``, or per run."""

from __future__ import annotations

try:
    from pydantic_ai.capabilities import AbstractCapability
except ImportError as error:
    raise ImportError(
        "continuity_core.hosts.pydantic_ai needs pydantic-ai: pip install 'continuity-core[pydantic-ai]'"
    ) from error
if not hasattr(AbstractCapability, "prepare_model_request"):
    raise ImportError(
        "continuity_core.hosts.pydantic_ai needs pydantic-ai 2.64 or later: "
        "pip install --upgrade 'continuity-core[pydantic-ai]'"
    )

from continuity_core.hosts.pydantic_ai.capability import ContinuityCapability
from continuity_core.hosts.pydantic_ai.events import TurnResumed

__all__ = ["ContinuityCapability", "TurnResumed"]
