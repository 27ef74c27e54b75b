"""The page and the example say what is there."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner
from host_pages import example_of, page_of, python_of
from openai import AsyncOpenAI
from openai_agents_runs import SaidModel, agent, response

from continuity_core.hosts.openai_agents import ContinuityModel
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.hosts.openai_agents import (
    OpenAIAgentsHost,
    OpenAIAgentsProviderHost,
)

PAGE = page_of("openai_agents")


class Streaming(SaidModel):
    """Streams its responses as one event each."""

    async def stream_response(self, *given: Any, **named: Any) -> Any:
        from openai.types.responses import Response, ResponseCompletedEvent

        whole: ModelResponse = await self.get_response(*given, **named)
        said = Response(
            id="resp",
            created_at=0,
            model="scripted",
            object="response",
            output=whole.output,
            parallel_tool_calls=False,
            status="completed",
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=said, sequence_number=0, type="response.completed")


def rows_of(dialect: str, stream: bool) -> list[tuple[Feature, list[str | None]]]:
    hosts = (OpenAIAgentsHost(), OpenAIAgentsProviderHost())
    mode = Mode(dialect=dialect, stream=stream)
    return [(feature, [host.cannot(feature, mode) for host in hosts]) for feature in Feature]


def test_the_table_of_the_page_is_what_the_drivers_declare() -> None:
    rows = []
    by_dialect = {dialect: rows_of(dialect, stream=True) for dialect in OpenAIAgentsHost.dialects}
    for dialect, declared in by_dialect.items():
        for feature, said in declared:
            in_all = all((feature, said) in other for other in by_dialect.values())
            cells = ["yes" if reason is None else f"no: {reason}" for reason in said]
            name = feature.value if in_all else f"{feature.value}, in the dialect `{dialect}`"
            row = f"| {name} | {cells[0]} | {cells[1]} |"
            if any(said) and row not in rows:
                rows.append(row)
    assert PAGE.endswith("\n".join(["|---|---|---|", *rows, ""]))


@pytest.mark.parametrize("dialect", OpenAIAgentsHost.dialects)
def test_streaming_makes_no_difference_to_what_is_declared(dialect: str) -> None:
    assert rows_of(dialect, stream=True) == rows_of(dialect, stream=False)


@pytest.mark.anyio
async def test_the_python_of_the_page_runs() -> None:
    blocks = python_of(PAGE)
    model = ContinuityModel(Streaming(*[response("05:41")] * 2), settings={})
    names: dict[str, Any] = {
        "client": AsyncOpenAI(api_key="any"),
        "asked": agent(model=model, name="Tides"),
    }
    for block in blocks:
        code = compile(block, "openai_agents.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        pending = FunctionType(code, names)()
        if inspect.isawaitable(pending):
            await pending
    assert isinstance(names["config"], RunConfig)
    assert isinstance(names["agent"], Agent)
    assert names["result"].final_output == "05:41"
    assert names["stream"].final_output == "05:41"
    assert await names["shown"](Runner.run_streamed(agent(model=Streaming(response("x"))), "Go")) == ""
    assert len(blocks) == 5


def test_the_example_is_cut_broken_and_limited_and_finishes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(example_of("openai_agents"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "the tool runs for day 12" in shown
    assert "day 1\n" not in shown
    assert "High water is at 05:41 on the 12th." in shown
    assert re.search(r"5 turns, 3 resumes, \d+ s held", shown)
    assert "5 requests" in shown
