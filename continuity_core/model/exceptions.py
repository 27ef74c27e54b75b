"""Reading exceptions of any SDK by the shape of their attributes; no SDK is imported."""

from __future__ import annotations

import errno
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial, wraps
from itertools import islice
from typing import Any, ParamSpec, TypeVar

import attrs

P = ParamSpec("P")
T = TypeVar("T")

CHAIN_LIMIT = 16
"""Exceptions that are looked at: the outermost, its causes, its groups' members."""
_READ_LIMIT = 64 * 1024
"""Characters that are read of any one text before it is bounded further."""

_STATUSES = range(100, 600)
_BODY_ATTRIBUTES = ("body", "response_json", "raw_body", "content", "response_text")
_ANSWER = re.compile(r'"(?:candidates|choices|content|output)"\s*:')
"""One of them is in every answer of a model, whoever the provider is."""
_ERROR = re.compile(r'"error"\s*:\s*[^\sn]')
"""Not where it is ``null``, and not in a text that the model wrote: its quotes are escaped."""
_MARK = 64
"""Characters by which a text is found in another one that may hold only its beginning."""
_NESTED_ATTRIBUTES = ("original_exception", "os_error", "reason", "inner_exception", "last_exception")


@attrs.frozen(kw_only=True)
class Description:
    """What an exception and those behind it say; unbounded but for ``CHAIN_LIMIT``."""

    message: str
    status: int | None
    code: str | None
    type: str | None
    headers: tuple[tuple[str, str], ...]
    body: str | None
    exceptions: tuple[str, ...]


def describe(exc: BaseException) -> Description:
    """Read ``exc`` and what caused it; for each fact, the outermost exception that knows it counts."""
    chain = tuple(walk(exc))
    status = code = type_ = body = None
    headers: tuple[tuple[str, str], ...] = ()
    messages: list[str] = []
    answers = tuple(_unreadable_answers(chain))
    for one in chain:
        # A cancellation behind another error is how an event loop ends a timeout; its words are the loop's.
        text = (_text_of(one) or "") if one is exc or _is_a(one, Exception) else ""
        for answer in answers:
            text = text and (_without(answer, text) or _qualified_name(one))
        if text and not any(text in other for other in messages):
            messages.append(text)
        status = status if status is not None else _status_of(one)
        headers = headers or _headers_of(one) or ()
        body = body or _body_of(one)
        code = code or _code_of(one)
        type_ = type_ or _word(_get(one, "type"))
    return Description(
        message="\n".join(messages),
        status=status,
        code=code,
        type=type_,
        headers=headers,
        body=body,
        exceptions=tuple(_qualified_name(one) for one in chain),
    )


def _or_none(read: Callable[P, T]) -> Callable[P, T | None]:
    """``read``, with None where it raises: what cannot be read is absent."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return read(*args, **kwargs)
        except Exception:
            return None

    return reading


def _unreadable_answers(chain: Iterable[BaseException]) -> Iterator[str]:
    """What no JSON parser could read, where a model said it: some clients quote all of it."""
    for one in chain:
        text = _get(one, "doc")
        if isinstance(text, str) and _is_answer(text[:_READ_LIMIT]):
            yield text


def _without(quoted: str, text: str) -> str:
    start = text.find(quoted[:_MARK])
    return text if start < 0 else (text[:start] + text[start + len(quoted) :]).strip()


def walk(exc: BaseException) -> Iterator[BaseException]:
    """``exc`` and what is behind it: group members, causes, contexts, wrapped exceptions; outermost first.

    At most ``CHAIN_LIMIT`` of them, each once, so cycles end.
    """
    seen: set[int] = set()
    waiting: deque[Any] = deque([exc])
    while waiting and len(seen) < CHAIN_LIMIT:
        one = waiting.popleft()
        if id(one) in seen or not _is_a(one, BaseException):
            continue
        seen.add(id(one))
        yield one
        waiting.extend(_behind(one))


def _behind(exc: BaseException) -> Iterator[object]:
    """What may be an exception behind ``exc``."""
    if _is_a(exc, BaseExceptionGroup):
        yield from _first(_get(exc, "exceptions"), CHAIN_LIMIT)
    cause = _get(exc, "__cause__")
    if isinstance(cause, BaseException):
        yield cause
    elif _get(exc, "__suppress_context__") is not True:
        yield _get(exc, "__context__")
    for name in _NESTED_ATTRIBUTES:
        yield _get(exc, name)
    arguments = _get(exc, "args")
    if isinstance(arguments, tuple):
        yield from _first(arguments, 4)


@_or_none
def _is_a(value: object, kind: type) -> bool:
    """``isinstance``, which asks the value for its ``__class__``."""
    return isinstance(value, kind)


def _plain(value: Any) -> Any:
    """A text or a number without what a subclass makes of its methods; anything else as it is."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(None))
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    return value


@_or_none
def _get(owner: object, name: str) -> Any:
    """The attribute, or None where it is missing or raises."""
    return _plain(getattr(owner, name, None))


@_or_none
def _item(owner: object, key: str) -> Any:
    """The value of a mapping, or None where it is missing or raises."""
    return _plain(owner.get(key)) if isinstance(owner, Mapping) else None


@_or_none
def _call(function: object) -> Any:
    """The result of a call without arguments, or None where that fails."""
    return _plain(function() if callable(function) else function)


def _first(values: Any, limit: int) -> list[Any]:
    """At most ``limit`` of the values; those before the first that cannot be had."""
    found: list[Any] = []
    with suppress(Exception):
        found.extend(islice(values, limit))
    return found


def _module_of(exc: BaseException) -> str:
    module = _get(type(exc), "__module__")
    return module if isinstance(module, str) else ""


def _qualified_name(exc: BaseException) -> str:
    module, name = _module_of(exc), _get(type(exc), "__qualname__")
    return f"{name}" if module in ("", "builtins") else f"{module}.{name}"


@_or_none
def _text_of(exc: BaseException) -> str:
    text: str = _call(partial(str, exc)) or ""
    if not text.strip():
        text = _qualified_name(exc)
    details = _get(exc, "details")  # gRPC: a method; google.api_core and google.genai: a value
    if callable(details) and _is_grpc(exc):
        told = _call(details)
        if isinstance(told, str) and told not in text:
            text = f"{text}: {told}"
    notes = _get(exc, "__notes__")
    if isinstance(notes, list):
        text = "\n".join([text, *(_plain(note) for note in _first(notes, 4) if _is_a(note, str))])
    return text[:_READ_LIMIT]


def _is_grpc(exc: BaseException) -> bool:
    return callable(_get(exc, "trailing_metadata")) or _module_of(exc).startswith("grpc")


def _number(value: object) -> int | None:
    """An HTTP status, from an int, an ``HTTPStatus`` or a string of three digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    return value if isinstance(value, int) and value in _STATUSES else None


@_or_none
def _word(value: object) -> str | None:
    """A machine-readable word; numbers that are no HTTP status (vendor codes) count too."""
    if isinstance(value, str):
        word = value.strip()
        return word if word and len(word) <= 128 and not _number(word) else None
    if isinstance(value, int) and not isinstance(value, bool) and value not in _STATUSES and value != 0:
        return str(value)
    return None


@_or_none
def _aws(exc: BaseException, part: str) -> Any:
    """A part of botocore's ``response`` dict."""
    response = _get(exc, "response")
    return _item(response, part) if isinstance(response, Mapping) and "Error" in response else None


@_or_none
def _errno_of(exc: BaseException) -> int | None:
    number = _get(exc, "errno") if isinstance(exc, OSError) else None
    return number if isinstance(number, int) else None


@_or_none
def _status_of(exc: BaseException) -> int | None:
    aws = _aws(exc, "ResponseMetadata")
    if _is_a(aws, Mapping):
        return _number(_item(aws, "HTTPStatusCode"))
    for owner in (exc, _get(exc, "response"), _get(exc, "raw_response"), _get(exc, "http_response")):
        for name in ("status_code", "status", "http_status", "http_status_code"):
            number = _number(_get(owner, name))
            if number is not None:
                return number
    return None if _errno_of(exc) else _number(_get(exc, "code"))


@_or_none
def _code_of(exc: BaseException) -> str | None:
    aws = _aws(exc, "Error")
    if _is_a(aws, Mapping):
        return _word(_item(aws, "Code"))
    number = _errno_of(exc)
    if number is not None and number in errno.errorcode:
        return errno.errorcode[number]
    if _is_grpc(exc):
        return _word(_get(_call(_get(exc, "code")), "name"))
    for value in (_get(exc, "code"), _get(_get(exc, "grpc_status_code"), "name"), _get(exc, "status")):
        word = _word(value)
        if word is not None:
            return word
    return None


@_or_none
def _headers_of(exc: BaseException) -> tuple[tuple[str, str], ...]:
    aws = _aws(exc, "ResponseMetadata")
    if _is_a(aws, Mapping):
        return _pairs(_item(aws, "HTTPHeaders"))
    owners = (exc, _get(exc, "response"), _get(exc, "raw_response"), _get(exc, "http_response"))
    for owner in owners:
        pairs = _pairs(_get(owner, "headers"))
        if pairs:
            return pairs
    if _is_grpc(exc):
        return _pairs(_call(_get(exc, "trailing_metadata")))
    return ()


def _pairs(headers: object) -> tuple[tuple[str, str], ...]:
    """Name and value pairs of whatever holds headers: a client's own class, a message, a dict, a list."""
    if headers is None or isinstance(headers, str):
        return ()
    items = _get(headers, "items")
    pairs = map(_pair, _first(_call(items) if callable(items) else headers, 256))
    return tuple(pair for pair in pairs if pair is not None)


@_or_none
def _pair(item: Any) -> tuple[str, str]:
    name, value = item
    if isinstance(value, list | tuple) and value:
        value = value[0]
    return _header_text(name), _header_text(value)


def _header_text(value: object) -> str:
    plain = _plain(value)
    text: str = plain.decode("latin-1") if isinstance(plain, bytes) else _plain(str(plain))
    return text


@_or_none
def _body_of(exc: BaseException) -> str | None:
    aws = _aws(exc, "Error")
    if aws is not None:
        return _as_text(aws)
    for name in _BODY_ATTRIBUTES:
        text = _as_text(_get(exc, name))
        if text:
            return text
    details = _get(exc, "details")
    if not callable(details):
        text = _as_text(details)
        if text:
            return text
    for owner in (_get(exc, "response"), _get(exc, "raw_response"), _get(exc, "http_response")):
        text = _as_text(_read_already(owner))
        if text and not (_is_success(owner) and _is_answer(text)):
            return text
    return None


def _is_success(response: object) -> bool:
    status = _number(_get(response, "status_code")) or _number(_get(response, "status"))
    return status is not None and 200 <= status < 300


def _is_answer(text: str) -> bool:
    """Whether the text is what a model answered, whole or broken off: it tells nothing of an error."""
    return text.lstrip().startswith("{") and bool(_ANSWER.search(text)) and not _ERROR.search(text)


def _read_already(response: object) -> object:
    """The content that a client has read by now; asking for ``.text`` could read from the network."""
    for name in ("_content", "_body", "_text"):
        content = _get(response, name)
        if isinstance(content, bytes | str) and content:
            return content
    return None


@_or_none
def _as_text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value[:_READ_LIMIT].decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list | tuple) and value:
        told = _call(partial(json.dumps, value, ensure_ascii=False, default=str))
        return told if isinstance(told, str) else _call(partial(repr, value))
    return None
