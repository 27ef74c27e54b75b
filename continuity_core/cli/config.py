"""``continuity config``: every value in force with its source."""

from __future__ import annotations

from collections.abc import Iterator

import click

from continuity_core.cli.options import config_file
from continuity_core.cli.output import foreign, print_json, print_table
from continuity_core.loading.load import Loaded, load
from continuity_core.loading.printable import value_text
from continuity_core.loading.showing import not_accepted_json, provenance_json
from continuity_core.loading.sources import Provenance


@click.command()
@click.option("--config", metavar="FILE", help="A configuration file; it outranks your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def config(config: str | None, as_json: bool) -> None:
    """Show every value with its source, and what was not accepted from where.

    Plugins' options are listed as plugins.NAME.OPTION.
    """
    loaded = load(config=config or config_file())
    values = dict(_values(loaded))
    if as_json:
        print_json(
            {
                "values": {key: provenance_json(told) for key, told in values.items()},
                "not_accepted": [not_accepted_json(refused) for refused in loaded.not_accepted],
                "warnings": list(loaded.plugins.warnings),
            }
        )
        return
    rows = [(key, told.text, str(told)) for key, told in values.items()]
    print_table(("key", "value", "source"), [_cells(row) for row in rows])
    if loaded.not_accepted:
        refused = [(each.key, value_text(each.value), each.where, each.why) for each in loaded.not_accepted]
        click.echo()
        print_table(("key", "value", "from", "why"), [_cells(row) for row in refused], title="Not accepted")


def _cells(row: tuple[str, ...]) -> list[str]:
    return [foreign(cell, 1000) for cell in row]


def _values(loaded: Loaded) -> Iterator[tuple[str, Provenance]]:
    yield from loaded.configuration.provenance.items()
    for row in sorted(loaded.plugins.table, key=lambda row: row.name):
        for name, told in row.options.items():
            yield f"plugins.{row.name}.{name}", told
