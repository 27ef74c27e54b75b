"""What a turn costs with continuity's model for OpenAI Agents, beside a wrapped model that does nothing.

The same scripted tool loop is run in turn, again and again: on a bare model, on one in a wrapper that hands
every call on, and on one with continuity, without streaming and streamed. The model and the tool answer at
once. Needs the extra ``openai-agents``; say ``python benchmarks/host_openai_agents.py``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model
from measuring import Measured, beside_nothing, report
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from continuity_core import Continuity
from continuity_core.hosts.openai_agents import ContinuityModel

TURNS = 20
"""Model turns of one run, all but the last with a tool call."""


@function_tool
async def step(number: int) -> str:
    """Count on."""
    return str(number + 1)


class Scripted(Model):
    """Answers at once: a call in every turn but the last of a run."""

    def __init__(self) -> None:
        self._turn = 0

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """The next answer."""
        usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
        return ModelResponse(output=self._output(), usage=usage, response_id=None)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        """The next answer, as the event that ends its stream."""
        response = Response(
            id="resp",
            created_at=0,
            model="scripted",
            object="response",
            output=self._output(),
            parallel_tool_calls=False,
            status="completed",
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")

    def _output(self) -> list[Any]:
        self._turn += 1
        if self._turn % TURNS:
            arguments = json.dumps({"number": self._turn})
            call_id = f"call_{self._turn}"
            return [
                ResponseFunctionToolCall(
                    arguments=arguments, call_id=call_id, name="step", type="function_call"
                )
            ]
        part = ResponseOutputText(annotations=[], text="done", type="output_text")
        return [
            ResponseOutputMessage(
                content=[part], id=f"msg_{self._turn}", role="assistant", status="completed", type="message"
            )
        ]


class Nothing(Model):
    """Hands every call on."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """Nothing."""
        return await self._model.get_response(*given, **named)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        """Nothing."""
        async for event in self._model.stream_response(*given, **named):
            yield event


async def play(model: Model, *, streamed: bool) -> None:
    """One run of ``TURNS`` turns."""
    agent = Agent(name="agent", model=model, tools=[step])
    config = RunConfig(tracing_disabled=True)
    if not streamed:
        await Runner.run(agent, "Count", run_config=config, max_turns=None)
        return
    async for _ in Runner.run_streamed(agent, "Count", run_config=config, max_turns=None).stream_events():
        pass


async def measure(rounds: int, clock: Callable[[], float] = time.process_time) -> dict[str, list[float]]:
    """Microseconds of processor time for each turn, by model and way, and round."""
    continuity = Continuity.from_settings()
    models: dict[str, Model] = {
        "none": Scripted(),
        "nothing": Nothing(Scripted()),
        "continuity": ContinuityModel(Scripted(), continuity=continuity),
    }
    compared = [(name, streamed) for streamed in (False, True) for name in models]
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 2):
        for name, streamed in compared if number % 2 else compared[::-1]:
            begun = clock()
            await play(models[name], streamed=streamed)
            if number >= 2:  # The first rounds import and compile.
                key = f"{name} streamed" if streamed else name
                seconds.setdefault(key, []).append((clock() - begun) / TURNS * 1e6)
    return seconds


def measured(short: bool) -> Measured:
    """The figures of both forms."""
    times = asyncio.run(measure(8 if short else 40))
    pairs = {
        "": ("continuity", "nothing"),
        ", streamed": ("continuity streamed", "nothing streamed"),
    }
    return beside_nothing("a turn with OpenAI Agents' model", times, pairs)


if __name__ == "__main__":
    sys.exit(report(measured, name="host_openai_agents", about=str(__doc__).partition("\n")[0]))
