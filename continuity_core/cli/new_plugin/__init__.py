"""``continuity new-plugin``: a distribution of one plugin, with tests that pass."""

from __future__ import annotations

from pathlib import Path

import click

from continuity_core.cli.new_plugin.naming import NameRefusedError, names_of
from continuity_core.cli.new_plugin.writing import write
from continuity_core.cli.output import UserError, foreign


@click.command("new-plugin")
@click.argument("name")
@click.option(
    "--into",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the new folder is made (default: here).",
)
def new_plugin(name: str, into: Path | None) -> None:
    """Write a plugin called NAME as a distribution of its own, with tests that pass.

    NAME has small letters, digits and hyphens, e.g. refusal-retry. The folder is called continuity-NAME and
    must not be there yet.
    """
    try:
        names = names_of(name)
    except NameRefusedError as error:
        raise UserError(str(error)) from error
    folder = (into or Path()) / names.distribution
    try:
        files = write(names, folder)
    except FileExistsError as error:
        raise UserError(f"{folder} is there already", "take another name, or remove it") from error
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror or type(error).__name__}") from error
    for file in files:
        click.echo(foreign(file, 1000))
    click.echo(
        f"\nNext:\n  cd {foreign(folder, 1000)}\n  pip install -e '.[test]'\n  pytest\n  continuity plugins"
    )
