"""One model response with its tool results."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from continuity_core.model.entries import EntryRef
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason

if TYPE_CHECKING:
    from continuity_core.model.cause import CauseKind

_FIELD_END = "\x00"


@attrs.frozen
class Text:
    """Readable text of an answer."""

    text: str


@attrs.frozen
class Reasoning:
    """Reasoning shown beside an answer; ``redacted`` where only an opaque form exists."""

    text: str
    redacted: bool = False


@attrs.frozen
class ToolCall:
    """A call that the model asked for; ``arguments`` is the raw string as it came."""

    id: str
    name: str
    arguments: str


Block: TypeAlias = Text | Reasoning | ToolCall


@attrs.frozen(kw_only=True)
class ToolResult:
    """The result that the host has for a call."""

    call_id: str
    entry: EntryRef | None = None
    is_error: bool = False


@attrs.frozen(kw_only=True)
class Usage:
    """Tokens as the provider reported them; ``None`` where it did not."""

    input_tokens: int | None = None
    """All tokens of the request, those read from or written to a cache included."""
    output_tokens: int | None = None
    """All tokens of the response, reasoning included."""
    cached_input_tokens: int | None = None
    """Those of the input that were read from a cache."""
    reasoning_tokens: int | None = None
    """Those of the output that were spent on reasoning."""


_NO_USAGE = Usage()


@attrs.frozen(kw_only=True)
class Turn:
    """One model response with its tool results, normalised."""

    stop_reason: StopReason
    blocks: tuple[Block, ...] = ()
    results: tuple[ToolResult, ...] = ()
    usage: Usage = _NO_USAGE
    failure: Failure | None = None
    """What went wrong: always there where the stop reason is ``error``, possibly where it is ``aborted``."""
    entry: EntryRef | None = None
    """The assistant entry, where the host keeps one."""
    provider_stop: str | None = None
    """The provider's own word for the stop reason."""
    unfinished: bool = False
    """The turn belongs to the host still (``pause_turn``, pending, deferred): it is never resumed."""
    requests: int = 1
    """Provider requests that it took, native retries included where the host can count them."""

    @property
    def text(self) -> str:
        """All readable text."""
        return "".join(block.text for block in self.blocks if type(block) is Text)

    @property
    def reasoning(self) -> str:
        """All readable reasoning."""
        return "".join(block.text for block in self.blocks if type(block) is Reasoning)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which the model asked for them."""
        return tuple([block for block in self.blocks if type(block) is ToolCall])

    @property
    def executable_calls(self) -> tuple[ToolCall, ...]:
        """The calls that a host may run: none of a turn that was cut, failed or was aborted."""
        if self.stop_reason in (StopReason.STOP, StopReason.TOOL_USE):
            return self.tool_calls
        return ()

    @property
    def entries(self) -> tuple[EntryRef, ...]:
        """The assistant entry and the entries of its results: what has to be left out together."""
        refs = [] if self.entry is None else [self.entry]
        if not self.results:
            return tuple(refs)
        refs.extend(result.entry for result in self.results if result.entry is not None)
        return tuple(dict.fromkeys(refs))

    @property
    def last_substantive(self) -> Text | ToolCall | None:
        """The last block that is a call or text with more than white space; reasoning is not substantive."""
        for block in reversed(self.blocks):
            if type(block) is ToolCall or (type(block) is Text and not block.text.isspace() and block.text):
                return block
        return None

    @property
    def answered(self) -> bool:
        """Whether every call has its result."""
        have = {result.call_id for result in self.results}
        return all(call.id in have for call in self.tool_calls)

    def content_digest(self) -> str:
        """Digest of text, reasoning, and call names with arguments; ids do not count."""
        parts = [part for block in self.blocks for part in _content_of(block)]
        fields = "".join([part + _FIELD_END for part in parts])
        return digest_of(fields)

    @classmethod
    def from_exception(cls, exception: BaseException, **facts: Any) -> Turn:
        """The turn that ended in ``exception``; ``facts`` are further fields of a turn, e.g. ``blocks``."""
        return cls(stop_reason=StopReason.ERROR, failure=Failure.from_exception(exception), **facts)

    @classmethod
    def from_openai(cls, response: Any) -> Turn:
        """Read a chat completion of the ``openai`` SDK, or the list of chunks of a streamed one.

        Chunks that end without a finish reason make a failed turn.
        """
        from continuity_core.model.reading import openai_chat

        return openai_chat.read(response)

    @classmethod
    def from_anthropic(cls, message: Any) -> Turn:
        """Read a message of the ``anthropic`` SDK, or the list of events of a streamed one.

        Events that end without a stop reason make a failed turn.
        """
        from continuity_core.model.reading import anthropic_messages

        return anthropic_messages.read(message)


def digest_of(text: str) -> str:
    """A digest by which the same text is known again, also by another process.

    SHA-256, since processors have instructions for it: every turn's whole content goes through here.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _content_of(block: Block) -> tuple[str, ...]:
    if isinstance(block, ToolCall):
        return ("call", block.name, block.arguments)
    return ("reasoning" if isinstance(block, Reasoning) else "text", block.text)


@attrs.frozen(kw_only=True)
class TurnFacts:
    """What is remembered of an earlier turn."""

    cause: CauseKind
    stop_reason: StopReason
    tools: tuple[str, ...] = ()
    """Names of the tools called, in order."""
    argument_digests: tuple[str, ...] = ()
    """A digest of each call's raw arguments, in the same order."""
    content_digest: str = ""
    ends_in: str | None = None
    """``text`` or ``call``: the last substantive block; ``None`` where there is none."""
