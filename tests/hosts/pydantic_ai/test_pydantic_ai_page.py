"""The page, the example and the benchmark say what is there."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from host_pages import CHECKOUT, example_of, page_of, python_of
from pydantic_ai.models.test import TestModel

from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.hosts.pydantic_ai_driver import PydanticAIHost

PAGE = page_of("pydantic_ai")


@pytest.fixture
def loop() -> Iterator[None]:
    """``run_sync`` makes an event loop where there is none, and does not close it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def told(host: PydanticAIHost, feature: Feature, dialect: str) -> str:
    """What the driver declares for both ways of asking, which never differ."""
    streamed, whole = (host.cannot(feature, Mode(dialect=dialect, stream=stream)) for stream in (True, False))
    assert streamed == whole
    return "yes" if streamed is None else f"no: {streamed}"


def test_the_table_of_the_page_is_what_the_driver_declares() -> None:
    host = PydanticAIHost()
    rows = [
        f"| {feature.value} | {' | '.join(told(host, feature, dialect) for dialect in host.dialects)} |"
        for feature in Feature
    ]
    head = f"| feature | {' | '.join(host.dialects)} |"
    assert PAGE.endswith("\n".join([head, "|---|---|---|---|", *rows, ""]))


@pytest.mark.usefixtures("loop")
def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"model": TestModel()}
    blocks = python_of(PAGE)
    for block in blocks:
        exec(compile(block, "pydantic_ai.md", "exec"), names)
    assert len(blocks) == 2
    assert "completed" in capsys.readouterr().out


def test_the_example_is_cut_broken_and_limited_and_finishes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(example_of("pydantic_ai"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "the tool runs for day 12" in shown
    assert "day 1\n" not in shown
    assert "High water is [taken back: the provider or the connection failed]" in shown
    assert "\nHigh water is at 05:41 on the 12th.\n" in shown
    assert "5 turns, 3 resumes, 25 s held" in shown


def test_the_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CHECKOUT / "benchmarks"))
    measure = runpy.run_path(str(CHECKOUT / "benchmarks" / "host_pydantic_ai.py"))["measure"]
    times = asyncio.run(measure(2))
    assert set(times) == {"without", "empty hooks", "continuity"}
    assert all(len(taken) == 2 and min(taken) > 0 for taken in times.values())
