"""Closing a client although the task is being cancelled."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio

_SECONDS = 5.0


async def closed_in_any_case(closing: Awaitable[object]) -> None:
    """Await ``closing``, also in a cancelled task, but not for ever."""
    with anyio.move_on_after(_SECONDS, shield=True):
        await closing
