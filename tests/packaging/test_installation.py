"""What ``pip install`` brought: run against the checkout and, away from it, against the built wheel."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

pytestmark = pytest.mark.smoke

BUNDLED = {
    "length-resume",
    "partial-checkpoint",
    "projection-redaction",
    "provider-errors",
    "run-limits",
    "stream-recovery",
    "tool-tail",
    "usage-limit-wait",
}


@pytest.mark.parametrize("package", ["continuity_core", "continuity_plugins"])
def test_type_checkers_find_the_marker_of_a_typed_package(package: str) -> None:
    assert (importlib.resources.files(package) / "py.typed").is_file()


def test_every_bundled_plugin_is_found_and_loads() -> None:
    distribution = importlib.metadata.distribution("continuity-core")
    points = [point for point in distribution.entry_points if point.group == "continuity"]
    assert {point.name for point in points} == BUNDLED
    for point in points:
        assert isinstance(point.load(), type), point.name


def test_the_licence_comes_along() -> None:
    distribution = importlib.metadata.distribution("continuity-core")
    [licence] = [path for path in distribution.files or () if path.name == "LICENSE"]
    assert licence.read_text().startswith("MIT License")


def test_the_command_starts() -> None:
    [point] = importlib.metadata.entry_points(group="console_scripts", name="continuity")
    program = f"import sys; from {point.module} import {point.attr}; sys.exit({point.attr}(['--help']))"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout
