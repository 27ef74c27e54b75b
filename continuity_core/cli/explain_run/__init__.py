"""``continuity explain-run``: a recorded run, boundary by boundary."""

from __future__ import annotations

from pathlib import Path

import click

from continuity_core.cli.explain_run.reading import NotRecordedError, RecordedRun, read_runs
from continuity_core.cli.explain_run.telling import clock_time, told
from continuity_core.cli.output import UserError, foreign, print_table

_LINE = 2000


@click.command("explain-run")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--run", "wanted", metavar="ID", help="The run whose id begins with ID.")
@click.option("--all", "all_runs", is_flag=True, help="Every run of the file.")
@click.option("--list", "as_list", is_flag=True, help="One line for each run of the file.")
def explain_run(file: Path, wanted: str | None, all_runs: bool, as_list: bool) -> None:
    """Say what every plugin said in a recorded run, and what became of it.

    FILE is a journal (setting journal), or a report as JSON; '-' reads standard input. Without an option the
    last run is told.
    """
    try:
        recorded = read_runs(file)
    except NotRecordedError as error:
        raise UserError(str(error)) from error
    if recorded.unread:
        click.echo(f"{recorded.unread} lines of {foreign(file)} are no events and are left out", err=True)
    runs = list(recorded.runs)
    if as_list:
        header = ("run", "session", "started", "outcome", "turns", "resumes", "held")
        print_table(header, [_summary(run) for run in runs])
        return
    if wanted is not None:
        chosen = [run for run in runs if run.id.startswith(wanted)]
        if not chosen:
            raise UserError(f"no run of {file} has an id that begins with {wanted!r}", "--list shows them")
    else:
        chosen = runs if all_runs else runs[-1:]
    for number, run in enumerate(chosen):
        if number:
            click.echo()
        for line in told(run):
            click.echo(" " * (len(line) - len(line.lstrip())) + foreign(line, _LINE))
    if len(runs) > len(chosen):
        others = len(runs) - len(chosen)
        click.echo(f"other runs in {foreign(file)}: {others}; --list, --all, --run ID", err=True)


def _summary(run: RecordedRun) -> list[str]:
    settled = run.settled or {}
    cells = (
        run.id,
        run.session,
        clock_time(run.events[0].get("at"), with_date=True),
        settled.get("outcome", "not settled"),
        settled.get("turns", "-"),
        settled.get("resumes", "-"),
        f"{settled['held_seconds']:.0f} s" if isinstance(settled.get("held_seconds"), int | float) else "-",
    )
    return [foreign(cell, 100) for cell in cells]
