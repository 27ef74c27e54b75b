"""The reference host: a small agent session over the providers' own SDKs.

It does what any agent framework does, as plainly as possible, and is where a behaviour is looked at first. It
is not another agent framework.
"""

from __future__ import annotations

from continuity_core.hosts.reference.history import HistoryEntry
from continuity_core.hosts.reference.models.anthropic import AnthropicModel
from continuity_core.hosts.reference.models.base import Connection, Model, ModelCall, ModelRequest
from continuity_core.hosts.reference.models.openai_chat import OpenAIChatModel
from continuity_core.hosts.reference.outcome import SessionOutcome
from continuity_core.hosts.reference.session import AgentSession
from continuity_core.hosts.reference.tools import EndsRun, Tool

__all__ = [
    "AgentSession",
    "AnthropicModel",
    "Connection",
    "EndsRun",
    "HistoryEntry",
    "Model",
    "ModelCall",
    "ModelRequest",
    "OpenAIChatModel",
    "SessionOutcome",
    "Tool",
]
