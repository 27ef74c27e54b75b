"""What the tests of pydantic-ai's capability share. They run where ``TEST_HOST=pydantic-ai`` is set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from host_fixtures import anyio_backend, clock, load, not_of, server

from continuity_core.testing.fault_server import FaultServer

__all__ = ["anyio_backend", "clock", "load", "server"]

collect_ignore_glob = not_of("pydantic-ai")


@pytest.fixture
async def client(server: FaultServer) -> AsyncIterator[Any]:
    """A client of the provider that makes no retries of its own."""
    import openai

    async with openai.AsyncOpenAI(
        base_url=server.base_url,
        api_key="any",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
    ) as client:
        yield client


@pytest.fixture
def model(client: Any) -> Any:
    """Chat completions of the provider."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))


@pytest.fixture(autouse=True)
def _cautions_untold() -> None:
    """What is said once in a process is said in each test."""
    from continuity_core.hosts.pydantic_ai.cautions import CAUTIONS

    CAUTIONS.forget()
