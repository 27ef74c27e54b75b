"""Tables for people: drawn on a terminal, plain columns where the output is piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from continuity_core.loading.printable import printable


def print_table(columns: Sequence[str], lines: Sequence[Sequence[str]], title: str = "") -> None:
    """Print ``lines`` under ``columns``; texts are taken literally, whatever they contain."""
    cells = [[printable(cell, 1000) for cell in line] for line in lines]
    if sys.stdout.isatty():
        _draw(columns, cells, title)
        return
    if title:
        click.echo(title)
    widths = [max(len(line[index]) for line in (columns, *cells)) for index in range(len(columns))]
    for line in (columns, *cells):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _draw(columns: Sequence[str], cells: Sequence[Sequence[str]], title: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=Text(title) if title else None)
    for column in columns:
        table.add_column(Text(column))
    for line in cells:
        table.add_row(*(Text(cell, overflow="fold") for cell in line))
    Console().print(table)
