"""Loading for a command: a user's mistake is some lines on stderr and exit status 2, never a traceback."""

from __future__ import annotations

import sys
from typing import Any

import click

from continuity_core.cli.options import config_file
from continuity_core.loading.errors import ConfigurationError
from continuity_core.loading.load import Loaded, load

USAGE_ERROR = 2
"""Exit status of a command that was given something wrong."""


def config_option(command: Any) -> Any:
    """Add ``--config FILE``."""
    return click.option(
        "--config",
        "config",
        metavar="FILE",
        help="A trusted configuration file; outranks the user's file.",
    )(command)


def json_option(command: Any) -> Any:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def load_or_exit(config: str | None) -> Loaded:
    """Load everything as :meth:`Continuity.load` does, or say what is wrong and leave."""
    try:
        return load(config=config or config_file())
    except ConfigurationError as error:
        for problem in error.problems:
            click.echo(f"continuity: error: {problem}", err=True)
        sys.exit(USAGE_ERROR)
