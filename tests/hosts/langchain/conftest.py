"""What the tests of LangChain's middleware share; they run where ``TEST_HOST`` is ``langchain``."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

if os.environ.get("TEST_HOST") != "langchain":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def anyio_backend() -> str:
    """LangGraph runs on asyncio only."""
    return "asyncio"


@pytest.fixture
def clock() -> VirtualClock:
    """Jumps over every wait, and remembers it."""
    return VirtualClock()


@pytest.fixture
def load(clock: VirtualClock) -> Callable[..., Continuity]:
    """Make a Continuity of these settings alone, on the clock."""

    def load(settings: dict[str, Any] | None = None, **more: Any) -> Continuity:
        return Continuity.from_settings(settings, clock=clock, **more)

    return load


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    """A provider that is told what to answer by ``server.play``."""
    async with FaultServer() as running:
        yield running
        assert not running.violations


@pytest.fixture
async def model(server: FaultServer) -> AsyncIterator[Callable[..., Any]]:
    """Make a client of the provider; chat completions, not streamed, unless it is told otherwise."""
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

    # LangChain keeps the clients that it makes for the life of the process.
    async with DefaultAsyncHttpxClient(trust_env=False, verify=False) as http_async_client:
        with DefaultHttpxClient(trust_env=False, verify=False) as http_client:

            def model(**options: Any) -> Any:
                given = {"max_retries": 0, "max_completion_tokens": 64, "stream_usage": True, **options}
                return ChatOpenAI(
                    model="scripted",
                    base_url=server.base_url,
                    api_key="any",
                    http_async_client=http_async_client,
                    http_client=http_client,
                    **given,
                )

            yield model
