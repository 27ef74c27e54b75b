"""Doing something that an abort from any thread ends at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from continuity_core.engine.alarm import LoopAlarm
from continuity_core.engine.waker import Waker


async def interruptible(waker: Waker, work: Callable[[], Awaitable[None]]) -> bool:
    """Do ``work`` and say whether it came to its end; a wake cancels it. Raises what it raises."""
    done = False
    error: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, waker, tasks.cancel_scope)
        try:
            await work()
            done = True
        except Exception as raised:
            error = raised
        tasks.cancel_scope.cancel()
    if error is not None:
        raise error
    return done


async def _watch(waker: Waker, scope: anyio.CancelScope) -> None:
    alarm = LoopAlarm()
    waker.attach(alarm)
    try:
        await alarm.wait()
        scope.cancel()
    finally:
        waker.detach(alarm)
