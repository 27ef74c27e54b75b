"""The group of commands, its global options, and what a user sees of an error."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from continuity_core._version import __version__
from continuity_core.cli.lazy_group import LazyCommand, LazyGroup
from continuity_core.cli.output import PROGRAM, print_error
from continuity_core.loading.errors import ConfigurationError
from continuity_core.observe.log import LEVELS, log_to

COMMANDS = {
    "config": LazyCommand(
        "continuity_core.cli.config:config",
        "Show every value with its source, and what was not accepted from where.",
    ),
    "conformance": LazyCommand(
        "continuity_core.cli.conformance:conformance", "Play scenarios of faults against a host.", "demo"
    ),
    "demo": LazyCommand(
        "continuity_core.cli.demo:demo", "Play faults against a session without and with continuity.", "demo"
    ),
    "explain": LazyCommand(
        "continuity_core.cli.explain:explain",
        "Say what an error is: cause, action, until when to wait, and why.",
    ),
    "explain-run": LazyCommand(
        "continuity_core.cli.explain_run:explain_run",
        "Say what every plugin said in a recorded run, and what became of it.",
    ),
    "new-plugin": LazyCommand(
        "continuity_core.cli.new_plugin:new_plugin",
        "Write a plugin as a distribution of its own, with tests that pass.",
    ),
    "serve": LazyCommand("continuity_core.cli.serve:serve", "Serve the chain to a host in another language."),
    "pi": LazyCommand("continuity_core.cli.pi:pi", "Recover the runs of the Pi coding agent."),
    "plugins": LazyCommand(
        "continuity_core.cli.plugins:plugins",
        "Show every plugin in chain order, where it comes from, and what became of it.",
    ),
}
"""Every command."""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="A configuration file; it outranks the project's and your own.",
)
@click.option(
    "--log-level",
    type=click.Choice(LEVELS, case_sensitive=False),
    help="How much of the log goes to standard error (default: warning).",
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def application(context: click.Context, config: str | None, log_level: str | None) -> None:
    """Keep AI-agent runs alive.

    Exit status: 0 done; 1 done, and the answer is a bad one; 2 a mistake in what was asked for;
    130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return
    context.with_resource(log_to(sys.stderr, log_level or "warning"))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; a user's mistake becomes one or two lines on standard error, and status 2."""
    _replace_what_the_output_cannot_carry()
    try:
        status = application.main(
            args=None if arguments is None else list(arguments), prog_name=PROGRAM, standalone_mode=False
        )
    except click.UsageError as error:
        _show_usage_error(error)
        return 2
    except click.ClickException as error:
        print_error(error.format_message())
        return error.exit_code
    except ConfigurationError as error:
        for problem in error.problems:
            print_error(str(problem))
        return 2
    except (click.Abort, KeyboardInterrupt):
        print_error("interrupted")
        return 130
    return status if type(status) is int else 0


def _replace_what_the_output_cannot_carry() -> None:
    """A provider's text may hold any character, and a pipe on Windows few."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


def _show_usage_error(error: click.UsageError) -> None:
    print_error(error.format_message())
    path = error.ctx.command_path if error.ctx is not None else PROGRAM
    click.echo(f"Try: {path} --help", err=True)
