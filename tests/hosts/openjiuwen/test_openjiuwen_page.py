"""The page and the example say what is there."""

from __future__ import annotations

import ast
import logging
import runpy
from pathlib import Path

import pytest
from host_pages import CHECKOUT, example_of, page_of, python_of

from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.conformance import Status, read_scenarios, run_scenarios
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.hosts.openjiuwen import (
    CANNOT,
    CANNOT_STREAMED_ANTHROPIC,
    OpenJiuwenHost,
)

pytestmark = pytest.mark.anyio
PAGE = page_of("openjiuwen")


def test_the_table_of_the_page_is_what_the_driver_declares() -> None:
    rows = ["| | `openjiuwen` |", "|---|---|"]
    for feature in Feature:
        if feature in CANNOT:
            rows.append(f"| {feature.value} | no: {CANNOT[feature]} |")
        elif feature in CANNOT_STREAMED_ANTHROPIC:
            reason = CANNOT_STREAMED_ANTHROPIC[feature]
            rows.append(f"| {feature.value} | yes, but in a stream of Anthropic Messages: {reason} |")
    assert PAGE.endswith("\n".join([*rows, ""]))


async def test_the_project_s_own_further_scenarios_pass(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="continuity")
    scenarios = read_scenarios(CHECKOUT / "tests" / "data" / "more_scenarios.json")
    results = await run_scenarios(OpenJiuwenHost(), scenarios, dialects=("chat",))
    failed = {r.scenario.name: r.reasons for r in results if r.status is Status.FAIL}
    assert failed == {}


async def test_the_python_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    registered = []

    class Agent:
        async def register_rail(self, rail: ContinuityRail) -> None:
            registered.append(rail)

    blocks = python_of(PAGE)
    names = {"agent": Agent()}
    for block in blocks:
        code = compile(block, "openjiuwen.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, names)  # noqa: S307
        if running is not None:
            await running
    assert len(blocks) == 2
    assert [rail.continuity.mode for rail in registered] == ["on"]


def test_the_example_is_cut_broken_and_limited_and_finishes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(example_of("openjiuwen"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "the tool runs for day 12" in shown
    assert "day 1\n" not in shown
    assert "High water is at 05:41 on the 12th." in shown
    assert "5 turns, 3 resumes" in shown
