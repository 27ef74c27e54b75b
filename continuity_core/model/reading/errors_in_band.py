"""Errors that a provider reports inside a response of HTTP status 200."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from continuity_core.model.failure import Failure
from continuity_core.model.reading.fields import as_json, field, plain

_HTTP_ERRORS = range(400, 600)


def error_within(owner: Any) -> Failure | None:
    """The failure that the ``error`` of a body, chunk, choice or event tells of, if there is one.

    An error's code that is an HTTP status (OpenRouter) is taken as the status.
    """
    error = field(owner, "error")
    if error is None or error is False or error == "" or callable(error):
        return None
    if isinstance(error, str):
        return Failure.from_text(error, body=json.dumps({"error": error}))
    details = plain(error)
    code, type_ = field(details, "code"), field(details, "type")
    status = next((number for number in map(_status, (code, field(details, "status"))) if number), None)
    body = as_json({"error": details})
    message = field(details, "message") or field(details, "detail")
    return Failure.from_text(
        message if isinstance(message, str) and message.strip() else body,
        status=status,
        code=None if _status(code) else _word(code),
        type=_word(type_),
        body=body if isinstance(details, Mapping | list | tuple) else None,
    )


def _status(value: Any) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value in _HTTP_ERRORS else None


def _word(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip()[:128] or None
