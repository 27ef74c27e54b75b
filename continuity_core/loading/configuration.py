"""The configuration in force: every value with its source, and what was not accepted from where."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from continuity_core.engine.settings import Settings
from continuity_core.loading.declaration_checks import PLUGIN_NAME
from continuity_core.loading.environment import CONFIG_VARIABLE, read_environment
from continuity_core.loading.errors import ConfigurationError, Problem
from continuity_core.loading.files import (
    FoundFiles,
    find_project_file,
    home_folder,
    read_known_file,
    user_file,
)
from continuity_core.loading.options import Resolved, no_options, option_infos, resolve
from continuity_core.loading.printable import printable
from continuity_core.loading.selection import PROTECTIONS, NamedCode, Selection, normal_name
from continuity_core.loading.sources import Given, Layer, NotAccepted, Provenance, Source
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.loading.versions import Requirement
from continuity_core.model.boundary import Mode
from continuity_core.model.options import flag

_SETTINGS = frozenset(option_infos(Settings))
_SELECTION = frozenset(option_infos(Selection))
CORE_KEYS = frozenset(("enabled", "plugins", *_SETTINGS, *_SELECTION))
"""The keys that a file may have at its top level."""


@attrs.frozen(kw_only=True, eq=False)
class Configuration:
    """What every source said, joined: the core's settings, the choice of plugins, and their options unread.

    Plugins' options are read when their classes are known, by ``load_plugins``.
    """

    settings: Settings
    selection: Selection
    layers: tuple[Layer, ...] = attrs.field(repr=False)
    """What the sources say, lowest precedence first."""
    provenance: Mapping[str, Provenance]
    """The core's values by key."""
    not_accepted: tuple[NotAccepted, ...] = ()
    """What the project's file says of the core and may not say."""
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Empty unless it was gathered without raising."""
    selection_known: bool = True
    """Whether it can be told what must not be imported: every key is known, the selection read."""

    @property
    def disable(self) -> tuple[str, ...]:
        """Plugins and distributions that are not imported."""
        return self.selection.disable

    @property
    def only(self) -> tuple[str, ...] | None:
        """The only plugins and distributions that are loaded; ``None``: all."""
        return self.selection.only

    @property
    def require(self) -> tuple[Requirement, ...]:
        """What must be there."""
        return self.selection.require

    @property
    def load(self) -> tuple[NamedCode, ...]:
        """Plugin classes that no distribution declares."""
        return self.selection.load

    @property
    def plugin_tables(self) -> Mapping[str, str]:
        """The plugins that options are given for, each with the last place where that is done."""
        return {
            name: layer.where("plugins", name) for layer in self.layers for name, _ in layer.plugin_tables()
        }

    def options_given(self, plugin: str) -> Mapping[str, tuple[Given, ...]]:
        """What the sources say of a plugin's options, lowest precedence first."""
        given: dict[str, tuple[Given, ...]] = {}
        for layer in self.layers:
            for name, table in layer.plugin_tables():
                if name == plugin:
                    for key in table:
                        given[key] = (*given.get(key, ()), layer.given("plugins", name, key))
        return given

    def options_for(self, plugin: str, options_class: type[Any] | None) -> Resolved[Any]:
        """The options of a plugin; ``None`` as its class where it takes none.

        Raises :class:`OptionsClassError` where the class is at fault.
        """
        given = self.options_given(plugin)
        if options_class is None:
            return Resolved(options=None, provenance={}, problems=no_options(given, plugin))
        return resolve(options_class, given, f"plugins.{plugin}")

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> Configuration:
        """One table of keys as in ``[tool.continuity]``, trusted; no other source counts.

        Raises :class:`ConfigurationError`.
        """
        return _without_problems(join((Layer(source=Source.CODE, table=table),)))

    @classmethod
    def read(
        cls,
        *,
        config: str | Path | None = None,
        command_line: Mapping[str, Any] | None = None,
        code: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Configuration:
        """Read all sources; raises :class:`ConfigurationError` with every problem.

        ``config`` is the file that the command line names. ``environment`` is by default that of the
        process; the search for the project's file starts at ``folder``, by default the working directory.
        """
        return _without_problems(
            gather(
                config=config, command_line=command_line, code=code, environment=environment, folder=folder
            )
        )


def gather(
    *,
    config: str | Path | None = None,
    command_line: Mapping[str, Any] | None = None,
    code: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """As :meth:`Configuration.read`, but keep the problems instead of raising."""
    environment = os.environ if environment is None else environment
    files = _read_files(config, environment, folder)
    variables, problems = read_environment(environment)
    layers = [found.layer for found in files if found.layer is not None]
    layers.append(variables)
    layers.append(Layer(source=Source.COMMAND_LINE, table=command_line or {}))
    layers.append(Layer(source=Source.CODE, table=code or {}))
    return join(
        layers,
        problems=(*(problem for found in files for problem in found.problems), *problems),
        warnings=[warning for found in files for warning in found.warnings],
    )


def join(
    layers: Iterable[Layer], problems: Iterable[Problem] = (), warnings: Iterable[str] = ()
) -> Configuration:
    """Join what the sources say, lowest precedence first; problems are kept, not raised."""
    joined = tuple(layers)
    found = list(problems)
    for layer in joined:
        found.extend(_shape_problems(layer))
    given = _core_given(joined, found)
    spared, withheld = _spare_protections(given)
    settings = resolve(Settings, {key: given[key] for key in given if key in _SETTINGS})
    selection = resolve(Selection, {key: spared.get(key, given[key]) for key in given if key in _SELECTION})
    return Configuration(
        settings=settings.options,
        selection=selection.options,
        layers=joined,
        provenance={**settings.provenance, **selection.provenance},
        not_accepted=(*settings.not_accepted, *selection.not_accepted, *withheld),
        warnings=tuple(warnings),
        problems=(*found, *settings.problems, *selection.problems),
        selection_known=not found and not selection.problems,
    )


def _without_problems(configuration: Configuration) -> Configuration:
    if configuration.problems:
        raise ConfigurationError(configuration.problems)
    return configuration


def _read_files(
    config: str | Path | None, environment: Mapping[str, str], folder: Path | None
) -> list[FoundFiles]:
    """The project's, the user's and the named file, those that there are."""
    own = user_file(environment)
    named = config or environment.get(CONFIG_VARIABLE) or None
    try:
        folder = (folder or Path.cwd()).absolute()
    except OSError:
        folder = None  # The working directory was removed: there is nothing to search.
    named_path = None
    if named is not None:
        named_path = Path(named).expanduser()
        named_path = folder / named_path if folder else named_path
    known = tuple(path for path in (own, named_path) if path is not None)
    files = []
    if folder is not None:
        files.append(find_project_file(folder, home_folder(environment), known))
    if own is not None:
        files.append(read_known_file(own, Source.USER))
    if named_path is not None:
        files.append(read_known_file(named_path, Source.NAMED))
    return files


def _shape_problems(layer: Layer) -> Iterable[Problem]:
    """What is wrong with the names and tables of a layer, whatever the values are."""
    tables = layer.table.get("plugins", {})
    if not isinstance(tables, Mapping):
        yield Problem(
            where=layer.where("plugins"),
            what=f"takes a table for each plugin, not {printable(repr(tables), 100)}",
            mend="Write [tool.continuity.plugins.NAME]; a list of the plugins to load is the key only.",
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


def _core_given(layers: Sequence[Layer], problems: list[Problem]) -> dict[str, list[Given]]:
    """The core's values by key; ``enabled`` is told as ``mode``."""
    given: dict[str, list[Given]] = {}
    for layer in layers:
        for key in layer.table:
            if key in _SETTINGS or key in _SELECTION:
                given.setdefault(key, []).append(layer.given(key))
        if "enabled" in layer.table:
            _tell_as_mode(layer, given.setdefault("mode", []), problems)
    return given


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


def _spare_protections(
    given: Mapping[str, Sequence[Given]],
) -> tuple[dict[str, list[Given]], list[NotAccepted]]:
    """Take out of a found file's ``disable`` what protects, or what a trusted source requires."""
    protected: set[str] = set(PROTECTIONS)
    trusted = {"require": [value for value in given.get("require", ()) if value.source.trusted]}
    protected.update(
        normal_name(requirement.name) for requirement in resolve(Selection, trusted).options.require
    )
    spared: list[Given] = []
    withheld = []
    for value in given.get("disable", ()):
        names = value.value
        if not value.source.trusted and isinstance(names, list):
            refused = tuple(name for name in names if normal_name(str(name)) in protected)
            if refused:
                withheld.append(
                    NotAccepted(
                        key="disable",
                        value=refused,
                        where=value.where,
                        why="a file found by searching may not disable what protects, or what is required",
                    )
                )
                value = attrs.evolve(value, value=[name for name in names if name not in refused])
        spared.append(value)
    return ({"disable": spared} if spared else {}), withheld
