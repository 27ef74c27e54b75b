"""``continuity new-plugin``: what it writes works, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from continuity_core import __version__
from continuity_core.cli import main
from continuity_core.cli.new_plugin.naming import LONGEST_NAME, names_of
from continuity_core.cli.new_plugin.writing import core_range, rendered
from continuity_core.loading.versions import Requirement

FILES = {
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/continuity_calm_retry/__init__.py",
    "src/continuity_calm_retry/py.typed",
    "tests/test_continuity_calm_retry.py",
}


def test_the_tests_that_it_writes_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-plugin", "calm-retry", "--into", str(tmp_path)]) == 0
    assert "pip install -e '.[test]'" in capsys.readouterr().out
    folder = tmp_path / "continuity-calm-retry"
    path = os.pathsep.join(filter(None, (str(folder / "src"), os.environ.get("PYTHONPATH"))))
    # The check of the contract, which takes seconds, is run on the installed wheel by `nox -s plugin_kit`.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-k", "not contract"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed, 1 deselected" in done.stdout


def test_every_file_is_written_and_no_word_of_the_template_is_left() -> None:
    files = {str(place): text for place, text in rendered(names_of("calm-retry"))}
    assert set(files) == FILES
    assert not [
        place
        for place, text in files.items()
        if "@" in text.replace("@attrs", "").replace("@hook", "").replace("@property", "")
    ]


def test_the_project_declares_its_plugin_by_entry_point() -> None:
    [text] = [text for place, text in rendered(names_of("calm-retry")) if place.name == "pyproject.toml"]
    project = tomllib.loads(text)["project"]
    assert project["name"] == "continuity-calm-retry"
    assert project["entry-points"] == {"continuity": {"calm-retry": "continuity_calm_retry:CalmRetry"}}
    [core] = [Requirement.parse(each) for each in project["dependencies"] if "continuity-core" in each]
    assert core.allows(__version__)


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("0.1.0", ">=0.1,<0.2"), ("0.12.3rc1", ">=0.12.3rc1,<0.13"), ("2.3.1", ">=2.3,<3")],
)
def test_it_asks_for_versions_until_the_next_that_may_break_it(version: str, wanted: str) -> None:
    assert core_range(version) == wanted


def test_the_prefix_may_be_given_or_left_out() -> None:
    assert names_of("continuity-calm-retry") == names_of("calm-retry")
    assert names_of("calm-retry").class_name == "CalmRetry"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Calm", "is no plugin name: small letters, digits and single hyphens"),
        ("../calm", "is no plugin name"),
        ("calm--retry", "is no plugin name"),
        ("calm-", "is no plugin name"),
        ("2nd-try", "is no plugin name"),
        ("a" * (LONGEST_NAME + 1), "is no plugin name"),
        ("tool-tail", "belongs to a plugin of continuity-core's own"),
        ("plugins", "would give a package that continuity-core has itself"),
        ("local", "would give a package that continuity-core has itself"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_written(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-plugin", name, "--into", str(tmp_path / "here")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "here").exists()


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "continuity-calm-retry").mkdir()
    assert main(["new-plugin", "calm-retry", "--into", str(tmp_path)]) == 2
    assert "is there already: take another name, or remove it" in capsys.readouterr().err
    assert list((tmp_path / "continuity-calm-retry").iterdir()) == []
