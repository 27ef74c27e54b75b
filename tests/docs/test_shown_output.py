"""What pages show of a command's output is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from continuity_core.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "behind-a-gateway.md"


def without_instant(line: str) -> str:
    """The line without the local time that it may end in."""
    return re.sub(r", until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$", "", line)


def test_the_gateway_s_error_is_explained_as_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    [rules] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    [console] = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    command, *shown = console.splitlines()
    _, variable, program, *arguments = shlex.split(command)
    name, _, file = variable.partition("=")
    assert (name, program) == ("CONTINUITY_CONFIG", "continuity")
    (tmp_path / file).write_text(rules)
    monkeypatch.setenv(name, str(tmp_path / file))

    assert main([*arguments, "--now", "2026-03-01T12:00:00Z"]) == 0

    printed = capsys.readouterr().out.splitlines()
    assert [without_instant(line) for line in printed] == [without_instant(line) for line in shown]
