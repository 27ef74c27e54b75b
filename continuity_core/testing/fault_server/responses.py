"""What the server is told to answer: one value for each HTTP request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs

UNSTATED_OUTPUT_LIMIT = 64
"""Output tokens that a request without a limit of its own is taken to ask for."""

FEW_INPUT_TOKENS = 10
FEW_OUTPUT_TOKENS = 5

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[\x21-\x7e]+(?:[ \t]+[\x21-\x7e]+)*)?")
_FRAMING_HEADERS = frozenset({"content-length", "transfer-encoding"})


class Stop(StrEnum):
    """Why the scripted model stops; each dialect has its own word for it."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


class Cut(StrEnum):
    """How a response ends before its time."""

    RST = "rst"
    """The connection is reset inside the chunked body, after the content."""
    FIN = "fin"
    """The connection is closed inside the chunked body, after the content."""
    MID_JSON = "mid_json"
    """After the content comes half an event (without streaming: half a JSON text), then the proper end."""
    NO_FINISH = "no_finish"
    """The body ends properly after the content, without a finish reason. Meant for streaming; without it
    the finish reason is ``null``."""


def _text_or_nothing(_: object, attribute: attrs.Attribute[str | None], value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{attribute.name}: must be text, not {value!r}")


def _text(_: object, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{attribute.name}: must be text, not {value!r}")


def _tokens(_: object, attribute: attrs.Attribute[int | None], value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ValueError(f"{attribute.name}: must be a whole number of tokens >= 0, not {value!r}")


def _http_status(_: object, attribute: attrs.Attribute[int], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 200 <= value <= 599:
        raise ValueError(f"{attribute.name}: must be an HTTP status from 200 to 599, not {value!r}")


def _yes_or_no(_: object, attribute: attrs.Attribute[bool], value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{attribute.name}: must be true or false, not {value!r}")


def _json_value(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{attribute.name}: cannot be written as JSON ({error})") from error


def _response_headers(_: object, attribute: attrs.Attribute[Mapping[str, str]], value: object) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{attribute.name}: must map names to texts, not {value!r}")
    for name, content in value.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{attribute.name}: {name!r} is not the name of a header")
        if name.lower() in _FRAMING_HEADERS:
            raise ValueError(f"{attribute.name}: {name!r} is set by the server, which frames the body itself")
        if not isinstance(content, str) or not _HEADER_VALUE.fullmatch(content):
            raise ValueError(f"{attribute.name}: {name!r} must be a line of printable ASCII, not {content!r}")


@attrs.frozen(kw_only=True)
class ScriptedToolCall:
    """A tool call of the scripted model; its id is the server's."""

    name: str = attrs.field(validator=_text)
    arguments: str = attrs.field(default="{}", validator=_text)
    """The raw string on the wire, complete or not."""


def _calls(
    _: object, attribute: attrs.Attribute[tuple[ScriptedToolCall, ...]], value: Iterable[object]
) -> None:
    for call in value:
        if not isinstance(call, ScriptedToolCall):
            raise ValueError(f"{attribute.name}: must be scripted tool calls, not {call!r}")


@attrs.frozen(kw_only=True)
class TokenUsage:
    """Tokens that a response reports; ``None`` leaves the number to the server."""

    input: int | None = attrs.field(default=None, validator=_tokens)
    output: int | None = attrs.field(default=None, validator=_tokens)


@attrs.frozen(kw_only=True)
class ModelResponse:
    """A response of the scripted model: whole, cut, broken by an error, or hanging.

    At most one of ``cut``, ``sse_error`` and ``hang`` may be given.
    """

    text: str | None = attrs.field(default=None, validator=_text_or_nothing)
    reasoning: str | None = attrs.field(default=None, validator=_text_or_nothing)
    tool_calls: tuple[ScriptedToolCall, ...] = attrs.field(default=(), converter=tuple, validator=_calls)
    stop: Stop = attrs.field(
        default=attrs.Factory(
            lambda self: Stop.TOOL_CALLS if self.tool_calls else Stop.STOP, takes_self=True
        ),
        converter=Stop,
    )
    """``tool_calls`` where there are calls, else ``stop``."""
    usage: TokenUsage = attrs.field(default=TokenUsage(), validator=attrs.validators.instance_of(TokenUsage))
    """Default: for ``length`` as much output as the request allows, so that the turn is at cap; else few."""
    cut: Cut | None = attrs.field(default=None, converter=attrs.converters.optional(Cut))
    sse_error: Any = attrs.field(default=None, validator=_json_value)
    """Sent as ``{"error": …}`` in an event after the content; without streaming as the body of ``status``."""
    status: int = attrs.field(default=500, validator=_http_status)
    """HTTP status of ``sse_error`` without streaming."""
    hang: bool = attrs.field(default=False, validator=_yes_or_no)
    """Headers and the content, then nothing more until the client goes."""

    def __attrs_post_init__(self) -> None:
        endings = {"cut": self.cut is not None, "sse_error": self.sse_error is not None, "hang": self.hang}
        given = [name for name, is_given in endings.items() if is_given]
        if len(given) > 1:
            raise ValueError(f"{given[1]}: a response ends in one way, and {given[0]} is given too")

    @property
    def has_content(self) -> bool:
        """Whether there is any text, reasoning or call."""
        return bool(self.text or self.reasoning or self.tool_calls)

    @property
    def needs_streaming(self) -> bool:
        """Whether the response says what it is meant to only as a stream (``no_finish``)."""
        return self.cut is Cut.NO_FINISH

    def tokens(self, output_limit: int | None) -> tuple[int, int]:
        """Input and output tokens to report to a request that asked for at most ``output_limit`` tokens."""
        output = self.usage.output
        if output is None:
            at_cap = UNSTATED_OUTPUT_LIMIT if output_limit is None else output_limit
            output = at_cap if self.stop is Stop.LENGTH else FEW_OUTPUT_TOKENS
        return FEW_INPUT_TOKENS if self.usage.input is None else self.usage.input, output


@attrs.frozen(kw_only=True)
class HttpResponse:
    """An HTTP response that is not the model's: any status, headers and body."""

    status: int = attrs.field(validator=_http_status)
    headers: Mapping[str, str] = attrs.field(default=_NO_HEADERS, validator=_response_headers)
    """They replace the server's own of the same name, e.g. ``content-type``."""
    body: Any = attrs.field(default=None, validator=_json_value)
    """A text goes out as ``text/html``, ``None`` as nothing, anything else as JSON."""


Response: TypeAlias = ModelResponse | HttpResponse
