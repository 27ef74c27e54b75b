"""A model for tests: scripted turns, no HTTP, no time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio.lowlevel
import attrs

from continuity_core.hosts.reference.models.base import Connection, ModelRequest
from continuity_core.model.failure import Failure
from continuity_core.model.reading.openai_chat import ChatStreamReader
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn
from continuity_core.testing.fault_server import Cut, HttpResponse, ModelResponse, Response, parse_script
from continuity_core.testing.fault_server.dialects.base import EncodedResponse, ResponseContext
from continuity_core.testing.fault_server.dialects.chat import ChatCompletions
from continuity_core.testing.scripted.failures import (
    HttpFailure,
    broken_json,
    peer_closed,
    reset,
    silent,
)

ScriptedTurn: TypeAlias = Mapping[str, Any] | Response | Turn | Failure | Exception
"""A response as a scenario writes it, a turn or a failure as it is, or what the SDK raises."""

OUTPUT_LIMIT = 1024
_DIALECT = ChatCompletions()


class ScriptOver(BaseException):
    """More was requested than the script has.

    No ``Exception``, so that neither a host nor a plugin takes it for a failure of the model.
    """


class ScriptedModel:
    """A model of the reference session that gives the next turn of a script for each request::

        model = ScriptedModel([{"text": "half an ans", "stop": "length"}, {"text": "done"}])
        outcome = await AgentSession(model, continuity=continuity).run("Finish the task")
        assert len(model.requests) == 2

    A turn is written as in a scenario (``text``, ``reasoning``, ``tool_calls``, ``stop``, ``usage``, ``cut``,
    ``sse_error``, ``http``; ``hang`` fails at once as an idle timeout does), or is a ``Turn``, a ``Failure``
    or an exception. A request beyond the script raises :class:`ScriptOver`.
    """

    def __init__(
        self, script: Iterable[ScriptedTurn], *, max_output_tokens: int | None = OUTPUT_LIMIT
    ) -> None:
        self.max_output_tokens = max_output_tokens
        self.requests: list[ModelRequest] = []
        """Every request so far."""
        self._script = tuple(_read(script))

    @property
    def unused(self) -> int:
        """Turns of the script that nothing asked for."""
        return max(0, len(self._script) - len(self.requests))

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """There is nothing to open."""
        yield self

    def call(self, request: ModelRequest) -> ScriptedCall:
        """The next turn; it is taken from the script when it is run."""
        return ScriptedCall(self, request)

    def take(self, request: ModelRequest) -> tuple[int, Response | Turn | Exception]:
        """Note the request; its number, from 1, and what answers it. Raises :class:`ScriptOver`."""
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._script):
            turns = "1 turn" if len(self._script) == 1 else f"{len(self._script)} turns"
            raise ScriptOver(
                f"request {number} is beyond the script, which has {turns}: add what the model answers, "
                "or look in the events for who asked"
            )
        return number, self._script[number - 1]


@attrs.define(eq=False)
class ScriptedCall:
    """One request to the scripted model."""

    model: ScriptedModel
    request: ModelRequest
    began: bool = False
    wire: str | None = None
    _reader: ChatStreamReader = attrs.field(factory=ChatStreamReader, init=False)
    _whole: Turn | None = attrs.field(default=None, init=False)

    async def run(self, on_text: Callable[[str], None]) -> None:
        """Play the turn; raises what an SDK would."""
        number, answer = self.model.take(self.request)
        await anyio.lowlevel.checkpoint()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, HttpResponse):
            raise HttpFailure(answer.status, answer.headers, answer.body)
        self.began = True
        if isinstance(answer, Turn):
            self._whole = answer
            on_text(answer.text)
            return
        await self._stream(number, answer, on_text)

    async def _stream(self, number: int, response: ModelResponse, on_text: Callable[[str], None]) -> None:
        encoded = self._encoded(number, response)
        for chunk in _chunks(encoded.content):
            self._reader.feed(chunk)
            for choice in chunk["choices"]:
                if told := choice["delta"].get("content"):
                    on_text(told)
        await anyio.lowlevel.checkpoint()
        if response.hang:
            raise silent()
        if response.sse_error is not None:
            self._reader.feed({"error": response.sse_error})
        elif response.cut is None:
            for chunk in _chunks((*encoded.closing, *encoded.finish)):
                self._reader.feed(chunk)
        elif response.cut is not Cut.NO_FINISH:
            raise {Cut.RST: reset, Cut.FIN: peer_closed, Cut.MID_JSON: broken_json}[response.cut]()

    def _encoded(self, number: int, response: ModelResponse) -> EncodedResponse:
        input_tokens, output_tokens = response.tokens(self.request.max_output_tokens)
        context = ResponseContext(
            number=number, model="scripted", input_tokens=input_tokens, output_tokens=output_tokens
        )
        return _DIALECT.stream(response, context)

    def turn(self, *, error: BaseException | None = None, aborted: bool = False) -> Turn:
        """The turn so far."""
        if self._whole is not None and error is None and not aborted:
            return self._whole
        return self._reader.turn(error=error, aborted=aborted)


def _chunks(events: Iterable[bytes]) -> Iterator[Any]:
    """The chunks in server-sent events."""
    for event in events:
        data = event.removeprefix(b"data: ").strip()
        if data != b"[DONE]":
            yield json.loads(data)


def _read(script: Iterable[ScriptedTurn]) -> Iterator[Response | Turn | Exception]:
    for written in script:
        if isinstance(written, Turn | Exception):
            yield written
        elif isinstance(written, Failure):
            yield Turn(stop_reason=StopReason.ERROR, failure=written)
        else:
            yield from parse_script([written])
