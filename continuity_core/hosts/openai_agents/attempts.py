"""One attempt at a model turn: what was sent, what came, and what turn it makes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import attrs
from agents import ModelBehaviorError, ModelResponse, UserError

from continuity_core.hosts.openai_agents.listening import Sight, listening
from continuity_core.hosts.openai_agents.reading import (
    TERMINAL_EVENTS,
    EventReader,
    stop_word_of,
    turn_of_response,
    usage_of,
)
from continuity_core.model.reading.fields import field, items, text
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn, Usage

_MISUSE = (UserError, TypeError)
"""Raised where the framework was used in a way that cannot be meant: no failure of a provider."""
_EXPLAINS_AN_ERROR = (StopReason.LENGTH, StopReason.ERROR)


@attrs.define(eq=False)
class Attempt:
    """What came of one attempt. ``error`` is what the framework raised in it."""

    sight: Sight = attrs.field(factory=Sight)
    error: Exception | None = None
    requests: int = 0
    """Requests that it took, where the runner's own retries were made inside it."""

    @property
    def had_native_retries(self) -> bool:
        """Whether the runner's own retries were made inside it, so that none is to follow."""
        return self.requests > 0

    def turn(self, output_limit: int | None) -> Turn:
        """The turn, however it ended."""
        turn = self._seen()
        if turn is None:
            turn = self._told(output_limit)
        if turn.usage == Usage():
            turn = attrs.evolve(turn, usage=self._usage())
        return attrs.evolve(turn, requests=max(1, self.requests))

    def cut_short(self) -> Turn:
        """The turn so far, where the caller cancelled it."""
        seen = self.sight.turn(aborted=True)
        return seen if seen is not None else Turn(stop_reason=StopReason.ABORTED)

    def _seen(self) -> Turn | None:
        """The turn as the provider told of it, where its own response was seen."""
        turn = self.sight.turn()
        if turn is None or self.error is None:
            return turn
        if isinstance(self.error, ModelBehaviorError) and turn.stop_reason in _EXPLAINS_AN_ERROR:
            # The framework's own error for a response that came whole: the response says more.
            return turn
        return self.sight.turn(error=self.error)

    def _told(self, output_limit: int | None) -> Turn:
        raise NotImplementedError

    def _usage(self) -> Usage:
        raise NotImplementedError


@attrs.define(eq=False)
class WholeAttempt(Attempt):
    """An attempt without streaming."""

    response: ModelResponse | None = None

    async def make(self, get_response: Callable[[], Awaitable[ModelResponse]]) -> None:
        """Send it. What shows that the framework is misused is raised, other errors are kept."""
        try:
            with listening(self.sight):
                self.response = await get_response()
        except _MISUSE:
            raise
        except Exception as error:
            self.error = error

    def _told(self, output_limit: int | None) -> Turn:
        if self.response is None:
            assert self.error is not None
            return Turn.from_exception(self.error)
        return turn_of_response(self.response, stop=_guessed(self.response, output_limit))

    def _usage(self) -> Usage:
        return Usage() if self.response is None else usage_of(self.response.usage)


@attrs.define(eq=False)
class StreamedAttempt(Attempt):
    """An attempt with streaming."""

    reader: EventReader = attrs.field(factory=EventReader)
    held: list[Any] = attrs.field(factory=list)
    """The event that ends the response, and what followed it: not to be seen before the turn stands."""

    async def events(self, start: Callable[[], AsyncIterator[Any]]) -> AsyncGenerator[Any, None]:
        """Send it and give the events as they come, but for those that are held."""
        with listening(self.sight):
            stream: Any = start()
        async with aclosing(stream):
            while (event := await self._next(stream)) is not None:
                self.reader.feed(event)
                if self.held or text(field(event, "type")) in TERMINAL_EVENTS:
                    self.held.append(event)
                else:
                    yield event

    async def _next(self, stream: AsyncIterator[Any]) -> Any:
        try:
            with listening(self.sight):
                return await anext(stream, None)
        except _MISUSE:
            raise
        except Exception as error:
            self.error = error
            return None

    def cut_short(self) -> Turn:
        """The turn so far, where the caller cancelled it."""
        seen = self.sight.turn(aborted=True)
        return seen if seen is not None else self.reader.partial(aborted=True)

    def _told(self, output_limit: int | None) -> Turn:
        response = self.reader.response
        if response is None:
            return self.reader.partial(error=self.error, failure=self.reader.failure())
        if not items(field(response, "output")):
            response = _Response(response, self.reader.items)
        known = stop_word_of(response) is not None or field(self.reader.terminal, "type") == "response.failed"
        return turn_of_response(response, stop=None if known else _guessed(response, output_limit))

    def _usage(self) -> Usage:
        return usage_of(field(self.reader.response, "usage"))


@attrs.frozen
class _Response:
    """A response whose items came in events only."""

    _whole: Any
    output: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


def _guessed(response: Any, output_limit: int | None) -> Stop:
    """How a response ended whose provider was not heard: by its marks, else by the tokens spent."""
    if any(field(item, "status") == "incomplete" for item in items(field(response, "output"))):
        return read_stop_word("length")
    spent = usage_of(field(response, "usage")).output_tokens
    if output_limit is not None and spent is not None and spent >= output_limit:
        return read_stop_word("length")
    return read_stop_word("stop")
