"""What is no Python and has to be in the wheel all the same, and what the pages say of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from continuity_core.hosts.pi.entry import EXTENSION, child_command, is_entry, write_entry
from continuity_core.hosts.stdio import PROTOCOL_VERSION
from continuity_core.hosts.stdio.rpc import Code

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.mark.smoke
def test_the_extension_and_all_that_it_imports_are_shipped() -> None:
    imported = re.findall(r'from "(\./[\w-]+\.mjs)"', EXTENSION.read_text(encoding="utf-8"))
    assert len(imported) > 5
    assert [name for name in imported if not (EXTENSION.parent / name).exists()] == []


def test_the_extension_has_no_dependencies() -> None:
    for module in EXTENSION.parent.glob("*.mjs"):
        names = re.findall(
            r'^(?:import|\}) .*?from "([^"]+)"|^import "([^"]+)"', module.read_text(), re.MULTILINE
        )
        assert all((name or bare).startswith(("./", "node:")) for name, bare in names), module


def test_the_extension_speaks_the_servers_protocol() -> None:
    child = (EXTENSION.parent / "child.mjs").read_text(encoding="utf-8")
    assert f"PROTOCOL_VERSION = {PROTOCOL_VERSION};" in child


def test_the_entry_names_this_interpreter_by_its_absolute_path(tmp_path: Path) -> None:
    folder = write_entry(tmp_path / "entry")
    assert is_entry(folder)
    entry = (folder / "index.js").read_text(encoding="utf-8")
    assert json.dumps(list(child_command())) in entry
    assert Path(child_command()[0]).is_absolute()
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    assert manifest["pi"] == {"extensions": ["./index.js"]}
    assert "type" not in manifest


def test_the_page_on_the_protocol_names_every_method_and_error() -> None:
    page = (CHECKOUT / "docs" / "protocol.md").read_text(encoding="utf-8")
    schemas = Path(EXTENSION).parents[2] / "stdio" / "schemas"
    for file in schemas.glob("*.json"):
        if file.name != "common.json":
            assert f"`{file.stem.replace('notification.', '').replace('.', '/')}`" in page
    for code in Code:
        assert str(int(code)) in page
