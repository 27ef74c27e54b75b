"""The page and the example say what is there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from host_pages import example_of, page_of, python_of
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.hosts.langchain import LangChainHost, LangChainSyncHost

PAGE = page_of("langchain")


@pytest.mark.parametrize("dialect", LangChainHost.dialects)
@pytest.mark.parametrize("stream", [True, False])
def test_the_table_of_the_page_is_what_the_drivers_declare(dialect: str, stream: bool) -> None:
    hosts = (LangChainHost(), LangChainSyncHost())
    mode = Mode(dialect=dialect, stream=stream)
    rows = []
    for feature in Feature:
        said = [host.cannot(feature, mode) for host in hosts]
        cells = ["yes" if reason is None else f"no: {reason}" for reason in said]
        if any(said):
            rows.append(f"| {feature.value} | {cells[0]} | {cells[1]} |")
    assert PAGE.endswith("\n".join(["|---|---|---|", *rows, ""]))


def test_the_python_of_the_page_runs() -> None:
    blocks = python_of(PAGE)
    names = {"model": GenericFakeChatModel(messages=iter([])), "tools": []}
    for block in blocks:
        exec(compile(block, "langchain.md", "exec"), names)
    assert len(blocks) == 2


def test_the_example_is_cut_broken_and_limited_and_finishes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(example_of("langchain"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "the tool runs for day 12" in shown
    assert "day 1\n" not in shown
    assert "High water is at 05:41 on the 12th." in shown
    assert "5 turns, 3 resumes" in shown
