"""Looking a plugin over: what it declares, what it does in runs, and what it says where much is strange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from continuity_core.continuity import Continuity
from continuity_core.engine.chain import SLOW_CALL, Chain
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.plugin_set import PluginSet, plugin_name
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.model.masking import printable
from continuity_core.observe.log import unlogged
from continuity_core.testing.plugin_checks.declared import declaration_problems
from continuity_core.testing.plugin_checks.hostile import hostile_problems
from continuity_core.testing.plugin_checks.scripts import script_problems
from continuity_core.testing.plugin_checks.subject import Subject

EXAMPLES = 50
"""How many strange boundaries each hook is shown."""


class PluginCheckError(AssertionError):
    """A plugin does not keep the contract; ``problems`` has one sentence or two for each way."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def check_plugin(
    plugin: object,
    *,
    settings: Mapping[str, Any] | None = None,
    examples: int = EXAMPLES,
    time_limit: float = SLOW_CALL,
) -> None:
    """Check that a plugin keeps the contract, and name with its mend whatever it does not keep.

    ``plugin`` is a class or an instance, which is checked among the bundled plugins, or the name of an
    installed one, which is checked among all that are installed; ``settings`` are the keys of
    ``[tool.continuity]``. Where all is well nothing is printed or logged. Looked at are

    * its options: each reader takes its own results and refuses what it cannot read by ``ValueError``;
    * every kind of turn, played as a run: no hook raises or returns what it must not, nothing is refused at
      the first turn of a run, and an answer that is whole is let go;
    * ``examples`` strange boundaries, turns or histories for each hook, the same in every run: the same input
      gets the same answer, nothing that is shown is changed, the plugin itself does not change, what it
      says stands in its form, and a call takes less than ``time_limit`` seconds (default: 0.05).

    ``examples=0`` leaves the strange ones out; else the package hypothesis is needed, and
    ``ModuleNotFoundError`` is raised where it is missing. Raises :class:`PluginCheckError` with every
    problem, and :class:`ConfigurationError` where the plugin is not even registered.
    """
    subject = _subject(plugin, settings or {})
    with unlogged():
        problems = [
            *declaration_problems(subject),
            *script_problems(subject),
            *(hostile_problems(subject, examples, time_limit) if examples else ()),
        ]
    if problems:
        raise PluginCheckError(printable(problem, 2000) for problem in dict.fromkeys(problems))


def _subject(plugin: object, settings: Mapping[str, Any]) -> Subject:
    name = plugin if isinstance(plugin, str) else plugin_name(plugin)
    extra = () if isinstance(plugin, str) else (plugin,)
    first = _load(extra, settings)  # What is said of loading it, a deprecation for one, is for its author.
    registered = _find(first, name)
    if registered is None:
        raise PluginCheckError([_why_not_on(name, first)])
    twin = None
    # An instance cannot be made again; of a class, or an installed plugin, a second one must say the same.
    if not extra or isinstance(plugin, type):
        with unlogged():
            twin = _alone(_load(extra, settings), name)
    return Subject(
        name=name,
        registered=registered,
        chain=_alone(first, name),
        twin=twin,
        extra=extra,
        settings=settings,
        known=frozenset(row.name for row in first.table),
    )


def _load(extra: tuple[object, ...], settings: Mapping[str, Any]) -> PluginSet:
    return Continuity.from_settings(settings, plugins=extra, installed=not extra).plugins


def _find(plugins: PluginSet, name: str) -> RegisteredPlugin | None:
    return next((entry for entry in plugins.plugins if entry.name == name), None)


def _alone(plugins: PluginSet, name: str) -> Chain:
    """The chain of this plugin only."""
    others = frozenset(entry.name for entry in plugins.plugins) - {name}
    return Chain.of(plugins.manager, plugins.plugins).without(others)


def _why_not_on(name: str, plugins: PluginSet) -> str:
    row = next((row for row in plugins.table if row.name == name), None)
    if row is None:
        near = did_you_mean(name, (row.name for row in plugins.table))
        return f'there is no plugin "{name}": hand over its class, or install its distribution. {near}'
    if "allow_injection" in row.state:
        return f'{name} is {row.state}: check_plugin(..., settings={{"allow_injection": ["{name}"]}})'
    return f"{name} is {row.state}: there is nothing to check"
