"""Listening to what the framework reads of the provider's response and does not pass on.

A ``ModelResponse`` does not say why the model stopped, the events made of a streamed chat completion do not
either, and a response that was cut is raised without its content. The framework's models get their client
from one method each, those of its extensions fetch the response in one; an instance gets that method wrapped
once, and what comes back is shown to the call that listens at the moment.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import attrs

from continuity_core.hosts.openai_agents.reading import turn_of_response
from continuity_core.model.reading.fields import field, items
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.turn import Turn

_CLIENT = "_get_client"
_FETCHERS = ("_fetch_response", "_fetch_chat_response", "_fetch_responses_response")
_LISTENS = "_continuity_listens"


@attrs.define(eq=False)
class Sight:
    """What was seen of one response."""

    _chat: ChatStreamReader | None = None
    _whole: Any = None

    def take(self, fetched: Any) -> Any:
        """Look at what was fetched, and give it back; a stream of chunks is looked at as it is read."""
        if isinstance(fetched, tuple) and len(fetched) == 2:
            return fetched[0], self.take_chat(fetched[1])
        if items(field(fetched, "choices")) or field(fetched, "object") == "chat.completion":
            self._chat = ChatStreamReader()
            self._chat.feed(fetched)
        elif isinstance(field(fetched, "output"), list):
            self._whole = fetched
        return fetched

    def take_chat(self, fetched: Any) -> Any:
        """The same of a chat completion, which may be streamed."""
        if not hasattr(fetched, "__aiter__"):
            return self.take(fetched)
        self._chat = ChatStreamReader()
        return SeenStream(fetched, self._chat)

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

    def __aiter__(self) -> SeenStream:
        return self

    async def __anext__(self) -> Any:
        chunk = await anext(self._stream)
        self._reader.feed(chunk)
        return chunk


class SeenClient:
    """A client of the SDK that shows what it creates; in everything else the client itself."""

    def __init__(self, client: Any, sight: Sight) -> None:
        self._client = client
        self._sight = sight

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    @property
    def responses(self) -> Any:
        """The Responses API; its streams need no looking at, since the framework passes on their events."""
        return _Seen(self._client.responses, create=_shown(self._client.responses.create, self._sight.take))

    @property
    def chat(self) -> Any:
        """Chat completions."""
        completions = self._client.chat.completions
        create = _shown(completions.create, self._sight.take_chat)
        return _Seen(self._client.chat, completions=_Seen(completions, create=create))


class _Seen:
    """An object of which some attributes are others."""

    def __init__(self, owner: Any, **others: Any) -> None:
        self._owner = owner
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)


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
    names = (_CLIENT,) if callable(getattr(model, _CLIENT, None)) else _FETCHERS
    found = [name for name in names if callable(getattr(model, name, None))]
    if not found or getattr(model, _LISTENS, False):
        return bool(found)
    try:
        for name in found:
            method = getattr(model, name)
            setattr(model, name, _heard_client(method) if name == _CLIENT else _heard(method))
        setattr(model, _LISTENS, True)
    except AttributeError:
        return False
    return True


def _heard_client(get_client: Callable[[], Any]) -> Callable[[], Any]:
    @functools.wraps(get_client)
    def heard() -> Any:
        sight = _LISTENER.get()
        return get_client() if sight is None else SeenClient(get_client(), sight)

    return heard


def _heard(fetch: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(fetch)
    async def heard(*args: Any, **kwargs: Any) -> Any:
        fetched = await fetch(*args, **kwargs)
        sight = _LISTENER.get()
        return fetched if sight is None else sight.take(fetched)

    return heard


def _shown(
    create: Callable[..., Awaitable[Any]], look: Callable[[Any], Any]
) -> Callable[..., Awaitable[Any]]:
    async def shown(*args: Any, **kwargs: Any) -> Any:
        return look(await create(*args, **kwargs))

    return shown
