"""What the tests of OpenAI Agents share. They run where ``TEST_HOST=openai-agents`` says that it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from host_fixtures import anyio_backend, clock, load, not_of, server

from continuity_core.testing.fault_server import FaultServer

__all__ = ["anyio_backend", "clock", "load", "server"]

collect_ignore_glob = not_of("openai-agents")


@pytest.fixture(autouse=True, scope="session")
def _no_traces() -> None:
    """Nothing is sent anywhere."""
    from agents import set_tracing_disabled

    set_tracing_disabled(True)


@pytest.fixture(params=["chat", "responses"])
def dialect(request: pytest.FixtureRequest) -> str:
    """Each dialect; a test of one dialect overrides this fixture."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Both ways to run."""
    return bool(request.param)


@pytest.fixture
async def provider(server: FaultServer, dialect: str) -> AsyncIterator[Any]:
    """The framework's own provider, over the SDK's client."""
    from agents import MultiProvider
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    transport: Any = DefaultAsyncHttpxClient(trust_env=False, verify=False)
    client = AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0, http_client=transport)
    yield MultiProvider(openai_client=client, openai_use_responses=dialect == "responses")
    await client.close()
    for _ in range(3):  # The loop takes rounds to let go of a closed connection.
        await asyncio.sleep(0)
