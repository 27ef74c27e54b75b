"""Hearing of the model calls that one call of the wrapped handler makes.

Middleware further in may call the model several times, and may swallow what it raises. LangChain's callbacks
tell of each call; a context variable brings the listener to them and to no others.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message
from langchain_core.tracers.context import register_configure_hook

LISTENER: ContextVar[Listener | None] = ContextVar("continuity_langchain_listener", default=None)
"""The listener that hears of the model calls in this context."""


class Listener(BaseCallbackHandler):
    """Remembers the last model call of one turn."""

    run_inline = True  # In the task of the call, not in a thread of its own.
    ignore_chain = True
    ignore_agent = True
    ignore_retriever = True
    ignore_custom_event = True

    def __init__(self) -> None:
        self.calls = 0
        """Model calls so far; a retry inside an SDK is none."""
        self.error: BaseException | None = None
        """What the last call raised."""
        self._call: UUID | None = None
        self._chunks: list[AIMessageChunk] = []

    def partial(self) -> AIMessage | None:
        """What came of the last call before it failed; ``None`` where nothing came, or nobody streamed."""
        if not self._chunks:
            return None
        whole = self._chunks[0]
        try:
            if len(self._chunks) > 1:
                whole = whole.__add__(self._chunks[1:])
            message = message_chunk_to_message(whole)
        except Exception:  # A chunk that does not fit the others: what is shown of a failure is no matter.
            return None
        return message if isinstance(message, AIMessage) else None

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **details: Any) -> None:
        """A model call begins."""
        self.calls += 1
        self.error = None
        self._call = run_id
        self._chunks = []

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **details: Any) -> None:
        """A piece of a streamed answer."""
        message = getattr(chunk, "message", None)
        if run_id == self._call and isinstance(message, AIMessageChunk):
            self._chunks.append(message)

    def on_llm_end(self, response: Any, *, run_id: UUID, **details: Any) -> None:
        """A model call gave an answer."""
        if run_id == self._call:
            self._chunks = []

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        """A model call failed."""
        if run_id == self._call:
            self.error = error


register_configure_hook(LISTENER, inheritable=True)
