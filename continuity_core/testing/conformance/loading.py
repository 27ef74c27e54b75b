"""Making continuity of a scenario's settings; plugins are loaded once for equal settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from continuity_core.continuity import Continuity
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.errors import ConfigurationError, Problem
from continuity_core.loading.load import Loaded, load_plugins
from continuity_core.model.events import Event
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.conformance.parsing import ScenarioError
from continuity_core.testing.conformance.scenario import Scenario


@attrs.define(eq=False)
class Loads:
    """What was loaded so far. Plugins hold no session's state, so that scenarios can share them."""

    _known: dict[str, Loaded] = attrs.field(factory=dict)

    def load(self, settings: Mapping[str, Any]) -> Loaded:
        """Load the bundled plugins under these settings and no others. Raises :class:`ConfigurationError`."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self._known:
            configuration = Configuration.from_mapping(settings)
            plugins = load_plugins(configuration, installed=False)
            self._known[key] = Loaded(configuration=configuration, plugins=plugins)
        return self._known[key]

    def continuity(
        self, settings: Mapping[str, Any], clock: VirtualClock, on_event: Callable[[Event], None]
    ) -> Continuity:
        """A continuity of its own, with sessions of its own."""
        loaded = self.load(settings)
        return Continuity(loaded.plugins, loaded.configuration.settings, clock=clock, on_event=on_event)


def check_settings(scenarios: Sequence[Scenario], where: str = "scenarios") -> None:
    """Raise :class:`ScenarioError` with every setting that continuity does not accept."""
    loads = Loads()
    problems: list[Problem] = []
    for scenario in scenarios:
        try:
            loads.load(scenario.settings)
        except ConfigurationError as error:
            place = f"{where}: {scenario.name}.settings"
            problems += [
                Problem(where=place, what=f"{problem.where}: {problem.what}", mend=problem.mend)
                for problem in error.problems
            ]
    if problems:
        raise ScenarioError(problems)
