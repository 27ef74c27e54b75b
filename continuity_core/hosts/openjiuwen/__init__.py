"""openJiuwen: one rail on an agent, ``await agent.register_rail(ContinuityRail())``."""

from __future__ import annotations

try:
    import openjiuwen.core.single_agent.rail.base  # noqa: F401
except ImportError as error:
    raise ImportError(
        "this host needs openjiuwen; install it with: pip install 'continuity-core[openjiuwen]'"
    ) from error

from continuity_core.hosts.openjiuwen.rail import ContinuityRail

__all__ = ["ContinuityRail"]
