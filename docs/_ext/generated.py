"""The tables of the reference, made from the code: ``<!-- generated: hooks -->`` says where one stands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

import continuity_core
from continuity_core import hookspecs
from continuity_core.engine.state import Outcome
from continuity_core.loading.selection import Selection
from continuity_core.model.boundary import Mode
from continuity_core.model.decisions import DECISIONS
from continuity_core.model.options import OPTION_METADATA, OptionInfo

MARK = re.compile(r"<!-- generated: ([a-z-]+) -->")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(list(header)), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def field_docs(owner: type[Any]) -> Mapping[str, str]:
    """The strings under the fields of a class, by field."""
    source = inspect.getsource(owner)
    found: dict[str, str] = {}
    field = None
    for line in source.splitlines():
        if match := re.match(r"    (\w+)\s*(?:: |=)", line):
            field = match[1]
        elif (match := re.match(r'    """(.*?)(?:""")?$', line)) and field is not None:
            found.setdefault(field, match[1])
            field = None
    return found


def hooks() -> str:
    """Every hook with its signature and its whole docstring."""
    parts = []
    for name, hook in vars(hookspecs).items():
        if not name.startswith("continuity_"):
            continue
        signature = inspect.signature(hook)
        parts.append(f"### `{name}`\n\n```text\n{name}{signature}\n```\n\n{plain(inspect.getdoc(hook))}")
    return "\n\n".join(parts)


def plain(text: str | None) -> str:
    """A docstring without the roles of another markup."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", (text or "").replace("``", "`"))


def decisions() -> str:
    """Every decision with its fields."""
    parts = []
    for decision in DECISIONS:
        docs = field_docs(decision)
        fields = [
            (f"`{field.name}`", f"`{field.type}`", plain(docs.get(field.name, "")))
            for field in attrs.fields(decision)
        ]
        parts.append(
            f"### `{decision.__name__}`\n\n{plain(first_paragraph(decision.__doc__))}\n\n"
            + table(("field", "type", ""), fields)
        )
    return "\n\n".join(parts)


def members(kinds: type[Any]) -> str:
    """The members of an enumeration, with the string under each."""
    docs = field_docs(kinds)
    return table(("value", ""), ((f"`{kind.value}`", docs.get(kind.name, "")) for kind in kinds))


def options_of(options: type[Any]) -> str:
    """The options of a class, with defaults and help."""
    rows = []
    for field in attrs.fields(options):
        info: OptionInfo = field.metadata[OPTION_METADATA]
        tighten = "" if info.tighten is None else info.tighten.value
        rows.append((f"`{field.name}`", f"`{field.default!r}`", tighten, info.help))
    return table(("key", "default", "a found file may", ""), rows)


def core_options() -> str:
    """The core's options and those that select plugins."""
    return options_of(continuity_core.Settings) + "\n\n" + options_of(Selection)


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
        parts.append(f"### `{entry.name}`\n\n{plain(first_paragraph(plugin.__doc__))}\n\n{shown}")
    return "\n\n".join(parts)


def commands() -> str:
    """Every command with what ``--help`` says."""
    import click

    from continuity_core.cli.application import application

    parts = []
    context = click.Context(application, info_name="continuity")
    for name in application.list_commands(context):
        command = application.get_command(context, name)
        if command is None:
            continue
        shown = command.get_help(click.Context(command, info_name=f"continuity {name}", max_content_width=96))
        parts.append(f"## `continuity {name}`\n\n```text\n{shown}\n```")
    return "\n\n".join(parts)


def names() -> str:
    """Every public name of the package."""
    rows = []
    for name in continuity_core.__all__:
        value = getattr(continuity_core, name)
        documented = inspect.isclass(value) or inspect.isfunction(value)
        rows.append((f"`{name}`", plain(first_paragraph(value.__doc__)) if documented else ""))
    return table(("name", ""), rows)


GENERATED: Mapping[str, Callable[[], str]] = {
    "hooks": hooks,
    "decisions": decisions,
    "causes": lambda: members(continuity_core.CauseKind),
    "events": lambda: members(continuity_core.EventKind),
    "outcomes": lambda: members(Outcome),
    "modes": lambda: members(Mode),
    "stages": lambda: members(continuity_core.Stage),
    "core-options": core_options,
    "plugin-options": plugin_options,
    "commands": commands,
    "names": names,
}


def filled(text: str) -> str:
    """A page with its tables."""
    return MARK.sub(lambda match: GENERATED[match[1]](), text)


def setup(app: Any) -> dict[str, bool]:
    """Fill in the tables when Sphinx reads a page."""

    def read(app: Any, name: str, source: list[str]) -> None:
        source[0] = filled(source[0])

    app.connect("source-read", read)
    return {"parallel_read_safe": True}
