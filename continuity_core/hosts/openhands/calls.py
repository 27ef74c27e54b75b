"""Calls of the model, watched: what came of each, and with which settings the next one is made."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import attrs
from openhands.sdk.llm import LLM

from continuity_core.hosts.openhands.endings import StreamEndings
from continuity_core.hosts.openhands.reading import read_response
from continuity_core.hosts.openhands.stand_in import StandIn
from continuity_core.model.decisions import Adjust
from continuity_core.model.failure import Failure
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.reading.stop_words import NO_STOP_WORD
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

LOG = logging.getLogger("continuity.openhands")

_ASKING = ("generate", "completion", "responses")
_ASKING_ASYNC = ("agenerate", "acompletion", "aresponses")


@attrs.define(eq=False)
class ModelCall:
    """One call of the model, with the retries that the client makes by itself."""

    output_limit: int | None = None
    requests: int = 1
    """Provider requests, as far as the client tells of its retries."""
    response_id: str = ""
    turn: Turn | None = None
    """What came of it; ``None`` while it goes on."""
    _reader: ChatStreamReader = attrs.field(factory=ChatStreamReader, init=False)
    _stream: object = attrs.field(default=None, init=False)
    _last_chunk: Any = attrs.field(default=None, init=False)

    def take_chunk(self, chunk: Any) -> None:
        """Note a chunk of the stream; one of another stream is a retry, and the earlier ones do not count."""
        stream = getattr(chunk, "id", None)
        if stream != self._stream:
            self._stream, self._reader, self._last_chunk = stream, ChatStreamReader(), None
        self._reader.feed(chunk)
        if any(choice.finish_reason for choice in getattr(chunk, "choices", None) or ()):
            self._last_chunk = chunk

    def take_response(self, response: Any, llm: Any, messages: Any, endings: StreamEndings) -> None:
        """The model answered."""
        self.response_id = str(response.id)
        turn = read_response(response)
        if self._last_chunk is not None and not endings.are_told(
            self._last_chunk, response.raw_response, llm, messages
        ):
            failure = Failure.from_text(NO_STOP_WORD)
            turn = attrs.evolve(turn, stop_reason=StopReason.ERROR, failure=failure, provider_stop=None)
        self.turn = attrs.evolve(turn, requests=self.requests)

    def take_error(self, error: BaseException) -> None:
        """The model failed, or the call was cancelled, after whatever had been streamed."""
        turn = self._reader.turn(error=error, aborted=not isinstance(error, Exception))
        self.turn = attrs.evolve(turn, requests=self.requests)


class WatchedModel(StandIn):
    """Stands for the agent's ``LLM`` in one step: all is the model's own, but its calls are watched."""

    def __init__(self, llm: Any, endings: StreamEndings, begin: Callable[[ModelCall], Adjust | None]) -> None:
        super().__init__(llm)
        self._continuity_endings = endings
        self._continuity_begin = begin

    def __getattr__(self, name: str) -> Any:
        if name in _ASKING:
            return self._continuity_watched(name)
        return self._continuity_watched_async(name) if name in _ASKING_ASYNC else super().__getattr__(name)

    def _continuity_watched(self, name: str) -> Callable[..., Any]:
        def ask(messages: Any, *arguments: Any, **options: Any) -> Any:
            call, llm = self._continuity_call(options)
            try:
                response = getattr(llm, name)(messages, *arguments, **options)
            except BaseException as error:
                _note(call.take_error, error)
                raise
            _note(call.take_response, response, llm, messages, self._continuity_endings)
            return response

        return ask

    def _continuity_watched_async(self, name: str) -> Callable[..., Any]:
        async def ask(messages: Any, *arguments: Any, **options: Any) -> Any:
            call, llm = self._continuity_call(options)
            try:
                response = await getattr(llm, name)(messages, *arguments, **options)
            except BaseException as error:
                _note(call.take_error, error)
                raise
            _note(call.take_response, response, llm, messages, self._continuity_endings)
            return response

        return ask

    def _continuity_call(self, options: dict[str, Any]) -> tuple[ModelCall, Any]:
        """A new call, and the model that is to be asked; ``options`` are those of the call."""
        llm, call = self._continuity_own, ModelCall()
        changes = _settings(self._continuity_begin(call))
        if type(llm) is LLM:
            changes["retry_listener"] = _counting(call, llm.retry_listener)
        if changes:
            llm = llm.model_copy(update=changes)
        call.output_limit = llm.effective_max_output_tokens
        if options.get("on_token") is not None:
            options["on_token"] = _watched_stream(options["on_token"], call)
        return call, llm


def _note(take: Callable[..., None], *what: Any) -> None:
    """Look at something; what cannot be read harms nobody, and a turn that cannot is none to continuity."""
    try:
        take(*what)
    except Exception:
        LOG.exception("a call of the model cannot be read; what comes of it is the framework's alone")


def _settings(adjust: Adjust | None) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if adjust is not None and adjust.max_output_tokens is not None:
        settings["max_output_tokens"] = adjust.max_output_tokens
    if adjust is not None and adjust.reasoning_effort is not None:
        settings["reasoning_effort"] = adjust.reasoning_effort.value
    return settings


def _counting(call: ModelCall, listener: Callable[..., None] | None) -> Callable[..., None]:
    """Counts the retries of which the client tells; a listener that is there is told as before."""

    def on_retry(*told: Any) -> None:
        call.requests += 1
        if listener is not None:
            listener(*told)

    return on_retry


def _watched_stream(on_token: Callable[[Any], Any], call: ModelCall) -> Callable[[Any], Any]:
    if inspect.iscoroutinefunction(on_token):

        async def on_chunk_async(chunk: Any) -> None:
            _note(call.take_chunk, chunk)
            await on_token(chunk)

        return on_chunk_async

    def on_chunk(chunk: Any) -> Any:
        _note(call.take_chunk, chunk)
        return on_token(chunk)

    return on_chunk
