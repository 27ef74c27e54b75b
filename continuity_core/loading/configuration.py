"""The configuration in force: every value with its source, and what was not accepted from where."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from continuity_core.engine.settings import Settings
from continuity_core.loading.environment import CONFIG_VARIABLE, read_environment
from continuity_core.loading.errors import ConfigurationError, Problem
from continuity_core.loading.files import read_files
from continuity_core.loading.layers import (
    SELECTION_KEYS,
    SETTINGS_KEYS,
    core_given,
    shape_problems,
    spare_protections,
)
from continuity_core.loading.local import local_files
from continuity_core.loading.options import Resolved, no_options, resolve
from continuity_core.loading.selection import NamedCode, Selection
from continuity_core.loading.sources import Given, Layer, NotAccepted, Provenance, Source
from continuity_core.loading.versions import Requirement


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
    local_files: tuple[Path, ...] = ()
    """The ``continuity_local.py`` beside each file that is trusted, where there is one."""
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
    files = read_files(config or environment.get(CONFIG_VARIABLE) or None, environment, folder)
    variables, problems = read_environment(environment)
    layers = [found.layer for found in files if found.layer is not None]
    layers.append(variables)
    layers.append(Layer(source=Source.COMMAND_LINE, table=command_line or {}))
    layers.append(Layer(source=Source.CODE, table=code or {}))
    return join(
        layers,
        local_files=local_files(layers, environment),
        problems=(*(problem for found in files for problem in found.problems), *problems),
        warnings=[warning for found in files for warning in found.warnings],
    )


def join(
    layers: Iterable[Layer],
    problems: Iterable[Problem] = (),
    warnings: Iterable[str] = (),
    local_files: tuple[Path, ...] = (),
) -> Configuration:
    """Join what the sources say, lowest precedence first; problems are kept, not raised."""
    joined = tuple(layers)
    found = list(problems)
    for layer in joined:
        found.extend(shape_problems(layer))
    given, withheld = spare_protections(core_given(joined, found))
    settings = resolve(Settings, {key: given[key] for key in given if key in SETTINGS_KEYS})
    selection = resolve(Selection, {key: given[key] for key in given if key in SELECTION_KEYS})
    return Configuration(
        settings=settings.options,
        selection=selection.options,
        layers=joined,
        provenance={**settings.provenance, **selection.provenance},
        not_accepted=(*settings.not_accepted, *selection.not_accepted, *withheld),
        warnings=tuple(warnings),
        local_files=local_files,
        problems=(*found, *settings.problems, *selection.problems),
        selection_known=not found and not selection.problems,
    )


def _without_problems(configuration: Configuration) -> Configuration:
    if configuration.problems:
        raise ConfigurationError(configuration.problems)
    return configuration
