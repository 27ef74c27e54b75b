"""What one sees while the faults are played: a live table on a terminal, plain lines where it is piped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click

from continuity_core.cli.demo.faults import Fault
from continuity_core.cli.demo.playing import Played
from continuity_core.cli.demo.rows import HEADER, Row
from continuity_core.cli.output import console, foreign, rich_table, styled

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

SHOWN_LINES = 8
"""Lines of what happens that stand under the live table."""


class View(Protocol):
    """What is told of the plays, in order."""

    def begins(self, fault: Fault, *, with_continuity: bool) -> None:
        """A play begins."""
        ...

    def says(self, line: str) -> None:
        """Something happens in it."""
        ...

    def ends(self, fault: Fault, played: Played, *, with_continuity: bool) -> None:
        """The play is over."""
        ...


class SilentView:
    """Says nothing: for ``--json``."""

    def begins(self, fault: Fault, *, with_continuity: bool) -> None:
        """Nothing."""

    def says(self, line: str) -> None:
        """Nothing."""

    def ends(self, fault: Fault, played: Played, *, with_continuity: bool) -> None:
        """Nothing."""


class PlainView:
    """Lines as things happen."""

    def begins(self, fault: Fault, *, with_continuity: bool) -> None:
        """Name the fault, and which of the two plays it is."""
        if not with_continuity:
            click.echo(f"{fault.name}: {fault.what}")
        click.echo("  with continuity" if with_continuity else "  without continuity")

    def says(self, line: str) -> None:
        """A line of its own."""
        click.echo(f"    {foreign(line)}")

    def ends(self, fault: Fault, played: Played, *, with_continuity: bool) -> None:
        """What the caller got."""
        click.echo(f"    -> {foreign(played)}")


class LiveView:
    """A table that fills, and under it the last lines of what happens."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._played: dict[tuple[str, bool], Played] = {}
        self._current: tuple[str, bool] | None = None
        self._lines: deque[Text] = deque(maxlen=SHOWN_LINES)
        self._live: Live | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it while the block runs; then it makes room for the closing table."""
        from rich.live import Live

        with Live(
            get_renderable=self._render, console=console(), refresh_per_second=12, transient=True
        ) as self._live:
            yield

    def begins(self, fault: Fault, *, with_continuity: bool) -> None:
        """Mark the play in the table."""
        self._current = (fault.name, with_continuity)
        title = f"{fault.what}, {'with' if with_continuity else 'without'} continuity"
        self._lines.append(styled(title, "bold"))

    def says(self, line: str) -> None:
        """One more line."""
        self._lines.append(styled(f"  {line}", "dim"))

    def ends(self, fault: Fault, played: Played, *, with_continuity: bool) -> None:
        """Fill a cell of the table."""
        self._played[fault.name, with_continuity] = played
        self._current = None

    def _render(self) -> Group:
        from rich.console import Group

        rows = [
            (fault.name, self._cell(fault, with_continuity=False), self._cell(fault, with_continuity=True))
            for fault in self._faults
        ]
        return Group(rich_table(HEADER[:3], rows), *self._lines)

    def _cell(self, fault: Fault, *, with_continuity: bool) -> Text:
        played = self._played.get((fault.name, with_continuity))
        if played is not None:
            return styled(played.outcome, "green" if played.ok else "red")
        is_current = self._current == (fault.name, with_continuity)
        return styled("running ..." if is_current else "-", "yellow" if is_current else "dim")


def styled_cells(row: Row) -> tuple[Text, ...]:
    """A line of the closing table; colours say what words say too."""
    name, without, with_, requests, waits = row.cells()
    good = "green" if row.with_.ok else "yellow" if row.is_good else "bold red"
    return (
        styled(name, "bold"),
        styled(without, "green" if row.without.ok else "red"),
        styled(with_, good),
        styled(requests),
        styled(waits),
    )
