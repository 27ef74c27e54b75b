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
{code}
print()
print(*{{name.partition(".")[0] for name in set(sys.modules) - before}})
"""

WHOLE_RUN = """
import asyncio
from continuity_core import *

SETTINGS = {"stream-recovery": {"wait": "fixed(0)"}}

async def play():
    continuity = Continuity.from_settings({"plugins": SETTINGS}, installed=False)
    with continuity.start_run() as run:
        await run.turn_ended(Turn.from_exception(ConnectionResetError()))
        assert (await run.before_settle()).resume
        run.project([])
        await run.turn_ended(Turn(stop_reason=StopReason.STOP, blocks=(Text("whole"),)))

asyncio.run(play())
"""


def imported_by(code: str) -> set[str]:
    """The top-level packages outside the standard library that running ``code`` loads."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIST_IMPORTED.format(code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()) - sys.stdlib_module_names


@pytest.mark.smoke
def test_importing_the_core_loads_nothing_beyond_its_four_dependencies() -> None:
    loaded = imported_by("from continuity_core import *")
    assert "pluggy" in loaded
    assert loaded - THEIR_DEPENDENCIES <= DEPENDENCIES | {"continuity_core"}


@pytest.mark.smoke
def test_a_whole_run_with_a_failure_loads_no_framework_and_no_client() -> None:
    loaded = imported_by(WHOLE_RUN)
    assert "continuity_plugins" in loaded
    assert loaded - THEIR_DEPENDENCIES <= DEPENDENCIES | {"continuity_core", "continuity_plugins"}


@pytest.mark.smoke
def test_asking_for_the_version_loads_no_engine_and_no_plugin() -> None:
    loaded = imported_by("from continuity_core.cli import main; main(['--version'])")
    assert {"continuity_core", "click"} <= loaded <= {"continuity_core", "click", "attr", "attrs"}


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
