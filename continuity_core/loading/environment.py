"""The variables ``CONTINUITY_*`` as a layer of configuration."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from continuity_core.engine.settings import Settings
from continuity_core.loading.errors import Problem
from continuity_core.loading.selection import Selection
from continuity_core.loading.sources import KeyPath, Layer, Source
from continuity_core.loading.suggesting import closest

PREFIX = "CONTINUITY_"
CONFIG_VARIABLE = "CONTINUITY_CONFIG"
"""Names a configuration file; empty counts as unset."""


def _core_variables() -> dict[str, str]:
    keys = [field.name for owner in (Settings, Selection) for field in attrs.fields(owner)]
    variables = {PREFIX + key.upper(): key for key in ("enabled", *keys) if key != "only"}
    return {**variables, "CONTINUITY_PLUGINS": "only"}


CORE_VARIABLES: Mapping[str, str] = _core_variables()
"""Variable → key. Every other one is ``CONTINUITY_<PLUGIN>__<OPTION>``."""


def read_environment(environment: Mapping[str, str]) -> tuple[Layer, tuple[Problem, ...]]:
    """The layer of the environment; an unknown variable is a problem."""
    table: dict[str, object] = {}
    plugins: dict[str, dict[str, object]] = {}
    variables: dict[KeyPath, str] = {}
    problems: list[Problem] = []
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable == CONFIG_VARIABLE:
            continue
        plugin, separator, option = variable.removeprefix(PREFIX).lower().partition("__")
        if variable in CORE_VARIABLES:
            key = CORE_VARIABLES[variable]
            table[key] = text
            variables[(key,)] = variable
        elif separator and plugin and option:
            name = plugin.replace("_", "-")
            plugins.setdefault(name, {})[option] = text
            variables[("plugins", name)] = variable
            variables[("plugins", name, option)] = variable
        else:
            problems.append(
                Problem(
                    where=variable,
                    what="unknown variable",
                    mend=_suggestion(variable),
                )
            )
    if plugins:
        table["plugins"] = plugins
    return Layer(source=Source.ENVIRONMENT, table=table, variables=variables), tuple(problems)


def _suggestion(variable: str) -> str:
    ends = [known.removeprefix(PREFIX) for known in (*CORE_VARIABLES, CONFIG_VARIABLE)]
    near = closest(variable.removeprefix(PREFIX), ends)
    rule = "A plugin's option is CONTINUITY_<PLUGIN>__<OPTION>."
    return f"Did you mean {PREFIX}{near}? {rule}" if near else rule
