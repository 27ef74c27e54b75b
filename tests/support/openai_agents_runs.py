"""Agents and runs for the tests of OpenAI Agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, FunctionTool, ModelResponse, ModelSettings, RunConfig, Runner, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from continuity_core import Continuity, Event, EventKind, Report, RunOutcome
from continuity_core.hosts.openai_agents import ContinuityProvider, ContinuityRunner

LIMIT = 64
CALL = {"tool_calls": [{"name": "step", "arguments": "{}"}]}
CUT_CALL = {"tool_calls": [{"name": "step", "arguments": '{"path": "CUT"}'}], "stop": "length"}
CUT = {"text": "half of it", "stop": "length"}
BROKEN = {"text": "BROKEN", "cut": "rst"}
OVERLOADED = {"http": 503, "headers": {}, "body": {"error": {"message": "overloaded"}}}
LIMITED = {"http": 429, "headers": {"retry-after": "90"}, "body": {"error": {"message": "Rate limit"}}}
DONE = {"text": "done"}


class Step:
    """A tool that counts how often it is executed."""

    def __init__(self, name: str = "step", result: str = "RESULT") -> None:
        self.name = name
        self.result = result
        self.arguments: list[dict[str, Any]] = []

    @property
    def tool(self) -> FunctionTool:
        """The tool as the framework takes it."""

        async def invoke(context: Any, arguments: str) -> str:
            self.arguments.append(json.loads(arguments))
            return self.result

        return FunctionTool(
            name=self.name,
            description="",
            params_json_schema={"type": "object", "properties": {}, "additionalProperties": True},
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )


def agent(*tools: FunctionTool, **options: Any) -> Agent[Any]:
    """An agent of a model named by its provider."""
    settings = ModelSettings(max_tokens=LIMIT, include_usage=True)
    given = {"name": "agent", "model": "scripted", "model_settings": settings, **options}
    return Agent(tools=list(tools), **given)


def config(provider: Any, **options: Any) -> RunConfig:
    """A run configuration without tracing."""
    return RunConfig(model_provider=provider, tracing_disabled=True, **options)


async def outcome(
    agent: Agent[Any], input: Any, *, streamed: bool, runner: Any = Runner, **options: Any
) -> Any:
    """The framework's result of a run, either way."""
    if not streamed:
        return await runner.run(agent, input, **options)
    result = runner.run_streamed(agent, input, **options)
    async for _ in result.stream_events():
        pass
    return getattr(result, "result", result)


class Wrapped:
    """A provider and a runner with one continuity, what was reported of its runs, and their events."""

    def __init__(self, provider: Any, load: Any, settings: dict[str, Any] | None = None, **more: Any) -> None:
        self.reports: list[Report] = []
        self.is_reported = asyncio.Event()
        self.events: list[Event] = []
        self.continuity: Continuity = load(settings, on_event=self.events.append, **more)
        self._own = provider
        self.provider = ContinuityProvider(provider, continuity=self.continuity, on_report=self._take)
        self.runner = ContinuityRunner(continuity=self.continuity)

    def _take(self, report: Report) -> None:
        self.reports.append(report)
        self.is_reported.set()

    @property
    def config(self) -> RunConfig:
        """A run configuration of the provider."""
        return config(self.provider)

    @property
    def outcomes(self) -> list[RunOutcome]:
        """How each run that ended ended."""
        return [report.outcome for report in self.reports]

    @property
    def ends(self) -> list[tuple[RunOutcome, int]]:
        """How each run ended and its resumes; all have to be over."""
        assert self.continuity.status()["runs"] == []
        return [(report.outcome, report.resumes) for report in self.reports]

    @property
    def parents(self) -> list[Any]:
        """The run under which each run began."""
        return [event.data["parent"] for event in self.events if event.kind is EventKind.RUN_STARTED]

    async def run(self, agent: Agent[Any], input: Any, *, streamed: bool, **options: Any) -> Any:
        """The framework's result of a run of the runner with the tool tail, which wraps the provider."""
        given = {"runner": self.runner, "run_config": config(self._own), **options}
        return await outcome(agent, input, streamed=streamed, **given)


class SaidModel(Model):
    """A model of its own that gives these outcomes in turn, and remembers what it was asked with."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[dict[str, Any]] = []
        self.closed = False

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        self.asked.append(named)
        said = self.outcomes.pop(0)
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, ModelResponse) else response(said)

    def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed = True


def response(text: str, *, output_tokens: int = 5, output: list[Any] | None = None) -> ModelResponse:
    """A response in the framework's form."""
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    message = ResponseOutputMessage(
        id="__fake_id__", content=[part], role="assistant", type="message", status="completed"
    )
    usage = Usage(requests=1, input_tokens=10, output_tokens=output_tokens, total_tokens=10 + output_tokens)
    return ModelResponse(output=[message] if output is None else output, usage=usage, response_id="resp_1")
