"""Every program in ``examples/`` runs, and shows what it says it shows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SHOWN = {
    "anthropic_sync.py": [
        "attempt 1: Error code: 429",
        "attempt 2: Neap tides follow the quarter moons.",
        "1 resume, 20 s held",
    ],
    "plain_loop.py": [
        "attempt 1 (length): A tide is the rise and\n",
        "attempt 2 (stop): A tide is the rise and fall of the sea.",
        "1 resume",
    ],
    "reference_session.py": [
        "without continuity: I look it up.\nno report",
        "with continuity: High water is at 05:41 on the 12th.",
        "1 resume",
    ],
    "streaming.py": [
        "attempt 1: Spring tides follow the new [broken off]",
        "attempt 2: Spring tides follow the new and the full moon.",
        "1 resume",
    ],
    "tool_loop.py": [
        "turn ended: length\nturn ended: tool_calls\nthe tool runs for day 12\n",
        "High water is at 05:41 on the 12th.",
        "2 resumes",
    ],
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_an_example_program_shows_what_it_says(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    shown = capsys.readouterr().out
    for text in SHOWN[name]:
        assert text in shown


def test_every_example_program_is_run() -> None:
    # An example of a framework, *_agent.py, is run by the framework's own tests.
    assert {path.name for path in EXAMPLES.glob("*.py") if not path.match("*_agent.py")} == set(SHOWN)
