"""Reading scripted responses from JSON, as a scenario file writes them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from continuity_core.testing.fault_server.responses import (
    Cut,
    HttpResponse,
    ModelResponse,
    Response,
    ScriptedToolCall,
    Stop,
    TokenUsage,
)

_MODEL_KEYS = tuple(field.name for field in attrs.fields(ModelResponse))
_HTTP_KEYS = ("http", "headers", "body")


class ScriptError(ValueError):
    """A script holds responses that cannot be played; ``problems`` has one sentence for each of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def parse_script(script: Iterable[Response | Mapping[str, Any]]) -> tuple[Response, ...]:
    """Read every response of a script.

    Raises:
        ScriptError: naming the number (from 1), the key and the reason of each response that is wrong.
    """
    responses: list[Response] = []
    problems: list[str] = []
    for number, written in enumerate(script, start=1):
        try:
            responses.append(_parse(written))
        except ValueError as error:
            problems.append(f"response {number}: {error}")
    if problems:
        raise ScriptError(problems)
    return tuple(responses)


def _parse(written: object) -> Response:
    if isinstance(written, ModelResponse | HttpResponse):
        return written
    if not isinstance(written, Mapping):
        raise ValueError(f"must be an object, not {written!r}")
    if "http" in written:
        _refuse_unknown_keys(written, _HTTP_KEYS, "next to http")
        headers = written.get("headers", {})
        if isinstance(headers, Mapping):
            headers = {name: str(value) if type(value) is int else value for name, value in headers.items()}
        try:
            return HttpResponse(status=written["http"], headers=headers, body=written.get("body"))
        except ValueError as error:
            raise ValueError(str(error).replace("status:", "http:", 1)) from None
    for key in ("headers", "body"):
        if key in written:
            raise ValueError(f"{key}: belongs to a response with http, the status")
    _refuse_unknown_keys(written, _MODEL_KEYS, "in a response")
    if "status" in written and written.get("sse_error") is None:
        raise ValueError("status: belongs to sse_error; the status of any other response is http")
    readers: dict[str, Callable[[object], object]] = {
        "tool_calls": _tool_calls,
        "usage": _usage,
        "stop": lambda value: _word("stop", value, [word.value for word in Stop]),
        "cut": lambda value: _word("cut", value, [word.value for word in Cut]),
    }
    fields: dict[str, Any] = {
        key: readers[key](value) if key in readers else value for key, value in written.items()
    }
    return ModelResponse(**fields)


def _tool_calls(value: object) -> tuple[ScriptedToolCall, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"tool_calls: must be a list, not {value!r}")
    calls = []
    for number, call in enumerate(value, start=1):
        where = f"tool_calls: call {number}"
        if isinstance(call, ScriptedToolCall):
            calls.append(call)
            continue
        if not isinstance(call, Mapping):
            raise ValueError(f"{where} must be an object, not {call!r}")
        try:
            _refuse_unknown_keys(call, ("name", "arguments"), "in a call")
        except ValueError as error:
            raise ValueError(f"{where}, {error}") from None
        if not isinstance(call.get("name"), str) or not call["name"]:
            raise ValueError(f"{where} needs a name")
        if not isinstance(call.get("arguments", ""), str):
            raise ValueError(
                f"{where}, arguments: must be the raw string on the wire, not {call['arguments']!r}"
            )
        calls.append(ScriptedToolCall(**call))
    return tuple(calls)


def _usage(value: object) -> TokenUsage:
    if isinstance(value, TokenUsage):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"usage: must be an object with input and output, not {value!r}")
    try:
        _refuse_unknown_keys(value, ("input", "output"), "in usage")
        return TokenUsage(**value)
    except ValueError as error:
        raise ValueError(f"usage, {error}") from None


def _word(key: str, value: object, words: Sequence[str]) -> str:
    if value not in words:
        raise ValueError(f"{key}: must be one of {', '.join(words)}, not {value!r}")
    return str(value)


def _refuse_unknown_keys(written: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in written:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise ValueError(f"{key}: no such key {where}; {hint}")
