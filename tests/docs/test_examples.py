"""Every example that the README and ``docs/`` show is run, top to bottom, a page at a time.

A page's Python blocks share one namespace and may await. A block inside an HTML comment is run but not
shown: pages prepare there what a reader has, such as a provider that answers. TOML and JSON are parsed.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Coroutine
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import anyio
import attrs
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```([a-z]+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Block:
    """One fenced block."""

    page: str
    """The page's path."""
    line: int
    """The fence's line, from 1."""
    language: str
    text: str

    def compiled(self) -> CodeType:
        """The block's code; lines in tracebacks are the page's."""
        code: CodeType = compile(
            "\n" * self.line + self.text,
            self.page,
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
        return code


def blocks_in(text: str, page: str) -> list[Block]:
    """The fenced blocks of a page that name a language."""
    return [
        Block(
            page=page,
            line=text.count("\n", 0, match.start()) + 1,
            language=match[2],
            text=re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE),
        )
        for match in FENCE.finditer(text)
    ]


def blocks_of(page: Path) -> list[Block]:
    return blocks_in(page.read_text(encoding="utf-8"), str(page))


async def finished(pending: Coroutine[object, object, object]) -> None:
    await pending


def run(blocks: list[Block], module: ModuleType) -> None:
    """Run the Python blocks in the namespace of ``module``, each that awaits on an event loop of its own."""
    for block in blocks:
        result = FunctionType(block.compiled(), module.__dict__)()
        if inspect.iscoroutine(result):
            anyio.run(finished, result)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module to run examples in; classes look their annotations up in it."""
    module = ModuleType("documentation_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def pages_with(*languages: str) -> list[object]:
    return [
        pytest.param(found, id=page.relative_to(CHECKOUT).as_posix())
        for page in PAGES
        if (found := [block for block in blocks_of(page) if block.language in languages])
    ]


@pytest.mark.parametrize("blocks", pages_with("python"))
def test_the_python_of_a_page_runs(
    blocks: list[Block], module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(blocks, module)


@pytest.mark.parametrize("blocks", pages_with("toml", "json"))
def test_the_data_of_a_page_is_well_formed(blocks: list[Block]) -> None:
    for block in blocks:
        parse = tomllib.loads if block.language == "toml" else json.loads
        assert parse(block.text), f"{block.page}:{block.line}"


def test_a_failing_example_fails_at_its_line_of_the_page(module: ModuleType) -> None:
    page = "words\n\n```python\nvalue = 1\n```\n\n- a list\n\n  ```python\n  assert value == 2\n  ```\n"
    with pytest.raises(AssertionError) as caught:
        run(blocks_in(page, "page.md"), module)
    assert caught.traceback[-1].frame.code.raw.co_filename == "page.md"
    assert caught.traceback[-1].lineno == 9


def test_an_example_may_await(module: ModuleType) -> None:
    page = "```python\nimport anyio\n\nawait anyio.lowlevel.checkpoint()\ndone = True\n```\n"
    run(blocks_in(page, "page.md"), module)
    assert module.done is True
