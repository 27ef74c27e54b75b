"""LangChain's agents: one middleware for ``create_agent``.

The framework is imported here and nowhere else; without it the import raises one error that says what to
install.
"""

from __future__ import annotations

try:
    import langchain.agents.middleware  # noqa: F401
except ImportError as error:
    raise ImportError(
        "continuity_core.hosts.langchain needs LangChain: pip install 'continuity-core[langchain]'"
    ) from error

from continuity_core.hosts.langchain.middleware import ContinuityMiddleware

__all__ = ["ContinuityMiddleware"]
