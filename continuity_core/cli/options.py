"""The options that stand before the command, as commands read them."""

from __future__ import annotations

import click


def config_file() -> str | None:
    """The file that ``--config`` names; ``None`` where it is not given, or outside of the command line."""
    return _root_parameter("config")


def log_level() -> str | None:
    """What ``--log-level`` asks for, in small letters; ``None`` where it is not given."""
    return _root_parameter("log_level")


def _root_parameter(name: str) -> str | None:
    context = click.get_current_context(silent=True)
    value = None if context is None else context.find_root().params.get(name)
    return None if value is None else str(value)
