"""The names of a new plugin, of its distribution, package and class."""

from __future__ import annotations

import attrs

from continuity_core.loading.declaration_checks import PLUGIN_NAME
from continuity_core.loading.discovery import discover

PREFIX = "continuity-"
LONGEST_NAME = 60

_TAKEN_PACKAGES = ("core", "plugins", "pytest", "local")
"""With the prefix these are modules of this project's own, or its local file: one would shadow the other."""


class NameRefusedError(ValueError):
    """A plugin cannot have this name; the text says why."""


@attrs.frozen(kw_only=True)
class Names:
    """One name in all its forms, for a plugin called ``refusal-retry``."""

    plugin: str
    """``refusal-retry``"""
    distribution: str
    """``continuity-refusal-retry``"""
    package: str
    """``continuity_refusal_retry``"""
    class_name: str
    """``RefusalRetry``"""


def names_of(name: str) -> Names:
    """All forms of a plugin's name, which may have the prefix ``continuity-`` already.

    Raises :class:`NameRefusedError`.
    """
    plugin = name.removeprefix(PREFIX)
    well_formed = PLUGIN_NAME.fullmatch(plugin) and not plugin.endswith("-") and "--" not in plugin
    if not well_formed or len(plugin) > LONGEST_NAME or plugin[0].isdigit():
        raise NameRefusedError(
            f"{name!r} is no plugin name: small letters, digits and single hyphens, a letter first, at most "
            f"{LONGEST_NAME} characters, e.g. refusal-retry"
        )
    if plugin in _TAKEN_PACKAGES:
        raise NameRefusedError(f"the name {plugin!r} would give a package that continuity-core has itself")
    if any(candidate.bundled and candidate.name == plugin for candidate in discover().candidates):
        raise NameRefusedError(f"the name {plugin!r} belongs to a plugin of continuity-core's own")
    return Names(
        plugin=plugin,
        distribution=PREFIX + plugin,
        package=(PREFIX + plugin).replace("-", "_"),
        class_name="".join(part.capitalize() for part in plugin.split("-")),
    )
