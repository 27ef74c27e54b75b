"""What the tests of openJiuwen share. They run where ``TEST_HOST=openjiuwen`` says that it is there."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from host_fixtures import anyio_backend, clock, load, not_of

from continuity_core.testing.fault_server import FaultServer

__all__ = ["anyio_backend", "clock", "load", "make", "server", "tool"]

if not (collect_ignore_glob := not_of("openjiuwen")):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of the framework's own modules, while they are imported.
        import openjiuwen.core.single_agent.agents.react_agent
        import openjiuwen.harness.deep_agent
        import openjiuwen.harness.rails.model_anomaly_detection_rail  # noqa: F401

_NUMBERS = itertools.count()


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    """A provider that is told what to answer by ``server.play``; the framework keeps its clients open."""
    from openjiuwen.core.foundation.llm.model_clients.openai_model_client import OpenAIModelClient

    async with FaultServer() as running:
        yield running
        await OpenAIModelClient.aclose()
        assert not running.violations


class Tool:
    """A tool that counts."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    @property
    def function(self) -> Callable[..., Any]:
        """As the framework takes it: it looks whether it is given a coroutine function."""

        async def step(**arguments: Any) -> str:
            self.given.append(arguments)
            return "RESULT"

        return step


@pytest.fixture
def tool() -> Tool:
    """The one tool of the agents: ``step``."""
    return Tool()


@pytest.fixture
async def make(server: FaultServer, tool: Tool) -> AsyncIterator[Callable[..., Any]]:
    """Make an agent of the provider with the tool and the given rails."""
    from openjiuwen.core.foundation.llm.schema.config import ModelClientConfig, ModelRequestConfig
    from openjiuwen.core.foundation.tool import LocalFunction, ToolCard
    from openjiuwen.core.runner import Runner
    from openjiuwen.core.single_agent import AgentCard
    from openjiuwen.core.single_agent.agents.react_agent import ReActAgent, ReActAgentConfig

    made = []

    async def make(*rails: Any, iterations: int = 20) -> Any:
        name = f"agent-{next(_NUMBERS)}"
        agent = ReActAgent(AgentCard(id=name, name=name, description="test"))
        agent.configure(
            ReActAgentConfig(
                max_iterations=iterations,
                model_name="scripted",
                model_client_config=ModelClientConfig(
                    client_provider="OpenAI", api_key="any", api_base=server.base_url, verify_ssl=False
                ),
                model_config_obj=ModelRequestConfig(model="scripted", max_tokens=64),
            )
        )
        card = ToolCard(
            id=f"{name}-step",
            name="step",
            description="step",
            input_params={"type": "object", "properties": {}, "additionalProperties": True},
        )
        Runner.resource_mgr.add_tool(LocalFunction(card, tool.function))
        agent.ability_manager.add(card)
        for rail in rails:
            await agent.register_rail(rail)
        made.append(agent)
        return agent

    yield make
    for agent in made:
        await agent.agent_callback_manager.clear()
        Runner.resource_mgr.remove_tool(f"{agent.card.id}-step")
