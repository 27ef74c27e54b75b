"""A folder that stands for the installed distributions, and one for a project's files."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

BUNDLED = {
    "projection-redaction": "continuity_plugins.projection_redaction:ProjectionRedaction",
    "stream-recovery": "continuity_plugins.stream_recovery:StreamRecovery",
    "tool-tail": "continuity_plugins.tool_tail:ToolTail",
}


def install_into(
    folder: Path,
    distribution: str,
    plugins: Mapping[str, str],
    modules: Mapping[str, str] | None = None,
    version: str = "1.0",
) -> Path:
    """Leave a distribution as an installer would; gives the folder of its metadata.

    ``plugins`` are its entry points, ``modules`` the source of each of its modules.
    """
    metadata = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    lines = "".join(f"{name} = {target}\n" for name, target in plugins.items())
    (metadata / "entry_points.txt").write_text(f"[continuity]\n{lines}")
    for name, source in (modules or {}).items():
        (folder / f"{name}.py").write_text(dedent(source))
    return metadata


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Installs a distribution; nothing but what it installs is found, and three bundled plugins."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    distributions = importlib.metadata.distributions
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: distributions(path=[str(folder)]))
    install_into(folder, "continuity-core", BUNDLED, version="0.1.0")
    before = set(sys.modules)

    def install_here(
        distribution: str,
        plugins: Mapping[str, str],
        modules: Mapping[str, str] | None = None,
        version: str = "1.0",
    ) -> Path:
        return install_into(folder, distribution, plugins, modules, version)

    yield install_here
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install_elsewhere(tmp_path: Path) -> tuple[Path, Callable[..., Path]]:
    """A folder that another process has on its path, and what installs a distribution there."""
    folder = tmp_path / "site-of-another-process"
    folder.mkdir()

    def install_there(
        distribution: str,
        plugins: Mapping[str, str],
        modules: Mapping[str, str] | None = None,
        version: str = "1.0",
    ) -> Path:
        return install_into(folder, distribution, plugins, modules, version)

    return folder, install_there


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file below the test's folder, and gives its path."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    return write_file


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home" / ".config")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
