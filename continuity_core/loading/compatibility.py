"""What of the hook specification will go, and who is told.

What is deprecated keeps working until the version that is named beside it, and each plugin that
uses it is named in a warning when it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pluggy

from continuity_core import hookspecs
from continuity_core.loading.hook_checks import HOOKS


@attrs.frozen(kw_only=True)
class Deprecation:
    """One thing of the specification that will go."""

    what: str
    """A hook, a hook's parameter (``continuity_observe.run``), or an attribute of plugins."""
    since: tuple[int, int]
    until: tuple[int, int]
    """The first specification that does not have it."""
    mend: str
    """What to use in its place, as a sentence."""


DEPRECATIONS: tuple[Deprecation, ...] = ()
"""Everything that is deprecated; tests hold that it goes later than it was announced."""


def spec_text(version: tuple[int, ...]) -> str:
    """``0.1``"""
    return ".".join(map(str, version))


def deprecations_in(manager: pluggy.PluginManager, plugin: object) -> Iterator[Deprecation]:
    """What a registered plugin uses of that which is deprecated."""
    used = set()
    for hook in HOOKS:
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            if implementation.plugin is plugin:
                used |= {hook, *(f"{hook}.{name}" for name in implementation.argnames)}
    for deprecation in DEPRECATIONS:
        is_attribute = deprecation.what.partition(".")[0] not in HOOKS
        if deprecation.what in used or (is_attribute and hasattr(plugin, deprecation.what)):
            yield deprecation


def deprecation_warning(who: str, deprecation: Deprecation) -> str:
    """What the user is told: who uses it, until when it works, and who has to do what."""
    return (
        f"{who} uses {deprecation.what}, deprecated since hook specification {spec_text(deprecation.since)} "
        f"and gone in {spec_text(deprecation.until)} (this is {spec_text(hookspecs.SPEC_VERSION)}). "
        f"Its author: {deprecation.mend} You: upgrade it once that is done"
    )
