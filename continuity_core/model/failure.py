"""What is known of a turn that failed, whoever raised it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import attrs

FailurePlace: TypeAlias = Literal["model", "tool", "host"]

TEXT_LIMIT = 8 * 1024
"""Characters that are kept of a message and of a body: half from the head, half from the tail."""
HEADER_LIMIT = 64
"""Headers that are kept."""
HEADER_VALUE_LIMIT = 256
"""Characters that are kept of a header's value."""

_ELISION = "\n[...]\n"
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_KEPT_HEADERS = frozenset(
    {
        "date",
        "retry-after",
        "retry-after-ms",
        "x-amzn-errortype",
        "x-error-code",
        "x-ms-retry-after-ms",
        "x-retry-after",
        "x-retry-after-ms",
        "x-should-retry",
    }
)
_KEPT_HEADER_PREFIXES = (
    "anthropic-ratelimit-",
    "rate-limit",
    "ratelimit",
    "x-codex-",
    "x-rate-limit",
    "x-ratelimit",
    "x-usage-limit",
)


def keep_head_and_tail(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` itself if it has at most ``limit`` characters, else its head and its tail, half of it each."""
    if len(text) <= limit:
        return text
    half = (limit - len(_ELISION)) // 2
    return text[:half] + _ELISION + text[-half:]


def keep_headers(headers: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Mapping[str, str]:
    """The headers that tell of limits and retries, with lower-case names; all others may hold secrets."""
    if not headers:
        return _NO_HEADERS
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    kept: dict[str, str] = {}
    for name, value in pairs:
        lowered = str(name).strip().lower()
        if lowered in _KEPT_HEADERS or lowered.startswith(_KEPT_HEADER_PREFIXES):
            kept[lowered] = str(value)[:HEADER_VALUE_LIMIT]
            if len(kept) >= HEADER_LIMIT:
                break
    return MappingProxyType(kept) if kept else _NO_HEADERS


@attrs.frozen(kw_only=True)
class Failure:
    """The normalised error of a turn.

    Build it by :meth:`from_exception` from what an SDK raised, or by :meth:`from_text` from the text that is
    all a host was given; both bound what is kept.
    """

    message: str
    """The error text as a person would see it."""
    status: int | None = None
    """HTTP status, from a field of the response and never from digits in the text."""
    code: str | None = None
    """The provider's machine-readable code, e.g. ``context_length_exceeded``."""
    type: str | None = None
    """The provider's machine-readable type, e.g. ``overloaded_error``."""
    headers: Mapping[str, str] = _NO_HEADERS
    """Response headers with lower-case names; only those that tell of limits and retries are kept."""
    body: str | None = None
    """The response body as text, where the SDK kept it."""
    exceptions: tuple[str, ...] = ()
    """Qualified type names of the exception and of what caused it, outermost first."""
    where: FailurePlace = "model"
    """Where it happened. Known from the boundary, never guessed from the exception's type."""

    @classmethod
    def from_exception(cls, exc: BaseException, *, where: FailurePlace = "model") -> Failure:
        """Read what any SDK raised, its causes and its groups included, without importing any SDK.

        Never raises: attributes that raise are taken as absent.
        """
        from continuity_core.model.exceptions import describe

        found = describe(exc)
        return cls.from_text(
            found.message,
            status=found.status,
            headers=found.headers,
            body=found.body,
            code=found.code,
            type=found.type,
            exceptions=found.exceptions,
            where=where,
        )

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        body: str | None = None,
        code: str | int | None = None,
        type: str | None = None,
        exceptions: Iterable[str] = (),
        where: FailurePlace = "model",
    ) -> Failure:
        """Take the error text and whatever else is known; text and body are kept to ``TEXT_LIMIT``.

        A ``code`` may be a number, as with gRPC and many vendors.
        """
        return cls(
            message=keep_head_and_tail(text),
            status=status,
            code=None if code is None else str(code),
            type=type,
            headers=keep_headers(headers),
            body=None if body is None else keep_head_and_tail(body),
            exceptions=tuple(exceptions),
            where=where,
        )
