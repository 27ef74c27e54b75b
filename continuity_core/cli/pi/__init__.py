"""``continuity pi``: the extension for the Pi coding agent."""

from __future__ import annotations

from pathlib import Path

import click

from continuity_core.cli.output import UserError, foreign
from continuity_core.cli.pi.doctor import examine
from continuity_core.hosts.pi.entry import cached_entry
from continuity_core.hosts.pi.installing import ForeignFolderError, install, place_of, uninstall

_PROJECT = click.option("--project", is_flag=True, help="In the .pi folder here, for this project only.")
_MARKS = {True: "ok", False: "BAD", None: "-"}


@click.group()
def pi() -> None:
    """Recover the runs of the Pi coding agent."""


@pi.command("path")
def path_command() -> None:
    """Print the extension's folder, for: pi -e "$(continuity pi path)"."""
    click.echo(cached_entry())


@pi.command("install")
@_PROJECT
def install_command(project: bool) -> None:
    """Put the extension where Pi finds it by itself.

    This interpreter runs the chain: install again after you moved or replaced it.
    """
    place = _place(project)
    try:
        click.echo(f"installed in {install(place)}")
    except (OSError, ForeignFolderError) as error:
        raise UserError(str(error)) from error
    if project:
        click.echo("Pi loads a project's extensions once you trust the project.")
    click.echo("Look whether it works: continuity pi doctor")


@pi.command("uninstall")
@_PROJECT
def uninstall_command(project: bool) -> None:
    """Remove it again. Sessions stay readable without it."""
    place = _place(project)
    try:
        removed = uninstall(place)
    except (OSError, ForeignFolderError) as error:
        raise UserError(str(error)) from error
    click.echo(f"removed {place}" if removed else f"nothing is installed in {place}")


@pi.command("doctor")
@click.option(
    "--pi", "program", metavar="FILE", help="Pi's executable or cli.js, where it is not on the path."
)
def doctor_command(program: str | None) -> int:
    """Look at Node, Pi and the extension, and let Pi recover once against a provider on loopback.

    Exit status: 0 everything works; 1 something does not.
    """
    bad = 0
    for finding in examine(program):
        bad += finding.good is False
        click.echo(f"{_MARKS[finding.good]:>3}  {finding.what}: {foreign(finding.text, 1000)}")
    return 1 if bad else 0


def _place(project: bool) -> Path:
    return place_of(Path.cwd() if project else None)
