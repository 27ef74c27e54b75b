"""OpenHands: one line around a conversation, ``ContinuityConversation(Conversation(...))``."""

from __future__ import annotations

try:
    import openhands.sdk  # noqa: F401
except ImportError as error:
    raise ImportError(
        "this host needs openhands-sdk (Python 3.12 or later); install it with: "
        "pip install 'continuity-core[openhands]'"
    ) from error

from continuity_core.hosts.openhands.conversation import ContinuityConversation

__all__ = ["ContinuityConversation"]
