"""Listening to what the framework reads of the provider's response and does not pass on.

A ``ModelResponse`` does not say why the model stopped, and the events made of a streamed chat completion do
not either. The framework's models fetch the provider's own response in one method each; an instance of such a
model gets that method wrapped once, and what it fetches is shown to the call that listens at the moment.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import attrs

from continuity_core.hosts.openai_agents.reading import turn_of_response
from continuity_core.model.reading.fields import field, items
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.turn import Turn

_FETCHERS = ("_fetch_response", "_fetch_chat_response", "_fetch_responses_response")
_LISTENS = "_continuity_listens"


@attrs.define(eq=False)
class Sight:
    """What was seen of one response."""

    _chat: ChatStreamReader | None = None
    _whole: Any = None

    def take(self, fetched: Any) -> Any:
        """Look at what a model fetched, and give it back; a stream of chunks is looked at as it is read."""
        if isinstance(fetched, tuple) and len(fetched) == 2:
            self._chat = ChatStreamReader()
            return fetched[0], SeenStream(fetched[1], self._chat)
        if items(field(fetched, "choices")) or field(fetched, "object") == "chat.completion":
            self._chat = ChatStreamReader()
            self._chat.feed(fetched)
        elif isinstance(field(fetched, "output"), list):
            self._whole = fetched
        return fetched

    def turn(self, *, error: BaseException | None = None, aborted: bool = False) -> Turn | None:
        """The turn as the provider told of it; ``None`` where nothing was seen."""
        if self._chat is not None:
            return self._chat.turn(error=error, aborted=aborted)
        return None if self._whole is None else turn_of_response(self._whole)


class SeenStream:
    """A stream of chunks that shows each to a reader; in everything else the stream itself."""

    def __init__(self, stream: Any, reader: ChatStreamReader) -> None:
        self._stream = stream
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            self._reader.feed(chunk)
            yield chunk


_LISTENER: ContextVar[Sight | None] = ContextVar("continuity_listener", default=None)


@contextmanager
def listening(sight: Sight) -> Iterator[None]:
    """Show to ``sight`` what models fetch in the meantime, in this task and in those that it starts."""
    token = _LISTENER.set(sight)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def make_heard(model: Any) -> bool:
    """See to it that what ``model`` fetches can be listened to; ``False`` where it has no such method.

    Doing it again changes nothing. Where nobody listens the model does what it did before.
    """
    found = [name for name in _FETCHERS if callable(getattr(model, name, None))]
    if not found or getattr(model, _LISTENS, False):
        return bool(found)
    try:
        for name in found:
            setattr(model, name, _heard(getattr(model, name)))
        setattr(model, _LISTENS, True)
    except AttributeError:
        return False
    return True


def _heard(fetch: Any) -> Any:
    @functools.wraps(fetch)
    async def heard(*args: Any, **kwargs: Any) -> Any:
        fetched = await fetch(*args, **kwargs)
        sight = _LISTENER.get()
        return fetched if sight is None else sight.take(fetched)

    return heard
