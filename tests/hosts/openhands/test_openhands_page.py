"""The page and the example say what is there, and the scenarios are played as the page has it."""

from __future__ import annotations

import logging
import runpy
from pathlib import Path
from typing import Any

import pytest
from host_pages import CHECKOUT, example_of, page_of, python_of

from continuity_core.testing.conformance import Status, read_scenarios, run_scenarios
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.hosts.openhands import OpenHandsHost

DATA = CHECKOUT / "tests" / "data"
PAGE = page_of("openhands")


def test_the_table_of_the_page_is_what_the_driver_declares() -> None:
    host = OpenHandsHost()
    rows = []
    for feature in Feature:
        why = {d: host.cannot(feature, Mode(dialect=d, stream=True)) for d in host.dialects}
        lacking = [dialect for dialect, reason in why.items() if reason]
        if lacking:
            where = "everywhere" if len(lacking) == len(why) else ", ".join(lacking)
            rows.append(f"| {feature.value} | {where} | {why[lacking[0]]} |")
    assert PAGE.endswith("\n".join(["|---|---|---|", *rows, ""]))


def test_the_comparison_on_the_page_is_what_the_script_prints() -> None:
    script = runpy.run_path(str(CHECKOUT / "benchmarks" / "side_by_side.py"))
    logging.getLogger("continuity").setLevel(logging.CRITICAL)
    try:
        assert script["table"]("openhands", DATA / "scenarios.json") in PAGE
    finally:
        logging.getLogger("continuity").setLevel(logging.NOTSET)


@pytest.mark.anyio
async def test_the_project_s_own_further_scenarios_pass(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="continuity")
    results = await run_scenarios(
        OpenHandsHost(), read_scenarios(DATA / "more_scenarios.json"), dialects=("chat",)
    )
    failed = {r.scenario.name: r.reasons for r in results if r.status is Status.FAIL}
    assert failed == {}


def test_the_python_of_the_page_runs(world: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_of(PAGE)
    assert len(blocks) == 2
    world.play({"text": "done"})
    names: dict[str, Any] = {"llm": world.llm()}
    for block in blocks:
        exec(compile(block, "openhands.md", "exec"), names)
    names["conversation"].close()
    assert len(world.requests) == 1


def test_the_example_is_cut_broken_and_limited_and_finishes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(example_of("openhands"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "the tool runs for day 12" in shown
    assert "day 1\n" not in shown
    assert "High water is at 05:41 on the 12th." in shown
    assert "5 turns, 3 resumes" in shown
