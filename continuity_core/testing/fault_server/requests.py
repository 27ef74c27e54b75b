"""What the server received, in one form for all dialects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs

MessageRole: TypeAlias = Literal["system", "user", "assistant", "tool"]

_STRUCTURAL_KEYS = frozenset(
    {"role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "cache_control"}
)
_NESTED_JSON_KEYS = frozenset({"arguments"})


@attrs.frozen(kw_only=True)
class ReceivedCall:
    """A tool call that an assistant message carries; ``arguments`` as a JSON text."""

    id: str
    name: str
    arguments: str


@attrs.frozen(kw_only=True)
class ReceivedResult:
    """A tool result that a message carries."""

    call_id: str
    text: str
    is_error: bool = False


@attrs.frozen(kw_only=True)
class ReceivedMessage:
    """One message of a request."""

    role: MessageRole
    texts: tuple[str, ...] = ()
    """One for each block of text; tool results and reasoning are not among them."""
    calls: tuple[ReceivedCall, ...] = ()
    results: tuple[ReceivedResult, ...] = ()
    strings: tuple[str, ...] = ()
    """Every decoded string of the message except roles, types and ids; the strings inside arguments too."""
    has_other_content: bool = False
    """It carries content that is neither text nor a call nor a result nor reasoning, e.g. an image."""

    @property
    def text(self) -> str:
        """All its text."""
        return "".join(self.texts)


@attrs.frozen(kw_only=True)
class DecodedRequest:
    """The body of a request, normalised."""

    model: str = ""
    stream: bool = False
    output_limit: int | None = None
    """Output tokens that the request allows; ``None`` where it does not say."""
    streams_usage: bool = True
    """Whether a stream is to report its usage."""
    instructions: tuple[str, ...] = ()
    """System texts that stand beside the messages, in dialects that have such."""
    messages: tuple[ReceivedMessage, ...] = ()


@attrs.frozen(kw_only=True)
class LoggedRequest:
    """One HTTP request for a model response, as it was received."""

    number: int
    """From 1; the response of the same number answers it."""
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order received."""
    body: bytes = attrs.field(repr=False)
    dialect: str
    decoded: DecodedRequest
    problems: tuple[str, ...] = ()
    """Why a provider would refuse it; empty for a valid request."""

    @property
    def messages(self) -> tuple[ReceivedMessage, ...]:
        """Its messages in order."""
        return self.decoded.messages

    @property
    def user_texts(self) -> tuple[str, ...]:
        """Texts in the user's role, in order; tool results are none."""
        return tuple(text for message in self.messages if message.role == "user" for text in message.texts)

    @property
    def strings(self) -> tuple[str, ...]:
        """All decoded strings of its messages, the system's excepted."""
        return tuple(
            string for message in self.messages if message.role != "system" for string in message.strings
        )

    def mentions(self, text: str) -> bool:
        """Whether one of its strings contains ``text``."""
        return any(text in string for string in self.strings)

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        return next((value for key, value in self.headers if key == name.lower()), None)


def decoded_strings(value: object, key: str = "") -> Iterator[str]:
    """The strings in a JSON value that carry content; a JSON text in ``arguments`` is looked into as well."""
    if isinstance(value, str):
        if key in _STRUCTURAL_KEYS:
            return
        yield value
        if key in _NESTED_JSON_KEYS:
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from decoded_strings(inner, "input")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            # The names inside a call's input are the tool's own and mean nothing here.
            yield from decoded_strings(item, "input" if key == "input" else str(name))
    elif isinstance(value, list):
        for item in value:
            yield from decoded_strings(item, key)


def text_parts(content: object, types: tuple[str, ...] = ("text",)) -> tuple[str, ...]:
    """Texts in a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return (content,)
    if not isinstance(content, list):
        return ()
    return tuple(
        str(block.get("text", ""))
        for block in content
        if isinstance(block, Mapping) and block.get("type") in types
    )


def objects(value: Any, what: str) -> list[Mapping[str, Any]]:
    """``value`` as a list of JSON objects; ``ValueError`` names ``what`` if it is none."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"{what} must be a list of objects")
    return value
