"""What a turn costs with LangChain's middleware, beside a middleware of LangChain that does nothing.

Three agents play the same scripted tool loop in turn, again and again: without middleware, with one whose
hooks are empty (before the agent, around the model, after the agent), and with continuity. The model and the
tool answer at once. Needs the extra ``langchain``; say ``python benchmarks/host_langchain.py``.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from measuring import Measured, beside_nothing, report

from continuity_core import Continuity
from continuity_core.hosts.langchain import ContinuityMiddleware

TURNS = 20
"""Model turns of one run, all but the last with a tool call."""
QUESTION = {"messages": [{"role": "user", "content": "Count"}]}


class Model(GenericFakeChatModel):
    """Answers at once, and takes any tools."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """The script calls them anyway."""
        return self


@tool
async def step(number: int) -> str:
    """Count on."""
    return str(number + 1)


class Nothing(AgentMiddleware[Any, Any, Any]):
    """Hooks of the same kinds that do nothing."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Nothing."""

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        """Nothing."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Nothing."""
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Nothing."""
        return await handler(request)

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Nothing."""

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Nothing."""


def script() -> Iterator[AIMessage]:
    """The answers of one run after the other, for ever."""
    metadata = {"model_provider": "openai"}
    while True:
        for number in range(TURNS - 1):
            call = {"name": "step", "args": {"number": number}, "id": f"call-{number}"}
            yield AIMessage(
                "", tool_calls=[call], response_metadata={**metadata, "finish_reason": "tool_calls"}
            )
        yield AIMessage("done", response_metadata={**metadata, "finish_reason": "stop"})


def agents() -> dict[str, Any]:
    """The agents that are compared."""
    of_ours = ContinuityMiddleware(continuity=Continuity.from_settings())
    middleware: dict[str, list[Any]] = {"none": [], "nothing": [Nothing()], "continuity": [of_ours]}
    return {
        name: create_agent(Model(messages=script()), [step], middleware=given)
        for name, given in middleware.items()
    }


async def measure(rounds: int, clock: Callable[[], float] = time.process_time) -> dict[str, list[float]]:
    """Microseconds of processor time for each turn, by agent and round."""
    compared = agents()
    seconds: dict[str, list[float]] = {name: [] for name in compared}
    for number in range(rounds + 2):
        names = list(compared)
        for name in names if number % 2 else names[::-1]:
            begun = clock()
            await compared[name].ainvoke(QUESTION)
            if number >= 2:  # The first rounds import and compile.
                seconds[name].append((clock() - begun) / TURNS * 1e6)
    return seconds


def measured(short: bool) -> Measured:
    """The figures of both forms."""
    times = asyncio.run(measure(8 if short else 40))
    return beside_nothing("a turn with LangChain's middleware", times, {"": ("continuity", "nothing")})


if __name__ == "__main__":
    sys.exit(report(measured, name="host_langchain", about=str(__doc__).partition("\n")[0]))
