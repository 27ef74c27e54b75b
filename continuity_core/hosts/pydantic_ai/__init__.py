"""pydantic-ai: one capability, ``Agent(..., capabilities=[ContinuityCapability()])``, or per run."""

from __future__ import annotations

try:
    import pydantic_ai.capabilities  # noqa: F401
except ImportError as error:
    raise ImportError(
        "this host needs pydantic-ai of version 2; install it with: "
        "pip install 'continuity-core[pydantic-ai]'"
    ) from error

from continuity_core.hosts.pydantic_ai.capability import ContinuityCapability
from continuity_core.hosts.pydantic_ai.events import TurnResumed

__all__ = ["ContinuityCapability", "TurnResumed"]
