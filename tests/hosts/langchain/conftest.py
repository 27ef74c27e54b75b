"""What the tests of LangChain's middleware share; they run where ``TEST_HOST`` is ``langchain``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from host_fixtures import anyio_backend, clock, load, not_of, server

from continuity_core.testing.fault_server import FaultServer

__all__ = ["anyio_backend", "clock", "load", "server"]

collect_ignore_glob = not_of("langchain")


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
