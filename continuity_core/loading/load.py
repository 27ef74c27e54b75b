"""Loading: configuration and installed plugins become an ordered set, or one error with every problem."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from continuity_core.loading.configuration import Configuration, gather
from continuity_core.loading.discovery import discover, in_code, named_code
from continuity_core.loading.loader import Loader
from continuity_core.loading.local import local_candidates
from continuity_core.loading.plugin_set import PluginSet
from continuity_core.loading.printable import printable
from continuity_core.loading.registration import new_manager
from continuity_core.loading.selection import REDACTION
from continuity_core.loading.sources import NotAccepted

logger = logging.getLogger("continuity")

CLOSED_PLUGINS = (REDACTION, "provider-errors")
"""What stays on where the configuration is not valid."""


@attrs.frozen(kw_only=True, eq=False)
class Loaded:
    """A configuration and the plugins that it gives."""

    configuration: Configuration
    plugins: PluginSet

    @property
    def not_accepted(self) -> tuple[NotAccepted, ...]:
        """What the project's file says, of the core or of plugins, and may not say."""
        return (*self.configuration.not_accepted, *self.plugins.not_accepted)


def load(
    *,
    config: str | Path | None = None,
    command_line: Mapping[str, Any] | None = None,
    code: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    extra_plugins: Iterable[object] = (),
) -> Loaded:
    """Read every source of configuration and load the plugins.

    Raises :class:`ConfigurationError` with every problem of both. The parameters are those of
    :meth:`Configuration.read` and :func:`load_plugins`.
    """
    configuration = gather(
        config=config, command_line=command_line, code=code, environment=environment, folder=folder
    )
    return Loaded(configuration=configuration, plugins=load_plugins(configuration, extra_plugins))


def load_closed() -> Loaded:
    """What is in force where the configuration is not valid and the host cannot raise.

    No resume, and of the plugins only this project's redaction and reader of errors. Never raises: if those
    cannot be loaded either, what is missing is logged as an error.
    """
    for names in (CLOSED_PLUGINS, (REDACTION,)):
        configuration = Configuration.from_mapping({"max_resumes": 0, "only": names})
        try:
            candidates = [candidate for candidate in discover().candidates if candidate.bundled]
            return Loaded(configuration=configuration, plugins=Loader(configuration, candidates).finish())
        except Exception as error:
            logger.error("not even %s can be loaded: %s", " and ".join(names), printable(error, 1000))
    configuration = Configuration.from_mapping({"max_resumes": 0})
    return Loaded(configuration=configuration, plugins=PluginSet(manager=new_manager()))


def load_plugins(
    configuration: Configuration, extra_plugins: Iterable[object] = (), *, installed: bool = True
) -> PluginSet:
    """Load the plugins that ``configuration`` selects, and put them in order.

    ``extra_plugins`` are instances, or classes whose options the configuration gives. Without ``installed``
    third parties' distributions are passed over, as if they were not there. A third party's plugin
    that is broken is left out with a warning. Raises :class:`ConfigurationError` with everything else that
    is wrong, the problems of ``configuration`` included; while it is not known what is disabled, no plugin
    but this project's own is imported to find more.
    """
    discovery = discover() if installed else discover().bundled_alone()
    candidates = [
        *discovery.candidates,
        *(named_code(code) for code in configuration.load),
        *(candidate for file in configuration.local_files for candidate in local_candidates(file)),
        *(in_code(plugin) for plugin in extra_plugins),
    ]
    return Loader(configuration, candidates, discovery.warnings).finish()
