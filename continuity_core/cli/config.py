"""``continuity config``: every value in force with its source."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from continuity_core.cli.loading import config_option, json_option, load_or_exit
from continuity_core.cli.tables import print_table
from continuity_core.loading.load import Loaded
from continuity_core.loading.printable import value_text
from continuity_core.loading.showing import not_accepted_json, provenance_json
from continuity_core.loading.sources import Provenance


@click.command()
@config_option
@json_option
def config(config: str | None, as_json: bool) -> None:
    """Show every value with its source, and what was not accepted from where.

    Plugins' options are listed as plugins.NAME.OPTION.
    """
    loaded = load_or_exit(config)
    values = dict(_values(loaded))
    not_accepted = loaded.not_accepted
    if as_json:
        document = {
            "values": {key: provenance_json(told) for key, told in values.items()},
            "not_accepted": [not_accepted_json(refused) for refused in not_accepted],
            "warnings": list(loaded.plugins.warnings),
        }
        click.echo(json.dumps(document, indent=2, allow_nan=False))
        return
    print_table(("key", "value", "source"), [(key, told.text, str(told)) for key, told in values.items()])
    if not_accepted:
        click.echo()
        print_table(
            ("key", "value", "from", "why"),
            [(each.key, value_text(each.value), each.where, each.why) for each in not_accepted],
            title="Not accepted",
        )


def _values(loaded: Loaded) -> Iterator[tuple[str, Provenance]]:
    yield from loaded.configuration.provenance.items()
    for row in sorted(loaded.plugins.table, key=lambda row: row.name):
        for name, told in row.options.items():
            yield f"plugins.{row.name}.{name}", told
