from __future__ import annotations

from pathlib import Path

import pytest

from continuity_core.errors.rules import RULE_KINDS
from continuity_core.errors.tables.wait_fields import SENTINELS

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(("value", "what_is_done"), SENTINELS)
def test_every_sentinel_is_documented(value: str, what_is_done: str) -> None:
    assert f"| {value} | {what_is_done} |" in PAGE


@pytest.mark.parametrize("kind", sorted(RULE_KINDS))
def test_every_kind_of_failure_is_documented(kind: str) -> None:
    assert f"| `{kind}` |" in PAGE


@pytest.mark.parametrize("name", ["errors.jsonl", "errors_more.jsonl"])
def test_the_number_of_cases_is_documented(name: str) -> None:
    with (DATA / name).open(encoding="utf-8") as lines:
        assert f"| `{name}` | {sum(1 for _ in lines)} of " in PAGE
