"""JSON-RPC 2.0, one message a line: reading what came, and writing what is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NoReturn, TypeAlias

import attrs

from continuity_core.model.decisions import JSONValue

PROTOCOL_VERSION = 1
"""Of the methods and their fields; a client that speaks another one is refused."""

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of one line; a longer one is refused."""
NESTING_LIMIT = 64
"""Levels of arrays and objects in one message."""

RequestId: TypeAlias = str | int


class Code(IntEnum):
    """The error codes: those of JSON-RPC, and ours."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    NOT_INITIALIZED = -32000
    """A request came before ``initialize``."""
    OTHER_VERSION = -32001
    """The client speaks another version of the protocol or of the specification."""
    NO_SUCH_SESSION = -32002
    MISUSE = -32003
    """The run cannot do this now."""
    RESYNC = -32004
    """The entries that the client builds on are not here: it sends all of them."""


class RpcError(Exception):
    """What is answered instead of a result."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.id: RequestId | None = None
        """The request that it answers, where that much could be read."""


@attrs.frozen(kw_only=True)
class Call:
    """A request, or a notification where there is no id."""

    method: str
    params: Mapping[str, Any]
    id: RequestId | None = None


def read_line(line: bytes) -> Call:
    """Read one message. Raises :class:`RpcError`, which carries the id where one was readable."""
    if len(line) > LINE_LIMIT:
        raise RpcError(Code.INVALID_REQUEST, f"a line has more than {LINE_LIMIT} bytes")
    try:
        message = _DECODER.decode(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise RpcError(Code.PARSE_ERROR, f"no JSON: {error}") from None
    if isinstance(message, list):
        raise RpcError(Code.INVALID_REQUEST, "batches are not taken: send one message a line")
    if not isinstance(message, dict):
        raise RpcError(Code.INVALID_REQUEST, "a message is an object")
    # No level without its bracket: most messages have fewer brackets than they may have levels.
    is_flat = line.count(b"{") + line.count(b"[") <= NESTING_LIMIT
    try:
        return _call_of(message, is_flat=is_flat)
    except RpcError as error:
        id = message.get("id")
        error.id = id if _is_id(id) else None
        raise


def _call_of(message: dict[str, Any], *, is_flat: bool) -> Call:
    if message.get("jsonrpc") != "2.0":
        raise RpcError(Code.INVALID_REQUEST, 'jsonrpc must be "2.0"')
    method, params, id = message.get("method"), message.get("params", {}), message.get("id")
    if not isinstance(method, str):
        raise RpcError(Code.INVALID_REQUEST, "method must be a text")
    if id is not None and not _is_id(id):
        raise RpcError(Code.INVALID_REQUEST, "id must be a text or a whole number")
    if not isinstance(params, dict):
        raise RpcError(Code.INVALID_PARAMS, "params must be an object")
    if not is_flat and not _is_shallow(params, NESTING_LIMIT):
        raise RpcError(Code.INVALID_PARAMS, f"params are nested deeper than {NESTING_LIMIT} levels")
    return Call(method=method, params=params, id=id)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_shallow(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        return levels > 0 and all(_is_shallow(item, levels - 1) for item in value.values())
    if isinstance(value, list):
        return levels > 0 and all(_is_shallow(item, levels - 1) for item in value)
    return True


def result_line(id: RequestId, result: JSONValue) -> bytes:
    """The answer to a request."""
    return _line({"jsonrpc": "2.0", "id": id, "result": result})


def error_line(id: RequestId | None, error: RpcError) -> bytes:
    """The answer to a request that failed, or to what was no message at all."""
    return _line(
        {"jsonrpc": "2.0", "id": id, "error": {"code": int(error.code), "message": str(error)[:2000]}}
    )


def notification_line(method: str, params: Mapping[str, JSONValue]) -> bytes:
    """Something that the client is told."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def _line(message: Mapping[str, JSONValue]) -> bytes:
    """ASCII only: a lone surrogate of a provider's text does not break the line."""
    return _ENCODER.encode(message).encode("ascii") + b"\n"
