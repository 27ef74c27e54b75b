"""The pages of hosts, for tests that hold them to the code."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def page_of(host: str) -> str:
    """The page of the host whose adapter has this name."""
    return (CHECKOUT / "docs" / "hosts" / f"{host}.md").read_text(encoding="utf-8")


def python_of(page: str) -> list[str]:
    """The Python blocks of a page, in order."""
    return re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def example_of(host: str) -> str:
    """The path of its example."""
    return str(CHECKOUT / "examples" / f"{host}_agent.py")
