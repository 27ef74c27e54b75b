"""``continuity plugins``: the table of plugins in force."""

from __future__ import annotations

from collections.abc import Iterator

import click

from continuity_core.cli.options import config_file
from continuity_core.cli.output import foreign, print_json, print_table
from continuity_core.loading.load import load
from continuity_core.loading.plugin_set import PluginRow
from continuity_core.loading.showing import row_json
from continuity_core.loading.sources import Source

NOTHING = "-"
"""What an empty cell shows."""


@click.command()
@click.option("--config", metavar="FILE", help="A configuration file; it outranks your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(config: str | None, as_json: bool) -> None:
    """Show every plugin in chain order, where it comes from, and what became of it.

    Options that are not at their defaults follow with their source; --json has all of them.
    """
    table = load(config=config or config_file()).plugins.table
    if as_json:
        print_json([row_json(row) for row in table])
    else:
        header = ("#", "stage", "plugin", "from", "hooks", "state")
        print_table(header, [_cells(row) for row in table], whole=(0, 1, 2))
        changed = [line for row in table for line in _changed_options(row)]
        if changed:
            click.echo("\nOptions that are not at their defaults")
            click.echo("\n".join(changed))


def _cells(row: PluginRow) -> list[str]:
    cells = (
        str(row.order or NOTHING),
        row.stage or NOTHING,
        row.name,
        " ".join(part for part in (row.distribution, row.version) if part) or "code",
        ", ".join(hook.removeprefix("continuity_") for hook in row.hooks) or NOTHING,
        row.state,
    )
    return [foreign(cell, 1000) for cell in cells]


def _changed_options(row: PluginRow) -> Iterator[str]:
    for name, told in row.options.items():
        if told.source is not Source.DEFAULT:
            yield foreign(f"{row.name}.{name} = {told.text} ({told.where})", 1000)
