"""Makes the tables of the reference from the code: ``python docs/generate.py`` writes them into the pages.

``<!-- generated: hooks -->`` and ``<!-- generated up to here -->`` say where one stands.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
from describing import classes, first_paragraph, functions, members, plain, signature, table

import continuity_core
from continuity_core import errors, hookspecs, testing
from continuity_core.engine.state import Outcome
from continuity_core.hosts import reference
from continuity_core.loading.selection import Selection
from continuity_core.model.boundary import Mode
from continuity_core.model.decisions import DECISIONS
from continuity_core.model.options import OPTION_METADATA, OptionInfo, Tighten

DOCS = Path(__file__).resolve().parent
BEGIN, END = "<!-- generated: {} -->", "<!-- generated up to here -->"
BLOCK = re.compile(rf"{BEGIN.format('([a-z-]+)')}\n.*?{END}", re.DOTALL)


def hooks() -> str:
    """Every hook with its signature and its whole docstring."""
    return "\n\n".join(
        f"### `{name}`\n\n```text\n{name}{signature(hook)}\n```\n\n{plain(inspect.getdoc(hook))}"
        for name, hook in vars(hookspecs).items()
        if name.startswith("continuity_")
    )


def decisions() -> str:
    """Every decision with its fields."""
    return classes(*DECISIONS)


TIGHTER = {
    None: "",
    Tighten.LOWER: "lower it",
    Tighten.OFF: "switch it off",
    Tighten.ON: "switch it on",
    Tighten.MORE: "add to it",
    Tighten.LATER: "choose a later one",
}


def options_of(*classes: type[Any]) -> str:
    """The options of classes, with defaults and help."""
    rows = []
    for field in (field for options in classes for field in attrs.fields(options)):
        info: OptionInfo = field.metadata[OPTION_METADATA]
        default = in_toml(field.default)
        rows.append(
            (f"`{field.name}`", f"`{default}`" if default else "", TIGHTER[info.tighten], plain(info.help))
        )
    return table(("key", "default", "a found file may", "meaning"), rows)


def in_toml(value: object) -> str:
    """A default as a file would say it; empty for what no file can say."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum | str):
        return f'"{value}"' if value else ""
    return "[]" if value == () else "" if value is None else str(value)


def plugin_options() -> str:
    """The options of every bundled plugin."""
    from importlib.metadata import entry_points

    parts = []
    for entry in sorted(entry_points(group="continuity"), key=lambda entry: entry.name):
        if entry.dist is None or entry.dist.name != "continuity-core":
            continue
        plugin = entry.load()
        options = getattr(plugin, "Options", None)
        shown = "It takes no options." if options is None else options_of(options)
        module = plain(sys.modules[plugin.__module__].__doc__)
        parts.append(f"## `{entry.name}`\n\n{module}\n\n{plain(plugin.__doc__)}\n\n{shown}")
    return "\n\n".join(parts)


def commands() -> str:
    """Every command and the commands under it, with usage, help and options."""
    import click

    from continuity_core.cli.application import application

    return "\n\n".join(_commands(application, click.Context(application, info_name="continuity")))


def _commands(group: Any, context: Any) -> Iterator[str]:
    import click

    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join((inner.command_path, *command.collect_usage_pieces(inner)))
        options = [
            (f"`{record[0]}`", plain(record[1]))
            for parameter in command.get_params(inner)
            if parameter.param_type_name == "option"
            and "--help" not in parameter.opts
            and (record := parameter.get_help_record(inner))
        ]
        shown = table(("option", ""), options) if options else ""
        parts = (
            f"## `{inner.command_path}`",
            f"```text\n{usage}\n```",
            inspect.cleandoc(command.help or ""),
            shown,
        )
        yield "\n\n".join(part for part in parts if part)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def template() -> str:
    """What ``continuity new-plugin`` writes into the ``pyproject.toml``, but for what tools need."""
    from continuity_core.cli.new_plugin.naming import names_of
    from continuity_core.cli.new_plugin.writing import rendered

    [text] = [text for path, text in rendered(names_of("refusal-retry")) if path.name == "pyproject.toml"]
    return f"```toml\n{text[text.index('[project]') : text.index('[tool.')].strip()}\n```"


def drawn() -> str:
    """The public strategies of hypothesis."""
    from continuity_core.testing import strategies

    own = [
        (name, member)
        for name, member in vars(strategies).items()
        if not name.startswith("_") and getattr(member, "__module__", "") == strategies.__name__
    ]
    rows = [
        (f"`{name}{signature(member).partition(' -> ')[0]}`", plain(first_paragraph(member.__doc__)))
        for name, member in own
    ]
    return table(("strategy", "what it draws"), rows)


UNDOCUMENTED = {
    "SPEC_VERSION": "The version of the hook specification, as a tuple of numbers.",
    "SYSTEM_CLOCK": "The clock that is used where none is given.",
    "Decision": "Any of the decisions.",
    "Edit": "An `Omit` or a `Replace`.",
    "__version__": "The version of this distribution.",
    "hookimpl": "Marks a method of a plugin as a hook.",
    "hookspec": "Marks the specification of a hook; plugins have no need of it.",
}
"""What has no docstring that could be read."""


def names(module: Any) -> str:
    """Every public name of a module."""
    rows = []
    for name in module.__all__:
        text = UNDOCUMENTED.get(name) or first_paragraph(getattr(module, name).__doc__)
        rows.append((f"`{name}`", plain(text)))
    return table(("name", ""), rows)


SHOWN_AT_BOUNDARIES = (
    *(
        "Boundary",
        "Turn",
        "Text",
        "Reasoning",
        "ToolCall",
        "ToolResult",
        "Usage",
        "Failure",
        "Cause",
        "Guidance",
    ),
    *("HostFacts", "RunView", "TurnFacts", "Proposal", "Event"),
)
SHOWN_IN_PROJECTIONS = ("Projection", "Entry", "EntryRef")
DECLARED = ("Order", "Budget")
DRIVER = ("Continuity", "Run", "Attempt", "BoundaryResult", "ProjectionResult", "Report", "RecordedWait")


def public_name(name: str) -> Any:
    """What the package calls so."""
    return getattr(continuity_core, name)


GENERATED: Mapping[str, Callable[[], str]] = {
    "hooks": hooks,
    "decisions": decisions,
    "causes": lambda: members(continuity_core.CauseKind),
    "events": lambda: members(continuity_core.EventKind),
    "outcomes": lambda: members(Outcome),
    "modes": lambda: members(Mode),
    "stop-reasons": lambda: members(continuity_core.StopReason),
    "stages": lambda: members(continuity_core.Stage),
    "core-options": lambda: options_of(continuity_core.Settings, Selection),
    "plugin-options": plugin_options,
    "commands": commands,
    "names": lambda: names(continuity_core),
    "testing-names": lambda: names(testing),
    "error-names": lambda: names(errors),
    "drawn": drawn,
    "session": lambda: classes(reference.SessionOutcome, reference.Tool, reference.AgentSession),
    "kit-functions": lambda: functions(testing.check_plugin, testing.play_async, testing.play),
    "kit-classes": lambda: classes(
        *(
            testing.Played,
            testing.PlayedRequest,
            testing.Resumed,
            testing.ScriptedModel,
            testing.VirtualClock,
        ),
        heading="##",
    ),
    "shown-at-boundaries": lambda: classes(*map(public_name, SHOWN_AT_BOUNDARIES)),
    "shown-in-projections": lambda: classes(*map(public_name, SHOWN_IN_PROJECTIONS)),
    "declared": lambda: classes(*map(public_name, DECLARED)),
    "driver": lambda: classes(*map(public_name, DRIVER), heading="##"),
    "template": template,
}


def marks(text: str) -> list[str]:
    """Which tables stand on a page."""
    return BLOCK.findall(text)


def filled(text: str) -> str:
    """A page with its tables as the code has them now."""
    return BLOCK.sub(lambda match: f"{BEGIN.format(match[1])}\n\n{GENERATED[match[1]]()}\n\n{END}", text)


def main() -> None:
    """Write the tables into every page that has a place for one."""
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        if (now := filled(text)) != text:
            page.write_text(now, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
