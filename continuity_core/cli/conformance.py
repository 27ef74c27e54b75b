"""``continuity conformance``: play scenarios of faults against a host."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
from collections import Counter
from pathlib import Path

import anyio
import attrs
import click

from continuity_core.cli.options import log_level
from continuity_core.cli.output import UserError, foreign, print_error
from continuity_core.testing.conformance import (
    TIME_LIMIT,
    ConformanceHost,
    HostError,
    Mode,
    Result,
    Scenario,
    ScenarioError,
    Status,
    Watchdog,
    as_json,
    check_settings,
    grace,
    load_host,
    read_scenarios,
    run_scenarios,
    selected,
)

_LINE = 20_000
"""Characters of one printed line."""


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--host", "host_name", required=True, metavar="NAME", help="The host, e.g. reference; or module:class."
)
@click.option("--only", metavar="GLOB", help="Only scenarios whose name matches.")
@click.option("--dialect", metavar="DIALECT", help="Only this dialect of the host.")
@click.option("--observe", is_flag=True, help="Compare the host without continuity and observed by it.")
@click.option(
    "--json",
    "json_file",
    metavar="OUT",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Write the results as JSON; - for standard output.",
)
@click.option(
    "--time-limit",
    default=TIME_LIMIT,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Real time that a scenario may take.",
)
def conformance(
    file: Path,
    host_name: str,
    only: str | None,
    dialect: str | None,
    observe: bool,
    json_file: Path | None,
    time_limit: float,
) -> int:
    """Play scenarios of faults against a host.

    Prints a line for each scenario and mode: pass, FAIL with what differed, or unsupported with why. Exit
    status: 0 nothing failed; 1 something did; 2 the file or the arguments cannot be used.
    """
    host = _host(host_name)
    dialects = _dialects(host, dialect)
    scenarios = _scenarios(file, only)
    if log_level() is None:
        # Every scenario is a failure on purpose: what the log says of it is no news.
        logging.getLogger("continuity").setLevel(logging.CRITICAL)
    output = _Output(host=host_name, file=file, observe=observe, json_file=json_file)
    limits = time_limit * (2 if observe else 1)

    def give_up(scenario: Scenario, mode: Mode) -> None:
        reason = f"no end after {limits:g} s, and the host cannot be cancelled; nothing more was played"
        output.show(Result(scenario=scenario, mode=mode, status=Status.FAIL, reasons=(reason,)))
        output.finish()
        sys.stdout.flush()
        os._exit(1)

    with Watchdog(seconds=limits + grace(limits), on_hang=give_up) as watchdog:
        run = functools.partial(
            run_scenarios,
            host,
            scenarios,
            dialects=dialects,
            observe=observe,
            time_limit=time_limit,
            on_start=watchdog.starts,
            on_result=output.show,
        )
        anyio.run(run)
    return output.finish()


@attrs.define(kw_only=True)
class _Output:
    """The lines, and the results as JSON."""

    host: str
    file: Path
    observe: bool
    json_file: Path | None
    results: list[Result] = attrs.field(factory=list)

    def show(self, result: Result) -> None:
        """Print the line of a result; next to JSON on standard output it goes to standard error."""
        self.results.append(result)
        line = f"{result.status.value}  {foreign(result.story, _LINE)}"
        click.echo(line, err=self.json_file is not None and str(self.json_file) == "-")

    def finish(self) -> int:
        """Write the JSON and the counts; the result is the exit status."""
        if self.json_file is not None:
            value = as_json(self.host, str(self.file), self.observe, self.results)
            _write(self.json_file, json.dumps(value, indent=2))
        counts = Counter(result.status for result in self.results)
        click.echo(
            f"{counts[Status.PASS]} passed, {counts[Status.FAIL]} failed, "
            f"{counts[Status.UNSUPPORTED]} unsupported",
            err=True,
        )
        return 1 if counts[Status.FAIL] else 0


def _host(name: str) -> ConformanceHost:
    try:
        return load_host(name)
    except HostError as error:
        raise UserError(str(error)) from error


def _dialects(host: ConformanceHost, dialect: str | None) -> tuple[str, ...]:
    if dialect is None:
        return tuple(host.dialects)
    if dialect not in host.dialects:
        raise UserError(f"host {host.name} has no dialect {dialect!r}", f"it has {', '.join(host.dialects)}")
    return (dialect,)


def _scenarios(file: Path, only: str | None) -> tuple[Scenario, ...]:
    try:
        scenarios = read_scenarios(file)
        check_settings(scenarios, str(file))
    except ScenarioError as error:
        for problem in error.problems:
            print_error(str(problem))
        raise click.exceptions.Exit(2) from error
    chosen = selected(scenarios, only)
    if not chosen:
        raise UserError(
            f"no scenario of {file} is named like {only!r}" if only else f"{file} has no scenarios"
        )
    return chosen


def _write(file: Path, text: str) -> None:
    if str(file) == "-":
        click.echo(text)
        return
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}") from error
