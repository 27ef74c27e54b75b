"""From what the sources say to one options object: every mistake at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar

import attrs

from continuity_core.engine.durations import duration_or_unlimited, duration_text, parse_duration
from continuity_core.loading.errors import Problem
from continuity_core.loading.printable import describe_exception, printable, value_text
from continuity_core.loading.sources import Given, NotAccepted, Provenance, Source
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.model.options import OPTION_METADATA, UNLIMITED, OptionInfo, Tighten

T = TypeVar("T")

UNTRUSTED = "a file found by searching may only tighten"


class OptionsClassError(TypeError):
    """A class of options does not fit the contract: its author's mistake, not its user's."""


@attrs.frozen(kw_only=True)
class Resolved(Generic[T]):
    """An options object, and how it came about."""

    options: T
    """Made of the values that could be read, where there are problems."""
    provenance: Mapping[str, Provenance]
    """Of every option, in the order of the class."""
    problems: tuple[Problem, ...] = ()
    not_accepted: tuple[NotAccepted, ...] = ()


def option_infos(options_class: type) -> dict[str, OptionInfo]:
    """The options of a class by the name of its parameter; raises :class:`OptionsClassError`."""
    shown = printable(getattr(options_class, "__qualname__", repr(options_class)), 100)
    if not attrs.has(options_class):
        raise OptionsClassError(f"{shown} is no attrs class: decorate it with attrs.frozen(kw_only=True)")
    infos: dict[str, OptionInfo] = {}
    for field in attrs.fields(options_class):
        if not field.init:
            continue
        info = field.metadata.get(OPTION_METADATA)
        if not isinstance(info, OptionInfo) or field.default is attrs.NOTHING:
            raise OptionsClassError(
                f"{shown}.{field.name} is no option: declare it with option(default, read=..., help=...)"
            )
        infos[field.alias] = info
    return infos


def resolve(options_class: type[T], given: Mapping[str, Sequence[Given]], table: str = "") -> Resolved[T]:
    """Build ``options_class`` from what was ``given``, lowest precedence first.

    ``table`` is the path of the options in a file (``plugins.NAME``), for messages. A value that cannot be
    read is a problem also where a higher source outranks it. Raises :class:`OptionsClassError` where the
    class is at fault.
    """
    infos = option_infos(options_class)
    try:
        defaults = options_class()
    except Exception as error:
        raise OptionsClassError(
            f"the defaults of {options_class.__qualname__} are not valid ({describe_exception(error)})"
        ) from error
    problems: list[Problem] = []
    not_accepted: list[NotAccepted] = []
    fields = {field.alias: field.name for field in attrs.fields(options_class)}  # type: ignore[arg-type]
    provenance = {}
    for name, info in infos.items():
        value = getattr(defaults, fields[name])
        provenance[name] = Provenance(value=value, text=_text(value, info))
    for key in given:
        if key not in infos:
            problems.extend(_unknown(key, given[key], infos, table))
    for name, info in infos.items():
        for told in given.get(name, ()):
            _assign(name, info, told, table, provenance, problems, not_accepted)
    options = defaults
    changed = {name: told.value for name, told in provenance.items() if told.source is not Source.DEFAULT}
    try:
        options = options_class(**changed)
    except Exception as error:
        places = ", ".join(provenance[name].where for name in changed)
        problems.append(
            Problem(where=places or table, what=f"the options do not fit together: {_message(error)}")
        )
    return Resolved(
        options=options,
        provenance=provenance,
        problems=tuple(problems),
        not_accepted=tuple(not_accepted),
    )


def no_options(given: Mapping[str, Sequence[Given]], plugin: str) -> tuple[Problem, ...]:
    """The problems of options that were given to a plugin which takes none."""
    return tuple(
        Problem(where=value.where, what=f'plugin "{plugin}" takes no options', mend="Remove it.")
        for values in given.values()
        for value in values
    )


def _assign(
    name: str,
    info: OptionInfo,
    given: Given,
    table: str,
    provenance: dict[str, Provenance],
    problems: list[Problem],
    not_accepted: list[NotAccepted],
) -> None:
    try:
        value = info.read(given.value)
    except Exception as error:
        problems.append(Problem(where=given.where, what=_message(error)))
        return
    below = provenance[name].value
    if not given.source.trusted:
        if not is_tighter(value, below, info.tighten):
            not_accepted.append(
                NotAccepted(
                    key=f"{table}.{name}" if table else name,
                    value=value,
                    where=given.where,
                    why=_why_not(info.tighten),
                )
            )
            return
        if info.tighten is Tighten.MORE:
            value = tuple(dict.fromkeys((*below, *value)))
        if value == below:
            return
    provenance[name] = Provenance(
        value=value, text=_text(value, info), source=given.source, where=given.where
    )


def _text(value: object, info: OptionInfo) -> str:
    if value is None and (info.tighten is Tighten.LOWER or info.read is duration_or_unlimited):
        return UNLIMITED
    if isinstance(value, float) and info.read in (parse_duration, duration_or_unlimited):
        return duration_text(value)
    return value_text(value)


def is_tighter(value: Any, below: Any, tighten: Tighten | None) -> bool:
    """Whether a found file may put ``value`` in the place of ``below``; the same value always may."""
    if value == below:
        return True
    match tighten:
        case None:
            return False
        case Tighten.LOWER:
            return value is not None and (below is None or value < below)
        case Tighten.OFF:
            return value is False
        case Tighten.ON:
            return value is True
        case Tighten.MORE:
            return True
        case Tighten.LATER:
            enumeration: type[StrEnum] = type(below)
            members = list(enumeration)
            return members.index(value) > members.index(below)


def _why_not(tighten: Tighten | None) -> str:
    match tighten:
        case Tighten.LOWER:
            return f"{UNTRUSTED}: lower it"
        case Tighten.OFF:
            return f"{UNTRUSTED}: switch it off"
        case Tighten.ON:
            return f"{UNTRUSTED}: switch it on"
        case _:
            return UNTRUSTED


def _unknown(
    key: str, given: Iterable[Given], infos: Mapping[str, OptionInfo], table: str
) -> Iterable[Problem]:
    what = "unknown option" if table else "unknown key"
    for value in given:
        yield Problem(
            where=value.where, what=f'{what} "{printable(key, 100)}"', mend=did_you_mean(str(key), infos)
        )


def _message(error: Exception) -> str:
    return (
        printable(error)
        if isinstance(error, ValueError | TypeError) and str(error)
        else describe_exception(error)
    )
