"""What code hands over stands for the installed plugin of the same name: authors test what they installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from continuity_core import Boundary, ConfigurationError, Continuity, count, hookimpl, option

SOURCE = """
    from continuity_core import hookimpl

    class Mine:
        @hookimpl
        def continuity_before_settle(self, boundary): ...
"""


class Mine:
    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> None: ...


@pytest.mark.parametrize("plugin", [Mine, Mine()])
def test_it_takes_the_place_of_a_third_party_s(plugin: object, install: Callable[..., Path]) -> None:
    install("mine-dist", {"mine": "mine_module:Mine"}, {"mine_module": SOURCE})
    loaded = Continuity.from_settings({}, plugins=[plugin]).plugins
    states = {row.distribution: row.state for row in loaded.table if row.name == "mine"}
    assert states == {None: "on", "mine-dist": "off by code, which hands over a plugin of this name"}


def test_the_installed_one_is_not_even_imported(install: Callable[..., Path]) -> None:
    install("mine-dist", {"mine": "mine_module:Mine"}, {"mine_module": "raise SystemExit('imported')"})
    assert Continuity.from_settings({}, plugins=[Mine]).plugins.warnings == ()


def test_it_never_takes_the_place_of_one_of_our_own(install: Callable[..., Path]) -> None:
    class ToolTail(Mine):
        """Of the same name as a bundled one."""

    with pytest.raises(ConfigurationError, match="its name is already taken"):
        Continuity.from_settings({}, plugins=[ToolTail])


class WithoutPlaceForOptions(Mine):
    @attrs.frozen(kw_only=True)
    class Options:
        retries: int = option(1, read=count, help="How often.")


class WithoutDefault(Mine):
    def __init__(self, limit: int) -> None:
        self.limit = limit


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (
            WithoutPlaceForOptions,
            r"It has Options, so it is called with an instance of them: declare the one",
        ),
        (WithoutDefault, r"It has no Options, so it is called without arguments: give every field a default"),
    ],
)
def test_a_class_that_cannot_be_called_as_it_is_is_told_how(plugin: type, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Continuity.from_settings({}, plugins=[plugin])
