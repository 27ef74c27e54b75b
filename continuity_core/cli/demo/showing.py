"""The course of the demonstration, from loading the configuration to the closing table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import anyio
import click

from continuity_core.cli.demo.faults import FAULTS, Fault
from continuity_core.cli.demo.playing import open_models, play
from continuity_core.cli.demo.rows import HEADER, Row, exit_status, summary, why_off
from continuity_core.cli.demo.view import LiveView, PlainView, SilentView, View, styled_cells
from continuity_core.cli.options import config_file, log_level
from continuity_core.cli.output import console, foreign, print_json, print_table
from continuity_core.continuity import Continuity
from continuity_core.loading.plugin_set import PluginRow
from continuity_core.loading.selection import BUNDLED_DISTRIBUTION
from continuity_core.model.events import Event
from continuity_core.observe.log import only_from
from continuity_core.observe.progress import line_of, spoken_duration
from continuity_core.testing.clocks import ScaledClock
from continuity_core.testing.fault_server import FaultServer

SPEED = 1200
"""How many times as fast waits run: twenty minutes take a second."""


class Told:
    """Where the events of continuity go: to the view of the moment."""

    def __init__(self, view: View) -> None:
        self.view = view

    def __call__(self, event: Event) -> None:
        line = line_of(event)
        if line is not None:
            self.view.says(line)


def show(*, as_json: bool) -> int:
    """Play all faults and print what became of them; the result is the exit status.

    Raises :class:`ConfigurationError` where the configuration in force is not valid.
    """
    told = Told(SilentView())
    continuity = Continuity.load(config=config_file(), clock=ScaledClock(SPEED), on_event=told)
    # The view tells what the log would; where a level is asked for, both are shown, line by line.
    quiet = only_from("error") if log_level() is None else nullcontext()
    if as_json:
        with quiet:
            rows = anyio.run(play_all, FAULTS, continuity, told.view)
        print_json([row.to_dict() for row in rows])
        return exit_status(rows)
    _introduce(continuity)
    target = console()
    is_live = target.is_terminal and not target.is_dumb_terminal and log_level() is None
    view = LiveView(FAULTS) if is_live else PlainView()
    told.view = view
    with quiet, view.shown() if isinstance(view, LiveView) else nullcontext():
        rows = anyio.run(play_all, FAULTS, continuity, view)
    if not is_live:
        click.echo()
    print_table(HEADER, [styled_cells(row) for row in rows])
    click.echo(summary(rows))
    return exit_status(rows)


async def play_all(faults: Sequence[Fault], continuity: Continuity, view: View) -> list[Row]:
    """Play each fault twice, one after the other, against one server."""
    rows = []
    async with FaultServer() as server, open_models(server) as models:
        for fault in faults:
            played = []
            for used in (None, continuity):
                view.begins(fault, with_continuity=used is not None)
                played.append(await play(fault, server, models[fault.dialect], used, view.says))
                view.ends(fault, played[-1], with_continuity=used is not None)
            without, with_ = played
            rows.append(Row(fault=fault, without=without, with_=with_, off=why_off(fault, continuity)))
    return rows


def _introduce(continuity: Continuity) -> None:
    click.echo("A provider on this machine fails on purpose; nothing leaves the machine.")
    click.echo(f"{len(FAULTS)} faults, each played without and with continuity: about ten seconds in all.")
    click.echo(f"Waits run {SPEED} times as fast: {spoken_duration(SPEED)} take a second.")
    on = [_named(row) for row in continuity.plugins.table if row.state == "on"]
    click.echo(f"Plugins in force: {', '.join(on) or 'none'}")
    for row in continuity.plugins.table:
        if row.state != "on":
            click.echo(f"Not in force: {foreign(row.name, 100)}, {foreign(row.state)}")
    click.echo()


def _named(row: PluginRow) -> str:
    name = foreign(row.name, 100)
    is_bundled = row.distribution in (None, BUNDLED_DISTRIBUTION)
    return name if is_bundled else f"{name} ({foreign(row.distribution, 100)})"
