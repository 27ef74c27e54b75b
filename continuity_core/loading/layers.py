"""What the sources say of the core, made ready to be resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from continuity_core.engine.settings import Settings
from continuity_core.loading.declaration_checks import PLUGIN_NAME
from continuity_core.loading.errors import Problem
from continuity_core.loading.options import option_infos, resolve
from continuity_core.loading.printable import printable
from continuity_core.loading.selection import PROTECTIONS, Selection, normal_name
from continuity_core.loading.sources import Given, Layer, NotAccepted
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.model.boundary import Mode
from continuity_core.model.options import flag, names

SETTINGS_KEYS = frozenset(option_infos(Settings))
SELECTION_KEYS = frozenset(option_infos(Selection))
CORE_KEYS = frozenset(("enabled", "plugins", *SETTINGS_KEYS, *SELECTION_KEYS))
"""The keys that a file may have at its top level."""


def shape_problems(layer: Layer) -> Iterable[Problem]:
    """What is wrong with the names and tables of a layer, whatever the values are."""
    tables = {} if layer.names_code else layer.table.get("plugins", {})
    if not isinstance(tables, Mapping):
        yield Problem(
            where=layer.where("plugins"),
            what=f"takes a table for each plugin, not {printable(repr(tables), 100)}",
            mend="Options go to [tool.continuity.plugins.NAME]. Classes to load besides those installed: "
            'load = ["package.module:Class"]. The only plugins to load: only = ["name"].',
        )
        tables = {}
    for name, table in tables.items():
        where = layer.where("plugins", str(name))
        if not isinstance(name, str) or not PLUGIN_NAME.fullmatch(name):
            yield Problem(where=where, what=f"{printable(repr(name), 100)} is no plugin name")
        if not isinstance(table, Mapping):
            mend = f'To switch it off: disable = ["{name}"].' if table is False else ""
            yield Problem(
                where=where, what=f"takes a table of options, not {printable(repr(table), 100)}", mend=mend
            )
    for key, value in layer.table.items():
        if key in CORE_KEYS:
            continue
        if isinstance(value, Mapping):
            mend = f"Options of a plugin belong in plugins.{key}."
        else:
            mend = did_you_mean(str(key), CORE_KEYS)
        yield Problem(
            where=layer.where(str(key)), what=f'unknown key "{printable(key, 100)}"', mend=printable(mend)
        )


def core_given(layers: Sequence[Layer], problems: list[Problem]) -> dict[str, list[Given]]:
    """The core's values by key; ``enabled`` is told as ``mode``."""
    given: dict[str, list[Given]] = {}
    for layer in layers:
        for key in layer.table:
            if key in SETTINGS_KEYS or key in SELECTION_KEYS:
                given.setdefault(key, []).append(layer.given(key))
        if layer.names_code:
            _tell_as_load(layer, given.setdefault("load", []), problems)
        if "enabled" in layer.table:
            _tell_as_mode(layer, given.setdefault("mode", []), problems)
    return given


def _tell_as_load(layer: Layer, loads: list[Given], problems: list[Problem]) -> None:
    """Append the classes that stand in the place of the tables of options."""
    if "load" in layer.table:
        what = f"names classes, and so does {layer.where('load')}"
        problems.append(Problem(where=layer.where("plugins"), what=what, mend="Keep one of the two."))
    loads.append(layer.given("plugins"))


def _tell_as_mode(layer: Layer, modes: list[Given], problems: list[Problem]) -> None:
    """Append what ``enabled`` means: false is ``off``, true only ends an ``off`` of a lower source."""
    given = layer.given("enabled")
    try:
        enabled = flag(given.value)
    except ValueError as error:
        problems.append(Problem(where=given.where, what=printable(error)))
        return
    if "mode" in layer.table:
        mode, place = str(layer.table["mode"]), layer.where("mode")
        if (mode == Mode.OFF) == enabled:
            problems.append(
                Problem(
                    where=given.where,
                    what=f"enabled = {str(enabled).lower()} contradicts {place} = {printable(mode, 50)}",
                    mend="Keep one of the two.",
                )
            )
    elif not enabled:
        modes.append(attrs.evolve(given, value=Mode.OFF))
    elif modes and modes[-1].value == Mode.OFF:
        modes.append(attrs.evolve(given, value=Mode.ON))


def spare_protections(
    given: Mapping[str, list[Given]],
) -> tuple[Mapping[str, list[Given]], list[NotAccepted]]:
    """Take out of a found file's ``disable`` what protects, or what a trusted source requires."""
    trusted = {"require": [told for told in given.get("require", ()) if told.source.trusted]}
    required = resolve(Selection, trusted).options.require
    protected = PROTECTIONS | {normal_name(requirement.name) for requirement in required}
    spared: list[Given] = []
    withheld: list[NotAccepted] = []
    for told in given.get("disable", ()):
        if not told.source.trusted:
            try:
                disabled = names(told.value)
            except ValueError:
                disabled = ()  # What is no list of names is reported where it is resolved.
            refused = tuple(name for name in disabled if normal_name(name) in protected)
            if refused:
                why = "a file found by searching may not disable what protects, or what is required"
                withheld.append(NotAccepted(key="disable", value=refused, where=told.where, why=why))
                told = attrs.evolve(told, value=[name for name in disabled if name not in refused])
        spared.append(told)
    return ({**given, "disable": spared} if spared else given), withheld
