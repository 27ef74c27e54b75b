"""What is raised while plugins and configuration are loaded: what, where, why, and the mend."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core.loading.printable import printable


def origin(plugin: str, distribution: str | None = None, version: str | None = None) -> str:
    """A plugin as messages name it: ``plugin "NAME" (DISTRIBUTION VERSION)``."""
    parts = " ".join(printable(part, 400) for part in (distribution, version) if part)
    return f'plugin "{printable(plugin, 100)}"' + (f" ({parts})" if parts else "")


@attrs.frozen
class Refusal:
    """One thing about a plugin that does not fit the contract."""

    why: str
    mend: str

    def __str__(self) -> str:
        return f"{self.why}. {self.mend}"


class PluginError(ValueError):
    """A plugin was refused: nothing of it is registered."""

    def __init__(
        self,
        plugin: str,
        refusals: Iterable[Refusal],
        *,
        distribution: str | None = None,
        version: str | None = None,
    ) -> None:
        self.plugin = plugin
        self.refusals = tuple(refusals)
        """Everything that is wrong with it, at least one."""
        self.distribution = distribution
        self.version = version
        super().__init__(f"{origin(plugin, distribution, version)} was refused: {self.cause}")

    @property
    def cause(self) -> str:
        """Why and the mend, without the plugin's name."""
        return " Also: ".join(str(refusal) for refusal in self.refusals)


class OrderError(ValueError):
    """The plugins' declared order cannot be kept: a cycle, or a contradiction to the stages."""


@attrs.frozen(kw_only=True)
class Problem:
    """One mistake in a configuration, or in what it needs."""

    where: str
    """The file with the key's path, the variable's name, or the plugin."""
    what: str
    mend: str = ""

    def __str__(self) -> str:
        return printable(f"{self.where}: {self.what}" + (f". {self.mend}" if self.mend else ""), 2000)


class ConfigurationError(ValueError):
    """Nothing was loaded; ``problems`` has every mistake that was found, one a line in the message."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))
