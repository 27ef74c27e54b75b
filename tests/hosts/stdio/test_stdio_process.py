"""``continuity serve --stdio`` as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMANDS = (
    ["-m", "continuity_core.cli", "serve", "--stdio"],
    ["-m", "continuity_core.hosts.stdio"],
)

NOISY = """
from continuity_core import hookimpl

class Noisy:
    @hookimpl
    def continuity_observe(self, event, run):
        import os, sys
        print("a plugin prints")
        sys.stdout.write("and writes")
        os.write(1, b"even to the descriptor")
        assert sys.stdin.read() == ""
"""


def talk(command: list[str], folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Send calls, close the pipe, and give everything that came back."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(calls)
    ]
    done = subprocess.run(
        [sys.executable, *command],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.smoke
@pytest.mark.parametrize("command", COMMANDS, ids=["command", "module"])
def test_the_process_serves_and_ends_with_its_client(command: list[str], tmp_path: Path) -> None:
    hello, opened = talk(
        ["-P", *command],
        tmp_path,
        ("initialize", {"protocol": 1}),
        ("session/open", {"session": "s", "events": []}),
    )
    assert hello["result"]["protocol"] == 1
    assert "length-resume" in [plugin["name"] for plugin in opened["result"]["plugins"]]


def test_a_client_that_is_a_plain_file_is_served_too(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 1}}')
    with calls.open() as source:
        done = subprocess.run(
            [sys.executable, "-P", *COMMANDS[1]], stdin=source, capture_output=True, timeout=60, check=True
        )
    assert json.loads(done.stdout)["result"]["protocol"] == 1


def test_what_a_plugin_prints_is_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "mine.toml").write_text('load = ["noisy:Noisy"]\n')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    messages = talk(
        ["-m", "continuity_core.hosts.stdio"],
        tmp_path,
        ("initialize", {"protocol": 1}),
        ("session/open", {"session": "s", "config": str(tmp_path / "mine.toml"), "events": []}),
        ("run/started", {"session": "s"}),
        ("session/status", {"session": "s"}),
    )
    assert [message.get("id") for message in messages] == [0, 1, 2, 3]
    status = messages[-1]["result"]
    assert status["error"] is None
    assert "noisy" in " ".join(plugin["name"] for plugin in status["plugins"]).lower()


def test_an_invalid_configuration_closes_recovery_and_says_so(tmp_path: Path) -> None:
    _, opened, decided = talk(
        ["-P", *COMMANDS[1]],
        tmp_path,
        ("initialize", {"protocol": 1}),
        ("session/open", {"session": "s", "settings": {"max_resumes": "many"}, "events": []}),
        ("session/toggle", {"session": "s", "mode": "on"}),
    )
    assert "max_resumes" in opened["result"]["error"]
    assert "not valid" in decided["error"]["message"]


@pytest.mark.parametrize("source", ["a variable", "the client"])
def test_runs_are_recorded_in_the_journal_that_is_asked_for(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "runs.jsonl"
    settings = {"journal": str(journal)} if source == "the client" else {}
    if source == "a variable":
        monkeypatch.setenv("CONTINUITY_JOURNAL", str(journal))
    talk(
        ["-P", *COMMANDS[1]],
        tmp_path,
        ("initialize", {"protocol": 1}),
        ("session/open", {"session": "s", "settings": settings, "events": []}),
        ("run/started", {"session": "s"}),
        ("run/settled", {"session": "s"}),
    )
    kinds = [json.loads(line)["kind"] for line in journal.read_text().splitlines()]
    assert kinds == ["run_started", "run_settled"]


def test_serve_without_a_transport_says_which_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "continuity_core.cli", "serve"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "continuity serve --stdio" in done.stderr
