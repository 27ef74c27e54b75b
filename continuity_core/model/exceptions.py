"""Reading exceptions of any SDK by the shape of their attributes; no SDK is imported."""

from __future__ import annotations

import errno
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

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
        text = _text_of(one) if one is exc or isinstance(one, Exception) else ""
        for answer in answers:
            text = text and (_without(answer, text) or _qualified_name(one))
        if text and not any(text in other for other in messages):
            messages.append(text)
        status = status if status is not None else _status_of(one)
        headers = headers or _headers_of(one)
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
    waiting: deque[BaseException] = deque([exc])
    while waiting and len(seen) < CHAIN_LIMIT:
        one = waiting.popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting.extend(_behind(one))


def _behind(exc: BaseException) -> Iterator[BaseException]:
    if isinstance(exc, BaseExceptionGroup):
        yield from exc.exceptions[:CHAIN_LIMIT]
    if exc.__cause__ is not None:
        yield exc.__cause__
    elif exc.__context__ is not None and not exc.__suppress_context__:
        yield exc.__context__
    for name in _NESTED_ATTRIBUTES:
        nested = _get(exc, name)
        if isinstance(nested, BaseException):
            yield nested
    arguments = _get(exc, "args")
    if isinstance(arguments, tuple):
        for argument in arguments[:4]:
            if isinstance(argument, BaseException):
                yield argument


def _get(owner: object, name: str) -> Any:
    """The attribute, or None where it is missing or raises."""
    try:
        return getattr(owner, name, None)
    except Exception:
        return None


def _call(function: object) -> Any:
    """The result of a call without arguments, or None where that fails."""
    try:
        return function() if callable(function) else function
    except Exception:
        return None


def _qualified_name(exc: BaseException) -> str:
    kind = type(exc)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _text_of(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:
        text = ""
    if not text.strip():
        text = _qualified_name(exc)
    details = _get(exc, "details")  # gRPC: a method; google.api_core and google.genai: a value
    if callable(details) and _is_grpc(exc):
        told = _call(details)
        if isinstance(told, str) and told not in text:
            text = f"{text}: {told}"
    notes = _get(exc, "__notes__")
    if isinstance(notes, list):
        text = "\n".join([text, *(note for note in notes[:4] if isinstance(note, str))])
    return text[:_READ_LIMIT]


def _is_grpc(exc: BaseException) -> bool:
    return callable(_get(exc, "trailing_metadata")) or type(exc).__module__.startswith("grpc")


def _number(value: object) -> int | None:
    """An HTTP status, from an int, an ``HTTPStatus`` or a string of three digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    return int(value) if isinstance(value, int) and value in _STATUSES else None


def _word(value: object) -> str | None:
    """A machine-readable word; numbers that are no HTTP status (vendor codes) count too."""
    if isinstance(value, str):
        word = value.strip()
        return word if word and len(word) <= 128 and not _number(word) else None
    if isinstance(value, int) and not isinstance(value, bool) and value not in _STATUSES and value != 0:
        return str(value)
    return None


def _aws(exc: BaseException) -> Mapping[str, Any]:
    """botocore's ``response`` dict, or an empty one."""
    response = _get(exc, "response")
    return response if isinstance(response, Mapping) and "Error" in response else {}


def _status_of(exc: BaseException) -> int | None:
    aws = _aws(exc).get("ResponseMetadata")
    if isinstance(aws, Mapping):
        return _number(aws.get("HTTPStatusCode"))
    for owner in (exc, _get(exc, "response"), _get(exc, "raw_response"), _get(exc, "http_response")):
        for name in ("status_code", "status", "http_status", "http_status_code"):
            number = _number(_get(owner, name))
            if number is not None:
                return number
    return None if isinstance(exc, OSError) and exc.errno else _number(_get(exc, "code"))


def _code_of(exc: BaseException) -> str | None:
    aws = _aws(exc).get("Error")
    if isinstance(aws, Mapping):
        return _word(aws.get("Code"))
    if isinstance(exc, OSError) and isinstance(exc.errno, int) and exc.errno in errno.errorcode:
        return errno.errorcode[exc.errno]
    if _is_grpc(exc):
        return _word(_get(_call(_get(exc, "code")), "name"))
    for value in (_get(exc, "code"), _get(_get(exc, "grpc_status_code"), "name"), _get(exc, "status")):
        word = _word(value)
        if word is not None:
            return word
    return None


def _headers_of(exc: BaseException) -> tuple[tuple[str, str], ...]:
    aws = _aws(exc).get("ResponseMetadata")
    if isinstance(aws, Mapping):
        return _pairs(aws.get("HTTPHeaders"))
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
    items: Any = headers
    if callable(_get(headers, "items")):
        items = _call(_get(headers, "items"))
    pairs: list[tuple[str, str]] = []
    try:
        for name, value in items:
            name = name.decode("latin-1") if isinstance(name, bytes) else str(name)
            if isinstance(value, list | tuple) and value:
                value = value[0]
            value = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            pairs.append((name, value))
            if len(pairs) >= 256:
                break
    except Exception:
        return tuple(pairs)
    return tuple(pairs)


def _body_of(exc: BaseException) -> str | None:
    aws = _aws(exc)
    if aws:
        return _as_text(aws.get("Error"))
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
    status = _number(_get(response, "status_code") or _get(response, "status"))
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


def _as_text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value[:_READ_LIMIT].decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list | tuple) and value:
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except Exception:
            try:
                return repr(value)
            except Exception:
                return None
    return None
