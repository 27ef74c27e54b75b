"""Where configuration comes from, lowest precedence first, and whom of these to trust."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs

KeyPath: TypeAlias = tuple[str, ...]
"""A key and the tables that it lies in, outermost first."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NO_VARIABLES: Mapping[KeyPath, str] = MappingProxyType({})


class Source(StrEnum):
    """The sources, each outranked by those after it."""

    DEFAULT = "default"
    PROJECT = "the project's file"
    USER = "the user's file"
    NAMED = "the named file"
    ENVIRONMENT = "the environment"
    COMMAND_LINE = "the command line"
    CODE = "code"

    @property
    def trusted(self) -> bool:
        """Whether it may do more than tighten: a file that was merely found may not."""
        return self is not Source.PROJECT


@attrs.frozen(kw_only=True)
class Given:
    """One value as one source gives it, unread."""

    value: Any
    source: Source
    where: str
    """The file and the key's path in it, the variable's name, or the key's path."""


@attrs.frozen(kw_only=True)
class Provenance:
    """A value in force, and where it was said."""

    value: Any
    text: str
    """The value for people, fit for a terminal."""
    source: Source = Source.DEFAULT
    where: str = ""
    """The file and key, or the variable; empty for a default."""

    def __str__(self) -> str:
        return f"{self.source.value} ({self.where})" if self.where else self.source.value


@attrs.frozen(kw_only=True)
class NotAccepted:
    """What a file that was merely found says and may not say, and why."""

    key: str
    value: Any
    where: str
    why: str


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    """The tables copied, so that a later change of the caller's changes nothing here."""
    return {key: _copy(value) if isinstance(value, Mapping) else value for key, value in table.items()}


@attrs.frozen(kw_only=True)
class Layer:
    """All that one source says, as nested tables."""

    source: Source
    table: Mapping[str, Any] = attrs.field(converter=_copy)
    file: str = ""
    """Path of the file, where it is one."""
    variables: Mapping[KeyPath, str] = _NO_VARIABLES
    """The variables of the environment that the keys were read from."""

    def where(self, *path: str) -> str:
        """How messages name the place of a key."""
        if path in self.variables:
            return self.variables[path]
        key = dotted(path)
        return f"{self.file}: {key}" if self.file else f"{self.source.value}: {key}"

    def given(self, *path: str) -> Given:
        """The value at ``path``, which must be there."""
        value: Any = self.table
        for key in path:
            value = value[key]
        return Given(value=value, source=self.source, where=self.where(*path))

    @property
    def names_code(self) -> bool:
        """Whether ``plugins`` is a list of classes, as ``load`` is, and not a table of options."""
        plugins = self.table.get("plugins")
        return isinstance(plugins, list | tuple) and any(":" in str(item) for item in plugins)

    def plugin_tables(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The plugins that options are given for, each with its table."""
        tables = self.table.get("plugins", {})
        if isinstance(tables, Mapping):
            for name, table in tables.items():
                if isinstance(table, Mapping):
                    yield name, table


def dotted(path: KeyPath) -> str:
    """A key's path as TOML writes it."""
    return ".".join(part if _BARE_KEY.fullmatch(part) else repr(part) for part in map(str, path))
