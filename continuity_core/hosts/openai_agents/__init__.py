"""OpenAI Agents: ``RunConfig(model_provider=ContinuityProvider())``, or ``ContinuityModel`` for one model.

:class:`ContinuityRunner` is the framework's ``Runner`` with the tool tail besides.
"""

from __future__ import annotations

try:
    import agents.retry  # noqa: F401
except ImportError as error:
    raise ImportError(
        "this host needs openai-agents; install it with: pip install 'continuity-core[openai-agents]'"
    ) from error

from continuity_core.hosts.openai_agents.events import TurnResumed
from continuity_core.hosts.openai_agents.model import ContinuityModel
from continuity_core.hosts.openai_agents.provider import ContinuityProvider
from continuity_core.hosts.openai_agents.runner import ContinuedStream, ContinuityRunner

__all__ = ["ContinuedStream", "ContinuityModel", "ContinuityProvider", "ContinuityRunner", "TurnResumed"]
