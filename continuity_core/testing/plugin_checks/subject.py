"""The plugin that is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from continuity_core.engine.chain import Chain
from continuity_core.engine.plugins import RegisteredPlugin


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """A plugin that was loaded, and how to load it again."""

    name: str
    registered: RegisteredPlugin
    chain: Chain
    """The chain of this plugin alone."""
    twin: Chain | None
    """The same of another instance; ``None`` where the author handed over an instance."""
    extra: tuple[object, ...]
    """What is handed over with the installed plugins."""
    settings: Mapping[str, Any]
    known: frozenset[str]
    """The names of the plugins that were found beside it."""
