"""Registration: a plugin fits the contract, or it is refused by name and nothing of it stays behind."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import pluggy

from continuity_core import hookspecs
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.declaration_checks import Declarations, name_refusals, read_declarations
from continuity_core.loading.errors import PluginError, Refusal, origin
from continuity_core.loading.hook_checks import HOOKS, hook_refusals, look_at, no_hook_at_all
from continuity_core.loading.printable import describe_exception

_registered: WeakKeyDictionary[pluggy.PluginManager, dict[str, RegisteredPlugin]] = WeakKeyDictionary()
"""Who holds a name: pluggy itself does not remember the distribution."""


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the hook specification and no plugin."""
    manager = pluggy.PluginManager(hookspecs.PROJECT_NAME)
    manager.add_hookspecs(hookspecs)
    return manager


def register(
    manager: pluggy.PluginManager,
    plugin: object,
    *,
    name: str,
    distribution: str | None = None,
    version: str | None = None,
) -> RegisteredPlugin:
    """Register ``plugin`` as ``name``, or raise :class:`PluginError` with everything that is wrong with it.

    ``distribution`` and ``version`` say where it came from, for messages and the table of plugins.
    """
    refusals = list(name_refusals(name))
    declarations = None
    if isinstance(plugin, type):
        refusals.append(
            Refusal(
                f"it is the class {plugin.__name__}, not an instance",
                f"Register an instance: have you forgotten the () in {plugin.__name__}()?",
            )
        )
    elif plugin is None:
        refusals.append(Refusal("it is None", "Register an instance of the plugin's class."))
    else:
        declarations = _check(manager, plugin, name, refusals)
        refusals.extend(_name_taken(manager, name))
    if not refusals and declarations is not None:
        _hand_to_pluggy(manager, plugin, name, refusals)
    if refusals or declarations is None:
        raise PluginError(name, dict.fromkeys(refusals), distribution=distribution, version=version)
    registered = RegisteredPlugin(
        name=name,
        plugin=plugin,
        order=declarations.order,
        budgets=declarations.budgets,
        edits_user_input=declarations.edits_user_input,
        distribution=distribution,
        version=version,
    )
    _registered.setdefault(manager, {})[name] = registered
    return registered


def hooks_of(manager: pluggy.PluginManager, plugin: object) -> tuple[str, ...]:
    """The names of the hooks that a registered plugin implements, in the order of the specification."""
    return tuple(
        hook
        for hook in HOOKS
        if any(impl.plugin is plugin for impl in getattr(manager.hook, hook).get_hookimpls())
    )


def _check(manager: pluggy.PluginManager, plugin: object, name: str, refusals: list[Refusal]) -> Declarations:
    before = len(refusals)
    attributes = look_at(manager, plugin, refusals)
    declarations = read_declarations(plugin, name, refusals)
    refusals.extend(hook_refusals(attributes))
    if len(refusals) == before and not any(attribute.options for attribute in attributes):
        refusals.append(no_hook_at_all(attributes))
    return declarations


def _name_taken(manager: pluggy.PluginManager, name: str) -> list[Refusal]:
    if manager.is_blocked(name):
        return [Refusal("its name is blocked", "Unblock the name, or give the plugin another one.")]
    if not manager.has_plugin(name):
        return []
    holder = _registered.get(manager, {}).get(name)
    by = origin(name, holder.distribution, holder.version) if holder else f'plugin "{name}"'
    return [Refusal(f"its name is already taken by {by}", "Give it another name, or disable one of the two.")]


def _hand_to_pluggy(
    manager: pluggy.PluginManager, plugin: object, name: str, refusals: list[Refusal]
) -> None:
    for other_name, other in manager.list_name_plugin():
        if other is plugin:
            refusals.append(
                Refusal(
                    f'the same object is already registered as "{other_name}"', "Register each plugin once."
                )
            )
            return
    try:
        manager.register(plugin, name=name)
    except (Exception, SystemExit) as error:
        # pluggy compares plugins by ==; two that say they are equal count as one and the same.
        refusals.append(
            Refusal(
                f"pluggy does not take it ({describe_exception(error)})",
                "A plugin class must not define equality: with attrs, pass eq=False.",
            )
        )
        if manager.get_plugin(name) is plugin:
            manager.unregister(name=name)
