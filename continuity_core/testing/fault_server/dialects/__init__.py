"""The wire formats that the server speaks: one module each."""

from __future__ import annotations

from continuity_core.testing.fault_server.dialects.base import Dialect
from continuity_core.testing.fault_server.dialects.chat import ChatCompletions
from continuity_core.testing.fault_server.dialects.messages import AnthropicMessages
from continuity_core.testing.fault_server.dialects.responses import OpenAIResponses

__all__ = ["DIALECTS", "AnthropicMessages", "ChatCompletions", "Dialect", "OpenAIResponses", "dialect_of"]

DIALECTS: tuple[Dialect, ...] = (ChatCompletions(), OpenAIResponses(), AnthropicMessages())
"""Every dialect; a request's path decides which one answers it."""


def dialect_of(path: str) -> Dialect | None:
    """The dialect whose endpoint ``path`` is, whatever stands before it; a query does not count."""
    endpoint = path.partition("?")[0].rstrip("/")
    return next((dialect for dialect in DIALECTS if endpoint.endswith(dialect.endpoint)), None)
