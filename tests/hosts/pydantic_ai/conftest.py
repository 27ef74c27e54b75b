"""What the tests of pydantic-ai's capability share. They run where ``TEST_HOST=pydantic-ai`` is set."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

if os.environ.get("TEST_HOST") != "pydantic-ai":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def anyio_backend() -> str:
    """Agents run on asyncio only."""
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
async def model(server: FaultServer) -> AsyncIterator[Any]:
    """Chat completions of the provider, without retries of the client."""
    import openai
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with openai.AsyncOpenAI(
        base_url=server.base_url,
        api_key="any",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
    ) as client:
        yield OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))


@pytest.fixture(autouse=True)
def _cautions_untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once in a process is said in each test."""
    from continuity_core.hosts.pydantic_ai import cautions

    monkeypatch.setattr(cautions, "_told", set())
