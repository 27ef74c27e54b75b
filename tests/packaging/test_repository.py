"""Things that are written down twice say the same."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

import continuity_core

CHECKOUT = Path(__file__).resolve().parents[2]


def text_of(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def commands() -> list[str]:
    """The lines of the README's shell blocks under "Start"."""
    [section] = re.findall(r"^## Start$(.*?)^## ", text_of("README.md"), re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```bash\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads(text_of("pyproject.toml"))["project"]
    return table


def test_the_readme_starts_with_exactly_two_commands(commands: list[str]) -> None:
    assert len(commands) == 2
    assert "continuity demo" in commands[0]
    assert "nox" in commands[1]


def test_continuous_integration_runs_the_second_command_word_for_word(commands: list[str]) -> None:
    assert text_of(".ci/run").splitlines()[-1] == commands[1]


def test_the_hosted_workflow_runs_the_same_script() -> None:
    steps = re.findall(r"run: (.*)", text_of(".github/workflows/ci.yml"))
    assert steps[-1] == "bash .ci/run"


def test_the_weekly_workflow_plays_on_every_host() -> None:
    [hosts] = re.findall(r"^ +host: \[(.*)\]$", text_of(".github/workflows/hosts.yml"), re.MULTILINE)
    extras = re.findall(r'^    Host\(\s*"([a-z-]+)"', text_of("noxfile.py"), re.MULTILINE)
    assert hosts.split(", ") == extras


def test_the_supported_pythons_are_the_same_everywhere(project: dict[str, object]) -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", str(project["classifiers"]))
    [sessions] = re.findall(r"^PYTHONS = \[(.*)\]$", text_of("noxfile.py"), re.MULTILINE)
    workflow = text_of(".github/workflows/ci.yml")
    [checked] = re.findall(r"for version in ([\d. ]+);", workflow)
    assert re.findall(r"[\d.]+", sessions) == classifiers
    assert checked.split() == classifiers
    assert set(re.findall(r"^ +(3\.\d+)$", workflow, re.MULTILINE)) == set(classifiers)
    assert project["requires-python"] == f">={classifiers[0]}"


def test_the_version_is_written_in_one_place() -> None:
    written = [
        path.relative_to(CHECKOUT).as_posix()
        for folder in ("continuity_core", "plugins")
        for path in (CHECKOUT / folder).rglob("*.py")
        if re.search(r"^__version__\s*=", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert written == ["continuity_core/_version.py"]
    assert importlib.metadata.version("continuity-core") == continuity_core.__version__


def test_every_folder_with_code_is_a_package() -> None:
    """Coverage, import-linter and type checkers pass over a folder without ``__init__.py`` in silence."""
    folders = {
        path.parent
        for root in ("continuity_core", "plugins/continuity_plugins")
        for path in (CHECKOUT / root).rglob("*.py")
    }
    assert folders
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_the_changelog_has_a_place_for_the_next_release() -> None:
    headings = re.findall(r"^## \[?([^\]\n]+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
