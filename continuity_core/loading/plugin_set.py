"""The plugins in force, and the table that says what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs
import pluggy

from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.ordering import in_chain_order
from continuity_core.loading.registration import hooks_of, new_manager, register
from continuity_core.loading.selection import kebab_case
from continuity_core.loading.sources import NotAccepted, Provenance

CHAIN_HOOKS = ("continuity_turn_ended", "continuity_before_settle", "continuity_project")
"""The hooks for which the place in the chain matters."""

_NO_OPTIONS: Mapping[str, Provenance] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class PluginRow:
    """One line of the table of plugins."""

    order: int | None = None
    """Place in the chain, from 1; ``None`` for one that is not on."""
    stage: str | None = None
    """``None`` also for one that only classifies or observes."""
    name: str
    distribution: str | None = None
    version: str | None = None
    hooks: tuple[str, ...] = ()
    state: str = "on"
    """``on``, ``off by …``, or ``broken: …``."""
    options: Mapping[str, Provenance] = _NO_OPTIONS


@attrs.frozen(kw_only=True, eq=False)
class PluginSet:
    """Registered plugins in chain order, with their manager."""

    manager: pluggy.PluginManager
    plugins: tuple[RegisteredPlugin, ...] = ()
    table: tuple[PluginRow, ...] = ()
    """Those that are on in chain order, then those that are not, by name."""
    warnings: tuple[str, ...] = ()
    """What was logged while they were loaded."""
    not_accepted: tuple[NotAccepted, ...] = ()
    """What the project's file says of plugins' options and may not say."""

    @classmethod
    def of(cls, *plugins: object) -> PluginSet:
        """The set of exactly these instances, without any entry point or configuration.

        Raises :class:`PluginError` for one that is refused, :class:`OrderError` for an impossible order.
        """
        manager = new_manager()
        registered = [register(manager, plugin, name=plugin_name(plugin)) for plugin in plugins]
        ordered = in_chain_order(registered)
        return cls(manager=manager, plugins=ordered, table=rows(manager, ordered, {}))

    def __contains__(self, name: object) -> bool:
        return any(plugin.name == name for plugin in self.plugins)


def plugin_name(plugin: object) -> str:
    """A plugin's name: its attribute ``name``, else its class's name in small letters with hyphens."""
    try:
        name = getattr(plugin, "name", None)
    except (Exception, SystemExit):
        name = None
    if isinstance(name, str):
        return name
    owner = plugin if isinstance(plugin, type) else type(plugin)
    module_name = getattr(plugin, "__name__", None) if owner.__name__ == "module" else None
    return kebab_case((module_name or owner.__name__).rpartition(".")[2])


def rows(
    manager: pluggy.PluginManager,
    ordered: tuple[RegisteredPlugin, ...],
    options: Mapping[str, Mapping[str, Provenance]],
) -> tuple[PluginRow, ...]:
    """The lines of the plugins that are on."""
    lines = []
    for order, entry in enumerate(ordered, start=1):
        hooks = hooks_of(manager, entry.plugin)
        lines.append(
            PluginRow(
                order=order,
                stage=entry.order.stage.value if any(hook in CHAIN_HOOKS for hook in hooks) else None,
                name=entry.name,
                distribution=entry.distribution,
                version=entry.version,
                hooks=hooks,
                options=options.get(entry.name, _NO_OPTIONS),
            )
        )
    return tuple(lines)
