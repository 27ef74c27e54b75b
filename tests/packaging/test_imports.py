"""What an import costs and reaches for."""

from __future__ import annotations

import ast
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest

import continuity_core

PLUGINS = Path(str(importlib.resources.files("continuity_plugins")))
DEPENDENCIES = {"anyio", "attr", "attrs", "pluggy", "tenacity"}
THEIR_DEPENDENCIES = {"idna", "sniffio", "typing_extensions"}

LIST_IMPORTED = """
import sys
before = set(sys.modules)
import {module}
print(*{{name.partition(".")[0] for name in set(sys.modules) - before}})
"""


def imported_by(module: str) -> set[str]:
    """The top-level packages outside the standard library that importing ``module`` loads."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIST_IMPORTED.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split()) - sys.stdlib_module_names


@pytest.mark.smoke
def test_importing_the_core_loads_nothing_beyond_its_four_dependencies() -> None:
    loaded = imported_by("continuity_core")
    assert "pluggy" in loaded
    assert loaded - THEIR_DEPENDENCIES <= DEPENDENCIES | {"continuity_core"}


def modules_of_bundled_plugins() -> list[Path]:
    found = sorted(PLUGINS.rglob("*.py"))
    assert found, f"no module under {PLUGINS}"
    return found


def private_names_used(module: ast.Module) -> list[str]:
    """Everything of ``continuity_core`` that a module names without it being public."""
    used: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            used += [name.name for name in node.names if name.name.startswith("continuity_core.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("continuity_core."):
            used.append(f"from {node.module}")
        elif isinstance(node, ast.ImportFrom) and node.module == "continuity_core":
            used += [name.name for name in node.names if name.name not in continuity_core.__all__]
    return used


@pytest.mark.parametrize("path", modules_of_bundled_plugins(), ids=lambda path: path.stem)
def test_a_bundled_plugin_uses_public_names_only(path: Path) -> None:
    assert private_names_used(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "import continuity_core.engine",
        "from continuity_core.engine import chain",
        "from continuity_core import _version",
    ],
)
def test_a_private_name_is_found_however_it_is_imported(text: str) -> None:
    assert private_names_used(ast.parse(text))
