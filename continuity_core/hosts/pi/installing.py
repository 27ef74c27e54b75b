"""Installing the extension where Pi looks by itself, and removing it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from continuity_core.hosts.pi.entry import is_entry, write_entry

NAME = "continuity"
AGENT_VARIABLE = "PI_CODING_AGENT_DIR"
"""Pi's own variable for its agent directory."""


class ForeignFolderError(RuntimeError):
    """A folder is in the way that this project did not write."""


def agent_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Pi's agent directory."""
    named = environment.get(AGENT_VARIABLE)
    return Path(named).expanduser() if named else Path.home() / ".pi" / "agent"


def place_of(project: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that is written: in the agent directory, or in the ``.pi`` folder of a project."""
    base = agent_folder(environment) if project is None else project / ".pi"
    return base / "extensions" / NAME


def install(place: Path) -> Path:
    """Write the extension's folder. Raises :class:`ForeignFolderError`."""
    _check_ours(place)
    return write_entry(place)


def uninstall(place: Path) -> bool:
    """Remove the folder; false where there is none. Raises :class:`ForeignFolderError`."""
    if not place.exists():
        return False
    _check_ours(place)
    shutil.rmtree(place)
    return True


def _check_ours(place: Path) -> None:
    if place.exists() and any(place.iterdir()) and not is_entry(place):
        raise ForeignFolderError(f"{place} was not written by continuity: move it away first")
