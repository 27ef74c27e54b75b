"""Classes, functions and enumerations as Markdown, from their signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from continuity_core import testing
from continuity_core.hosts.reference import AgentSession


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(list(header)), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split()).removesuffix(":")


def field_docs(owner: type[Any]) -> Mapping[str, str]:
    """The strings under the fields of a class, by field; their line ends are blanks."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for member, following in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            targets = member.targets if isinstance(member, ast.Assign) else [getattr(member, "target", None)]
            if isinstance(targets[0], ast.Name):
                found[targets[0].id] = " ".join(str(following.value.value).split())
    return found


def signature(function: Callable[..., Any]) -> str:
    """The parameters as they are written; a default that is no plain value is an ellipsis."""
    shown = inspect.signature(function)
    parameters = [
        each
        if each.default is each.empty or isinstance(each.default, str | int | None) or _of_texts(each.default)
        else each.replace(default=_ELLIPSIS)
        for each in shown.parameters.values()
        if each.name not in ("self", "cls")
    ]
    return re.sub(r"""(: |-> )(['"])(.*?)\2""", r"\1\3", str(shown.replace(parameters=parameters)))


def _of_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(type(part) is str for part in value)


class _Ellipsis:
    def __repr__(self) -> str:
        return "…"


_ELLIPSIS = _Ellipsis()


def plain(text: str | None) -> str:
    """A docstring without its indentation, the roles and the literal blocks of another markup."""
    words = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", inspect.cleandoc(text or "").replace("``", "`"))
    return re.sub(r"::\n\n((?: {4}.*(?:\n|$)|\n)+)", _fenced, words)


def _fenced(match: re.Match[str]) -> str:
    return f":\n\n```py\n{textwrap.dedent(match[1]).strip()}\n```\n\n"


def classes(*shown: type[Any], heading: str = "###") -> str:
    """Classes with their fields and properties in tables, and their methods."""
    parts = []
    for owner in shown:
        parts += [f"{heading} `{owner.__name__}`", plain(owner.__doc__)]
        if owner in MADE_BY_USERS:
            parts.append(f"```text\n{owner.__name__}{signature(owner.__init__)}\n```".replace(" -> None", ""))
        parts += [values(owner), methods(owner)]
    return "\n\n".join(part for part in parts if part)


MADE_BY_USERS = (testing.ScriptedModel, testing.VirtualClock, AgentSession)
"""Classes that are no attrs classes, and whose parameters are told."""


def values(owner: type[Any]) -> str:
    """The fields and the properties of a class, the inherited ones too."""
    docs = field_docs(owner)
    rows = [
        (f"`{field.name}`", f"`{field.type}`", plain(docs.get(field.name)))
        for field in (attrs.fields(owner) if attrs.has(owner) else ())
        if not field.name.startswith("_")
    ]
    for name, member in public(owner):
        if isinstance(member, property) and member.fget is not None:
            kind = inspect.signature(member.fget).return_annotation
            rows.append((f"`{name}`", f"`{kind}`", plain(first_paragraph(member.__doc__))))
    return table(("", "type", ""), rows) if rows else ""


def methods(owner: type[Any]) -> str:
    """The methods of a class, those that make one of it first."""
    found: list[tuple[bool, str, Any]] = [
        (isinstance(member, classmethod), name, getattr(member, "__func__", member))
        for name, member in public(owner)
        if (inspect.isfunction(member) or isinstance(member, classmethod)) and member.__doc__
    ]
    return "\n".join(
        f"- `{owner.__name__ + '.' if makes else ''}{name}{signature(function)}`\n\n"
        f"{textwrap.indent(plain(function.__doc__), '  ')}\n"
        for makes, name, function in sorted(found, key=lambda each: not each[0])
    ).rstrip()


def public(owner: type[Any]) -> Iterator[tuple[str, Any]]:
    """The public members of a class and its bases, in the order in which they are written."""
    members = {name: member for base in reversed(owner.__mro__[:-1]) for name, member in vars(base).items()}
    return ((name, member) for name, member in members.items() if not name.startswith("_"))


def members(kinds: type[Any]) -> str:
    """The members of an enumeration, with the string under each."""
    docs = field_docs(kinds)
    return table(("value", ""), ((f"`{kind.value}`", plain(docs.get(kind.name))) for kind in kinds))


def functions(*shown: Callable[..., Any]) -> str:
    """Functions with their parameters and their whole docstrings."""
    return "\n\n".join(
        f"## `{function.__name__}`\n\n```text\n{function.__name__}{signature(function)}\n```\n\n"
        f"{plain(function.__doc__)}"
        for function in shown
    )
