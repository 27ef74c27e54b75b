"""Plugins to load, and what of a loaded set a test looks at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from continuity_core import ConfigurationError, Order, Stage, Tighten, count, hookimpl, option
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.load import load_plugins
from continuity_core.loading.plugin_set import PluginSet

Install = Callable[..., Path]
Write = Callable[[str, str], Path]

OBSERVER = """
    from continuity_core import hookimpl

    class Observer:
        @hookimpl
        def continuity_observe(self, event): ...
"""


READER = """
    from continuity_core import hookimpl

    class Reader:
        @hookimpl
        def continuity_classify(self, turn): ...
"""


RAISES = "raise RuntimeError('imported after all')"


@attrs.frozen(kw_only=True)
class TunableOptions:
    strength: int = option(3, read=count, tighten=Tighten.LOWER, help="How hard.")
    label: str = option("plain", read=str, help="What it is called.")


@attrs.frozen(eq=False)
class Tunable:
    Options = TunableOptions
    order = Order(stage=Stage.GUARD)
    options: TunableOptions

    @hookimpl
    def continuity_turn_ended(self, boundary: object) -> None: ...


class Observer:
    @hookimpl
    def continuity_observe(self, event: object) -> None: ...


def configured(**keys: Any) -> PluginSet:
    return load_plugins(Configuration.from_mapping(keys))


def names(plugins: PluginSet) -> list[str]:
    return [plugin.name for plugin in plugins.plugins]


def states(plugins: PluginSet) -> dict[str, str]:
    return {row.name: row.state for row in plugins.table}


def problems(*extra: object, **keys: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_plugins(Configuration.from_mapping(keys), extra)
    return [str(problem) for problem in caught.value.problems]
