"""A group of commands each of which is imported only when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import attrs
import click

from continuity_core.cli.output import UserError
from continuity_core.loading.suggesting import did_you_mean


@attrs.frozen
class LazyCommand:
    """Where a command is, and what can be said of it without importing it."""

    target: str
    """``module:attribute`` of a click command."""
    help: str
    """What stands beside it in the group's help."""
    extra: str = "cli"
    """The extra of the distribution that brings what it imports."""


class LazyGroup(click.Group):
    """Its commands are known by a table; ``--help`` and ``--version`` import none of them."""

    def __init__(self, *arguments: Any, lazy: Mapping[str, LazyCommand], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = self.lazy.get(cmd_name)
        if known is None:
            return None
        module, _, attribute = known.target.partition(":")
        try:
            command: click.Command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise missing_package(error, cmd_name, known.extra) from error
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises a usage error that says which command may have been meant."""
        if not ctx.resilient_parsing and args[0] not in self.lazy and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}. {did_you_mean(args[0], self.lazy)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.lazy[name].help) for name in self.list_commands(ctx)])


def missing_package(error: ModuleNotFoundError, command: str, extra: str) -> Exception:
    """What to raise where a command lacks a package: ``error`` itself if the missing module is ours."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "continuity_core", "continuity_plugins"):
        return error
    return UserError(
        f"continuity {command} needs the package {package}", f"pip install 'continuity-core[{extra}]'"
    )
