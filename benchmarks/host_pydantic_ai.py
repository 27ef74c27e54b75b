"""What a turn costs with pydantic-ai's capability, beside a capability of pydantic-ai that does nothing.

Three agents play the same scripted tool loop in turn, again and again: without a capability, with one whose
hooks are empty (a copy for the run, around the run and each node, before each node, each request and each
call), and with continuity. The model and the tool answer at once. Needs the extra ``pydantic-ai``; say
``python benchmarks/host_pydantic_ai.py``.
"""

from __future__ import annotations

import asyncio
import copy
import sys
import time
from collections.abc import Callable
from typing import Any

from measuring import Measured, beside_nothing, report
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from continuity_core import Continuity
from continuity_core.hosts.pydantic_ai import ContinuityCapability

TURNS = 20
"""Model turns of one run, all but the last with a tool call."""
NO_LIMIT = UsageLimits(request_limit=None)


class Nothing(AbstractCapability[Any]):
    """Hooks of the same kinds that do nothing."""

    async def for_run(self, ctx: Any) -> Any:
        """A copy for the run."""
        return copy.copy(self)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        """Nothing."""
        return await handler()

    async def before_node_run(self, ctx: Any, *, node: Any) -> Any:
        """Nothing."""
        return node

    async def wrap_node_run(self, ctx: Any, *, node: Any, handler: Any) -> Any:
        """Nothing."""
        return await handler(node)

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Nothing."""
        return request_context

    async def after_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        """Nothing."""
        return args

    async def before_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        """Nothing."""
        return output


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A call of the tool in every turn but the last."""
    number = sum(isinstance(message, ModelResponse) for message in messages)
    if number == TURNS - 1:
        return ModelResponse(parts=[TextPart("done")], finish_reason="stop")
    call = ToolCallPart("step", {"number": number}, tool_call_id=f"call-{number}")
    return ModelResponse(parts=[call], finish_reason="tool_call")


def agent_with(*capabilities: AbstractCapability[Any]) -> Agent[None, str]:
    """An agent with a tool."""
    agent = Agent(FunctionModel(answer), capabilities=capabilities)

    @agent.tool_plain
    async def step(number: int) -> str:
        """Count on."""
        return str(number + 1)

    return agent


async def measure(rounds: int) -> dict[str, list[float]]:
    """Microseconds of processor time a turn of each agent, by round; each round has another order."""
    agents: dict[str, Callable[[], Any]] = {
        name: agent.run
        for name, agent in {
            "without": agent_with(),
            "empty hooks": agent_with(Nothing()),
            "continuity": agent_with(ContinuityCapability(continuity=Continuity.from_settings())),
        }.items()
    }
    seen: dict[str, list[float]] = {name: [] for name in agents}
    names = list(agents)
    for number in range(rounds + 2):
        for name in names[number % 3 :] + names[: number % 3]:
            start = time.process_time()
            await agents[name]("Count", usage_limits=NO_LIMIT)  # type: ignore[call-arg]
            taken = (time.process_time() - start) / TURNS * 1e6
            if number >= 2:
                seen[name].append(taken)
    return seen


def measured(short: bool) -> Measured:
    """The figures of both forms."""
    times = asyncio.run(measure(8 if short else 60))
    return beside_nothing("a turn with pydantic-ai's capability", times, {"": ("continuity", "empty hooks")})


if __name__ == "__main__":
    sys.exit(report(measured, name="host_pydantic_ai", about=str(__doc__).partition("\n")[0]))
