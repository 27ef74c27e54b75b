"""``continuity plugins``: the table of plugins in force."""

from __future__ import annotations

import click

from continuity_core.cli.options import config_file
from continuity_core.cli.output import foreign, print_json, print_table
from continuity_core.loading.load import load
from continuity_core.loading.plugin_set import PluginRow
from continuity_core.loading.showing import row_json
from continuity_core.loading.sources import Source


@click.command()
@click.option("--config", metavar="FILE", help="A configuration file; it outranks your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(config: str | None, as_json: bool) -> None:
    """Show every plugin in chain order, where it comes from, and what became of it.

    Options that are not at their defaults are shown with their source; --json has all of them.
    """
    table = load(config=config or config_file()).plugins.table
    if as_json:
        print_json([row_json(row) for row in table])
    else:
        header = ("#", "stage", "plugin", "from", "hooks", "state", "options")
        print_table(header, [_line(row) for row in table])


def _line(row: PluginRow) -> list[str]:
    changed = [
        f"{name} = {told.text} ({told.where})"
        for name, told in row.options.items()
        if told.source is not Source.DEFAULT
    ]
    cells = (
        str(row.order or "-"),
        row.stage or "-",
        row.name,
        " ".join(part for part in (row.distribution, row.version) if part) or "code",
        ", ".join(hook.removeprefix("continuity_") for hook in row.hooks) or "-",
        row.state,
        "; ".join(changed) or "-",
    )
    return [foreign(cell, 1000) for cell in cells]
