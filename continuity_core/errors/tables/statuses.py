"""What an HTTP status says where no word says more."""

from __future__ import annotations

from continuity_core.model.cause import CauseKind

_P, _T = CauseKind.PERMANENT, CauseKind.TRANSIENT

STATUSES: dict[int, tuple[CauseKind, str]] = {
    401: (_P, "not signed in"),
    402: (_P, "payment required"),
    403: (_P, "forbidden"),
    404: (_P, "not found"),
    405: (_P, "method not allowed"),
    406: (_P, "not acceptable"),
    407: (_P, "the proxy wants a sign-in"),
    408: (_T, "request timeout"),
    409: (_T, "conflict; the OpenAI and Anthropic SDKs try again, too"),
    410: (_P, "gone"),
    411: (_P, "length required"),
    412: (_P, "precondition failed"),
    413: (CauseKind.CONTEXT_OVERFLOW, "the request is too large"),
    414: (_P, "the address is too long"),
    415: (_P, "unsupported media type"),
    417: (_P, "expectation failed"),
    421: (_T, "misdirected request"),
    422: (_P, "the request was understood and refused"),
    423: (_T, "locked"),
    424: (_T, "a dependency failed; Bedrock's ModelErrorException"),
    425: (_T, "too early"),
    426: (_P, "upgrade required"),
    428: (_P, "precondition required"),
    429: (CauseKind.RATE_LIMIT, "too many requests"),
    431: (_P, "header fields too large"),
    451: (_P, "unavailable for legal reasons"),
    498: (_T, "Groq: the flex tier is out of capacity"),
    499: (_T, "the connection to the client was closed"),
    501: (_P, "not implemented"),
    505: (_P, "HTTP version not supported"),
    511: (_P, "the network wants a sign-in"),
}
"""Any other status from 500 to 599 is ``transient``; 400 says nothing by itself."""


def by_status(status: int) -> tuple[CauseKind, str] | None:
    """The row for ``status``, or None where a status says nothing."""
    row = STATUSES.get(status)
    if row is not None:
        return row
    return (_T, "the server failed") if 500 <= status <= 599 else None


REASON_PHRASES: dict[int, tuple[str, ...]] = {
    400: ("bad request",),
    401: ("unauthorized",),
    402: ("payment required",),
    403: ("forbidden",),
    404: ("not found",),
    405: ("method not allowed",),
    408: ("request timeout",),
    409: ("conflict",),
    413: ("payload too large", "request entity too large", "content too large"),
    422: ("unprocessable entity", "unprocessable content"),
    429: ("too many requests",),
    500: ("internal server error",),
    502: ("bad gateway",),
    503: ("service unavailable", "service temporarily unavailable"),
    504: ("gateway time-out", "gateway timeout"),
    529: ("site is overloaded", "overloaded"),
}
"""A number followed by its own reason phrase is a status wherever it stands."""
