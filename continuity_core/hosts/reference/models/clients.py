"""What the clients of both SDKs share: one TLS context, and closing although the task is being cancelled."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Awaitable

import anyio

_SECONDS = 5.0


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The context that a client would make for itself; reading the certificates is what costs most."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


async def closed_in_any_case(closing: Awaitable[object]) -> None:
    """Await ``closing``, also in a cancelled task, but not for ever."""
    with anyio.move_on_after(_SECONDS, shield=True):
        await closing
