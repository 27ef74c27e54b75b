"""``continuity plugins``: the table of plugins in force."""

from __future__ import annotations

import json

import click

from continuity_core.cli.loading import config_option, json_option, load_or_exit
from continuity_core.cli.tables import print_table
from continuity_core.loading.plugin_set import PluginRow
from continuity_core.loading.showing import row_json
from continuity_core.loading.sources import Source


@click.command()
@config_option
@json_option
def plugins(config: str | None, as_json: bool) -> None:
    """Show every plugin in chain order, where it comes from, and what became of it.

    Options that are not at their defaults are shown with their source; --json has all of them.
    """
    table = load_or_exit(config).plugins.table
    if as_json:
        click.echo(json.dumps([row_json(row) for row in table], indent=2, allow_nan=False))
        return
    print_table(("#", "stage", "plugin", "from", "hooks", "state", "options"), [_line(row) for row in table])


def _line(row: PluginRow) -> tuple[str, ...]:
    changed = [
        f"{name} = {told.text} ({told.where})"
        for name, told in row.options.items()
        if told.source is not Source.DEFAULT
    ]
    return (
        str(row.order or "-"),
        row.stage or "-",
        row.name,
        " ".join(part for part in (row.distribution, row.version) if part) or "code",
        ", ".join(hook.removeprefix("continuity_") for hook in row.hooks) or "-",
        row.state,
        "; ".join(changed) or "-",
    )
