"""Chat completions of the ``openai`` SDK and of the many servers that speak its format."""

from __future__ import annotations

from typing import Any

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.reading.blocks import BlockCollector
from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.fields import arguments_text, field, items, number, text
from continuity_core.model.reading.partial import turn_of, with_known
from continuity_core.model.reading.stop_words import Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn, Usage

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""Names that servers give to readable reasoning; some fill two of them with the same."""


def read(response: Any) -> Turn:
    """The turn of a chat completion, or of the list of chunks of a streamed one.

    What is no completion (a proxy's page, say) makes a failed turn that carries the text.
    """
    reader = ChatStreamReader()
    if isinstance(response, str | bytes):
        body = response.decode("utf-8", "replace") if isinstance(response, bytes) else response
        return reader.turn(failure=Failure.from_text("The response is no chat completion", body=body))
    for chunk in response if isinstance(response, list | tuple) else (response,):
        reader.feed(chunk)
    return reader.turn()


@attrs.define
class ChatStreamReader:
    """Reads a streamed chat completion chunk by chunk; a whole completion counts as one chunk.

    Chunks without choices and those of further choices are passed over, but for their usage.
    """

    _blocks: BlockCollector = attrs.field(factory=BlockCollector)
    _refusal: list[str] = attrs.field(factory=list)
    _usage: Usage = attrs.field(factory=Usage)
    _id: str = ""
    _choice: int | None = None
    _stop_word: str | None = None
    _failure: Failure | None = None

    def feed(self, chunk: Any) -> None:
        """Take in the next chunk."""
        self._id = self._id or text(field(chunk, "id"))
        self._note_error(chunk)
        usage = field(chunk, "usage")
        if usage is not None:
            self._usage = with_known(self._usage, usage_of(usage))
        for choice in items(field(chunk, "choices")):
            index = field(choice, "index") or 0
            if self._choice is None:
                self._choice = index
            if index == self._choice:
                self._feed_choice(choice)
                break

    def turn(
        self,
        *,
        error: BaseException | None = None,
        failure: Failure | None = None,
        aborted: bool = False,
    ) -> Turn:
        """The turn so far. ``error`` or ``failure`` says what broke it off, ``aborted`` that the user did."""
        stop = read_stop_word(self._stop_word)
        if self._refusal:
            told = "".join(self._refusal)
            stop = Stop(StopReason.ERROR, Failure.from_text(f"The model refused: {told}", code="refusal"))
        if self._failure is not None:
            stop = Stop(StopReason.ERROR, self._failure)
        return turn_of(
            self._blocks.blocks(self._id),
            self._usage,
            stop,
            self._stop_word,
            error=error,
            failure=failure,
            aborted=aborted,
        )

    def _note_error(self, owner: Any) -> None:
        if self._failure is None:
            self._failure = error_within(owner)

    def _feed_choice(self, choice: Any) -> None:
        self._note_error(choice)
        # A whole completion has a message; some servers give a stream's last chunk both.
        delta = field(choice, "delta") or field(choice, "message")
        if delta is not None:
            self._feed_delta(delta)
        self._stop_word = text(field(choice, "finish_reason")) or self._stop_word

    def _feed_delta(self, delta: Any) -> None:
        self._feed_reasoning(delta)
        content = field(delta, "content")
        if isinstance(content, str):
            self._blocks.add_text(content)
        for part in items(content):
            self._feed_part(part)
        self._add_refusal(field(delta, "refusal"))
        for call in items(field(delta, "tool_calls")):
            self._feed_call(call)
        function = field(delta, "function_call")
        if function is not None:
            name, arguments = text(field(function, "name")), field(function, "arguments")
            self._blocks.add_call(0, "", name, arguments_text(arguments))

    def _feed_reasoning(self, delta: Any) -> None:
        readable = next((told for name in _REASONING_FIELDS if (told := text(field(delta, name)))), "")
        self._blocks.add_reasoning(readable)
        for detail in items(field(delta, "reasoning_details")):
            if field(detail, "type") == "reasoning.encrypted":
                self._blocks.add_redacted_reasoning()
            elif not readable:
                self._blocks.add_reasoning(text(field(detail, "text")) or text(field(detail, "summary")))

    def _feed_part(self, part: Any) -> None:
        kind = field(part, "type")
        if kind == "refusal":
            self._add_refusal(field(part, "refusal"))
        elif kind == "thinking":
            thinking = field(part, "thinking")
            self._blocks.add_reasoning(text(thinking))
            for inner in items(thinking):
                self._blocks.add_reasoning(text(field(inner, "text")))
        else:
            self._blocks.add_text(part if isinstance(part, str) else text(field(part, "text")))

    def _add_refusal(self, refusal: Any) -> None:
        if text(refusal):
            self._refusal.append(refusal)
            self._blocks.add_text(refusal)

    def _feed_call(self, call: Any) -> None:
        index = field(call, "index")
        function = field(call, "function") or field(call, "custom")
        arguments = field(function, "arguments")
        self._blocks.add_call(
            index if isinstance(index, int) else None,
            text(field(call, "id")),
            text(field(function, "name")),
            arguments_text(field(function, "input") if arguments is None else arguments),
        )


def usage_of(usage: Any) -> Usage:
    """The tokens of a ``usage`` object."""
    inputs = field(usage, "prompt_tokens_details")
    outputs = field(usage, "completion_tokens_details")
    return Usage(
        input_tokens=number(field(usage, "prompt_tokens")),
        output_tokens=number(field(usage, "completion_tokens")),
        cached_input_tokens=number(field(inputs, "cached_tokens")),
        reasoning_tokens=number(field(outputs, "reasoning_tokens")),
    )
