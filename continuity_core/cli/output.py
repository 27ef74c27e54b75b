"""What every command prints with: plain where it is piped, without colours where ``NO_COLOR`` says so.

Texts of others (providers, plugins, files) go through :func:`foreign`; no markup is ever read from a text.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from continuity_core.model.masking import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PROGRAM = "continuity"
_PLAIN_WIDTH = 10_000
"""Columns of a pipe: its lines are never broken."""
_ALIGNED = 48
"""Characters of a cell in a pipe up to which its column is filled to its width: a longer one shifts its line
only."""


class UserError(click.ClickException):
    """A mistake that the user can mend, told in one line, the mend after it."""

    exit_code = 2

    def __init__(self, what: str, mend: str = "") -> None:
        super().__init__(f"{what}: {mend}" if mend else what)


def console(*, stderr: bool = False) -> Console:
    """A console that prints texts as they are: no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream.isatty()
    return Console(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=not is_terminal,
        width=None if is_terminal else _PLAIN_WIDTH,
        force_terminal=is_terminal,
        color_system="auto" if is_terminal and not os.environ.get("NO_COLOR") else None,
    )


def foreign(text: object, limit: int = 500) -> str:
    """Somebody else's text on one line, without control characters and secrets.

    Masked last: an escape sequence before a secret would hide it from the mask.
    """
    return shown(str(text), limit)


def styled(text: object, style: str = "", limit: int = 500) -> Text:
    """A text for a cell of a table or a line, in a style of rich; never read as markup."""
    from rich.text import Text

    return Text(foreign(text, limit), style=style)


def print_json(value: Any) -> None:
    """``value`` as indented JSON on standard output; in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Text | str]],
    title: str = "",
    *,
    whole: Sequence[int] = (0,),
) -> None:
    """A table; where it is piped, columns that blanks align, without rules and frames.

    On a terminal that is too narrow, cells are folded, but for those of the columns ``whole``.
    """
    target = console()
    if target.is_terminal:
        target.print(rich_table(header, rows, title, whole=whole))
        return
    if title:
        click.echo(title)
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [
        max(len(line[column]) for line in lines if len(line[column]) <= _ALIGNED or line is lines[0])
        for column in range(len(header))
    ]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def rich_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Text | str]],
    title: str = "",
    *,
    whole: Sequence[int] = (0,),
) -> Any:
    """The same table as a renderable of rich, for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, collapse_padding=True
    )
    for number, name in enumerate(header):
        table.add_column(Text(name), overflow="fold", no_wrap=number in whole)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def print_error(message: str) -> None:
    """One line on standard error."""
    click.echo(f"{PROGRAM}: error: {foreign(message, 2000)}", err=True)
