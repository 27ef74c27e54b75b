"""The page and the example say what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pi_runs import PiHome

from continuity_core.hosts.pi.entry import EXTENSION
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.hosts.pi.driver import PiHost

CHECKOUT = Path(__file__).resolve().parents[3]
PAGE = (CHECKOUT / "docs" / "hosts" / "pi.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", PiHost.dialects)
@pytest.mark.parametrize("stream", [True, False])
def test_the_table_of_the_page_is_what_the_driver_declares(dialect: str, stream: bool) -> None:
    said = {feature: PiHost().cannot(feature, Mode(dialect=dialect, stream=stream)) for feature in Feature}
    rows = [f"| {feature.value} | no: {reason} |" for feature, reason in said.items() if reason]
    assert PAGE.endswith("\n".join(["|---|---|", *rows, ""]))


def test_every_flag_and_word_of_the_command_is_on_the_page() -> None:
    flags = re.findall(
        r'^  "?(continuity[a-z-]*)"?:', (EXTENSION.parent / "flags.mjs").read_text(), re.MULTILINE
    )
    assert re.findall(r"^\| `--(continuity[a-z-]*)`", PAGE, re.MULTILINE) == flags
    [words] = re.findall(
        r"^const WORDS = \[(.*)\]", (EXTENSION.parent / "commands.mjs").read_text(), re.MULTILINE
    )
    for word in re.findall(r'"(\w+)"', words):
        assert f"`{word}`" in PAGE


def test_the_example_is_cut_broken_and_limited_and_finishes(home: PiHome) -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "examples" / "pi_agent.py")],
        cwd=home.work,
        env={**home.variables(), "XDG_CACHE_HOME": str(home.folder / "cache")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "High water is at 05:41 on the 12th.",
        "the tool wrote 05:41; 5 requests",
    ]
