"""What the built archives hold.

Not collected with the suite, since it needs archives: ``nox -s wheel`` builds them, names their folder in
``DISTRIBUTIONS`` and runs this file.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def distributions() -> Path:
    return Path(os.environ["DISTRIBUTIONS"])


@pytest.fixture(scope="module")
def in_wheel(distributions: Path) -> set[str]:
    [path] = distributions.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def in_sdist(distributions: Path) -> set[str]:
    [path] = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_the_wheel_has_both_packages_the_fixtures_and_nothing_else(in_wheel: set[str]) -> None:
    tops = {name.partition("/")[0] for name in in_wheel}
    [information] = [top for top in tops if top.endswith(".dist-info")]
    assert tops == {"continuity_core", "continuity_plugins", "continuity_pytest.py", information}


def test_the_wheel_is_typed_and_licensed(in_wheel: set[str]) -> None:
    assert {"continuity_core/py.typed", "continuity_plugins/py.typed"} <= in_wheel
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in in_wheel)


def test_the_wheel_has_no_compiled_or_hidden_file(in_wheel: set[str]) -> None:
    assert [name for name in in_wheel if name.endswith(".pyc") or "/." in name] == []


def test_the_source_archive_can_be_tested(in_sdist: set[str]) -> None:
    assert {"README.md", "LICENSE", "CHANGELOG.md", "noxfile.py", "tests/conftest.py", ".ci/run"} <= in_sdist
