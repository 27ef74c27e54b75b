"""The page on configuration tells what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from continuity_core import Settings, Tighten
from continuity_core.loading.layers import CORE_KEYS
from continuity_core.loading.options import option_infos
from continuity_core.loading.selection import PROTECTIONS, Selection

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
ROWS = {
    match[1]: [cell.strip() for cell in match[2].split("|")]
    for match in re.finditer(r"^\| `([a-zA-Z_.]+)` \|(.*)\|$", PAGE, re.MULTILINE)
}
WORDS = {
    Tighten.LOWER: "lower it",
    Tighten.MORE: "add to it",
    Tighten.LATER: "choose a later one",
    None: "",
}


def test_every_key_of_the_core_is_told() -> None:
    assert all(key in ROWS or f"`{key} = " in PAGE or f"`{key}." in PAGE for key in CORE_KEYS)


@pytest.mark.parametrize(
    ("key", "tighten"),
    [(key, info.tighten) for owner in (Settings, Selection) for key, info in option_infos(owner).items()],
)
def test_the_page_says_how_a_found_file_may_change_a_key(key: str, tighten: Tighten | None) -> None:
    assert ROWS[key][1] == WORDS[tighten]


@pytest.mark.parametrize("owner", [Settings, Selection])
def test_the_defaults_on_the_page_are_those_in_force(owner: type) -> None:
    for key in option_infos(owner):
        written = ROWS[key][0].strip("`").strip('"')
        if written:
            read = option_infos(owner)[key].read
            assert read([] if written == "[]" else written) == getattr(owner(), key), key


def test_what_a_found_file_cannot_disable_is_named() -> None:
    assert all(f"`{name}`" in PAGE for name in PROTECTIONS)
