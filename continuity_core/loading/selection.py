"""Which plugins are loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from continuity_core.loading.declaration_checks import PLUGIN_NAME
from continuity_core.loading.versions import Requirement, requirements
from continuity_core.model.options import Tighten, names, option

BUNDLED_DISTRIBUTION = "continuity-core"
REDACTION = "projection-redaction"
LOCAL_PLUGINS = "continuity-local"
"""What disables every plugin of a ``continuity_local.py``."""
PROTECTIONS: frozenset[str] = frozenset((REDACTION, "run-limits", BUNDLED_DISTRIBUTION))
"""What a found file cannot disable: without these more would be sent or spent, not less."""


def _names_or_all(value: object) -> tuple[str, ...] | None:
    return None if value is None else names(value)


@attrs.frozen
class NamedCode:
    """A plugin class that trusted configuration names: ``module:Class``, or ``name = module:Class``."""

    name: str
    target: str

    def __str__(self) -> str:
        return f"{self.name} = {self.target}"

    @classmethod
    def parse(cls, text: str) -> NamedCode:
        """Read it; without a name, it is the class's in small letters with hyphens."""
        name, equals, target = text.rpartition("=")
        module, colon, path = target.strip().partition(":")
        parts = [*module.split("."), *path.split(".")]
        if not colon or not all(part.isidentifier() for part in parts):
            raise ValueError(f'{text!r} names no class such as "package.module:Class"')
        name = name.strip() if equals else kebab_case(parts[-1])
        if not PLUGIN_NAME.fullmatch(name):
            raise ValueError(f"{name!r} in {text!r} is no plugin name: use small letters, digits and hyphens")
        return cls(name, target.strip())


def _named_code(value: object) -> tuple[NamedCode, ...]:
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    if not isinstance(value, Iterable):
        raise ValueError(f'takes a list such as ["package.module:Class"], not {value!r}')
    read = []
    for item in value:
        if isinstance(item, NamedCode):
            read.append(item)
        elif isinstance(item, str):
            read.append(NamedCode.parse(item))
        else:
            raise ValueError(f"takes a list of texts, and {item!r} is none")
    return tuple(dict.fromkeys(read))


def normal_name(name: str) -> str:
    """A name as packaging compares distributions: ``My_Plugin`` and ``my-plugin`` are one."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def kebab_case(name: str) -> str:
    """``MyHTTPPlugin`` → ``my-http-plugin``: the name of a plugin that says none."""
    letters: list[str] = []
    for index, letter in enumerate(name):
        starts_word = (
            letter.isupper()
            and index > 0
            and (not name[index - 1].isupper() or name[index + 1 : index + 2].islower())
        )
        if starts_word and letters[-1] != "-":
            letters.append("-")
        letters.append("-" if letter == "_" else letter.lower())
    return "".join(letters).strip("-")


@attrs.frozen(kw_only=True)
class Selection:
    """Which plugins are loaded; names are those of plugins or of distributions."""

    disable: tuple[str, ...] = option(
        (), read=names, tighten=Tighten.MORE, help="Plugins or distributions that are not even imported."
    )
    only: tuple[str, ...] | None = option(
        None,
        read=_names_or_all,
        help="The only plugins or distributions that are loaded; an empty list: projection-redaction alone.",
    )
    require: tuple[Requirement, ...] = option(
        (),
        read=requirements,
        tighten=Tighten.MORE,
        help='Plugins or distributions without which nothing starts, e.g. "name>=1.2,<2".',
    )
    load: tuple[NamedCode, ...] = option(
        (),
        read=_named_code,
        help='Plugin classes that no distribution declares, e.g. "package.module:Class".',
    )
