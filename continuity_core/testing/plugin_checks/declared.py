"""What a plugin declares: its options and its equality. Hooks and order were checked at registration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from continuity_core.loading.options import option_infos
from continuity_core.loading.printable import describe_exception, printable
from continuity_core.model.options import OptionInfo
from continuity_core.testing.plugin_checks.subject import Subject

_STRANGE: tuple[object, ...] = (
    "\x00\ud800",
    "",
    "-1",
    -1,
    10**400,
    True,
    1.5,
    [],
    [None],
    {},
    {"a": 1},
    object(),
)
"""What a file or a variable may say, and what it hardly can."""
_NEARLY = 0.85
"""How much a name resembles another to be taken for a misspelling of it, from 0 to 1."""


def declaration_problems(subject: Subject) -> Iterator[str]:
    """Everything about the class and its options that will trouble a user or the loader."""
    plugin = subject.registered.plugin
    if type(plugin).__eq__ is not object.__eq__:
        yield (
            f"the class {type(plugin).__name__} defines equality, and plugins are told apart by identity: "
            "with attrs or dataclasses, pass eq=False"
        )
    yield from _misspelt_neighbours(subject)
    options_class = getattr(plugin, "Options", None)
    if options_class is None:
        return
    defaults = options_class()
    for name, info in option_infos(options_class).items():
        yield from _option_problems(name, info, getattr(defaults, name))
    if _can_be_changed(defaults):
        yield (
            f"options of {options_class.__name__} can be changed after they were read: decorate the class "
            "with attrs.frozen(kw_only=True)"
        )


def _misspelt_neighbours(subject: Subject) -> Iterator[str]:
    """Names that nothing has, and that are nearly another's; any other may be that of an absent plugin."""
    order = subject.registered.order
    for name in (*order.runs_before, *order.runs_after):
        if name not in subject.known and (
            near := get_close_matches(name, subject.known, n=1, cutoff=_NEARLY)
        ):
            yield f'its order names "{name}", and no plugin is called so. Did you mean "{near[0]}"?'


def _option_problems(name: str, info: OptionInfo, default: Any) -> Iterator[str]:
    if not info.help.strip():
        yield f"the option {name} has no help: `continuity config` and the reference show it"
    try:
        again = info.read(default)
    except Exception as error:
        yield (
            f"the reader of the option {name} does not take its own result {printable(repr(default), 80)} "
            f"({describe_exception(error)}): values in code go through it as well"
        )
    else:
        if again != default:
            yield (
                f"the reader of the option {name} makes {printable(repr(again), 80)} of its own result "
                f"{printable(repr(default), 80)}: reading what was read must change nothing"
            )
    for value in _STRANGE:
        try:
            info.read(value)
        except (ValueError, TypeError):
            continue
        except Exception as error:
            yield (
                f"the reader of the option {name} raises {describe_exception(error)} for "
                f"{printable(repr(value), 60)}: raise ValueError with what is allowed; the user is shown it"
            )
            break
    yield from _takes_nan(name, info)


def _takes_nan(name: str, info: OptionInfo) -> Iterator[str]:
    try:
        value = info.read(math.nan)
    except Exception:
        return
    if isinstance(value, float) and math.isnan(value):
        yield f"the reader of the option {name} takes NaN, which no comparison bounds: refuse it"


def _can_be_changed(options: Any) -> bool:
    fields = list(option_infos(type(options)))
    if not fields:
        return False
    try:
        setattr(options, fields[0], getattr(options, fields[0]))
    except AttributeError:
        return False
    return True
