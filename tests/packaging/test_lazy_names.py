"""The public names are imported one by one, when they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import continuity_core

SOURCE = ast.parse(Path(str(continuity_core.__file__)).read_text(encoding="utf-8"))


def modules_named_to_checkers() -> dict[str, str]:
    [block] = [node for node in SOURCE.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{node.module}" for node in imports for alias in node.names}


def test_a_name_comes_from_where_type_checkers_are_told() -> None:
    lazily = {name: f"continuity_core.{module}" for name, module in continuity_core._MODULES.items()}
    assert lazily == modules_named_to_checkers()
    assert {*lazily, "__version__"} == set(continuity_core.__all__)


def test_an_unknown_name_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'continuity_core' has no attribute 'Contiuity'"):
        continuity_core.Contiuity  # type: ignore[attr-defined]  # noqa: B018
    assert {"Continuity", "errors", "__version__"} - set(dir(continuity_core)) <= {"errors"}


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.smoke
def test_the_package_alone_imports_none_of_its_parts() -> None:
    parts = 'print(sorted(name for name in sys.modules if name.startswith("continuity_core.")))'
    assert in_a_fresh_process(f"import sys, continuity_core; {parts}") == "['continuity_core._version']"


@pytest.mark.smoke
def test_a_star_import_brings_every_name() -> None:
    every = 'print(set(continuity_core.__all__) <= set(dir()) | {"__version__"})'
    assert in_a_fresh_process(f"import continuity_core; from continuity_core import *; {every}") == "True"


EACH_FIRST = """
import importlib, sys
import continuity_core
for module in sorted(set(continuity_core._MODULES.values())):
    for name in [name for name in sys.modules if name.startswith("continuity_core.")]:
        del sys.modules[name]
    importlib.import_module(f"continuity_core.{module}")
    print(module)
"""


def test_any_public_name_may_be_the_first_to_be_used() -> None:
    assert in_a_fresh_process(EACH_FIRST).split() == sorted(set(continuity_core._MODULES.values()))
