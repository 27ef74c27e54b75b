"""Fixtures for tests of hosts that run on asyncio in this process; a host's ``conftest.py`` imports them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

__all__ = ["anyio_backend", "clock", "load", "not_of", "server", "side_by_side"]


def not_of(host: str) -> list[str]:
    """What ``collect_ignore_glob`` is to be: a host's tests run where ``TEST_HOST`` says that it is there."""
    return [] if os.environ.get("TEST_HOST") == host else ["test_*.py"]


@pytest.fixture
def anyio_backend() -> str:
    """These frameworks run on asyncio only."""
    return "asyncio"


@pytest.fixture
def clock() -> VirtualClock:
    """Jumps over every wait, and remembers it."""
    return VirtualClock()


@pytest.fixture
def load(clock: VirtualClock) -> Callable[..., Continuity]:
    """Make a Continuity of these settings alone, on the clock unless another is given."""

    def load(settings: dict[str, Any] | None = None, **more: Any) -> Continuity:
        return Continuity.from_settings(settings, **{"clock": clock, **more})

    return load


async def side_by_side(server: FaultServer, *runs: Coroutine[Any, Any, Any]) -> list[Any]:
    """The results of these runs, none of which gets its first response before all have asked."""
    holds = [server.hold(number) for number in range(1, len(runs) + 1)]
    going_on = asyncio.gather(*runs)
    for hold in holds:
        await hold.reached()
    for hold in holds:
        hold.release()
    return await going_on


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    """A provider that is told what to answer by ``server.play``."""
    async with FaultServer() as running:
        yield running
        assert not running.violations
