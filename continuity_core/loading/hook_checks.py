"""Whether a plugin's hooks are ones that the engine can call as specified."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import attrs
import pluggy

from continuity_core import hookspecs
from continuity_core.loading.errors import Refusal
from continuity_core.loading.printable import describe_exception, printable
from continuity_core.loading.suggesting import closest, did_you_mean

PREFIX = "continuity_"
"""Functions with this prefix are hooks and nothing else."""

HOOKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        name: tuple(inspect.signature(getattr(hookspecs, name)).parameters)
        for name in vars(hookspecs)
        if name.startswith(PREFIX)
    }
)
"""The specified hooks and their parameters."""

_PARAMETERS = frozenset(name for parameters in HOOKS.values() for name in parameters)
_NOT_GENERATORS = ("continuity_classify", "continuity_observe")
_ORDER_FLAGS = ("tryfirst", "trylast")
_WRAPPER_FLAGS = ("wrapper", "hookwrapper")
_KINDS = {
    inspect.Parameter.VAR_POSITIONAL: "collects positional arguments",
    inspect.Parameter.VAR_KEYWORD: "collects keyword arguments",
    inspect.Parameter.KEYWORD_ONLY: "is keyword-only",
}


@attrs.frozen(kw_only=True, eq=False)
class Attribute:
    """One public attribute of a plugin, and the options of its ``@hookimpl`` if it carries one."""

    name: str
    value: Any
    options: Mapping[str, Any] | None

    @property
    def hook(self) -> str:
        """The hook that it implements, if it is marked."""
        return (self.options or {}).get("specname") or self.name


def look_at(manager: pluggy.PluginManager, plugin: object, refusals: list[Refusal]) -> list[Attribute]:
    """Every public attribute of ``plugin``; one that raises is a refusal.

    A ``cached_property`` is not looked at: it is lazy on purpose.
    """
    try:
        names = [name for name in dir(plugin) if not name.startswith("_")]
    except (Exception, SystemExit) as error:
        refusals.append(_raises("dir() of it", error))
        return []
    found = []
    for name in names:
        static = inspect.getattr_static(plugin, name, None)
        if isinstance(static, functools.cached_property):
            continue
        try:
            value = getattr(plugin, name)
            options = manager.parse_hookimpl_opts(plugin, name)
        except (Exception, SystemExit) as error:
            if not (isinstance(static, MemberDescriptorType) and isinstance(error, AttributeError)):
                refusals.append(_raises(f"its attribute {name}", error))
            continue
        found.append(Attribute(name=name, value=value, options=dict(options) if options else None))
    return found


def hook_refusals(attributes: list[Attribute]) -> Iterator[Refusal]:
    """Everything about the hooks among ``attributes`` that does not fit the specification."""
    implemented: dict[str, str] = {}
    for attribute in attributes:
        if attribute.options is None:
            yield from _unmarked(attribute)
            continue
        hook = attribute.hook
        if hook not in HOOKS:
            yield _misspelt(hook)
            continue
        if hook in implemented:
            yield Refusal(
                f"{implemented[hook]} and {attribute.name} both implement {hook}",
                "Make them one function: what one call returns is one bundle.",
            )
        implemented[hook] = attribute.name
        yield from _flags(attribute)
        yield from _kind(attribute)
        yield from _parameters(attribute)


def no_hook_at_all(attributes: list[Attribute]) -> Refusal:
    """The refusal of a plugin in which nothing is marked."""
    for attribute in attributes:
        if inspect.isroutine(attribute.value) and PREFIX + attribute.name in HOOKS:
            mend = (
                f"Is {attribute.name} meant? Name it {PREFIX}{attribute.name} and decorate it with @hookimpl."
            )
            break
    else:
        mend = f"Decorate at least one of {', '.join(HOOKS)} with @hookimpl."
    return Refusal("it has no hook", mend)


def _raises(what: str, error: BaseException) -> Refusal:
    return Refusal(
        f"{what} raises when looked at ({describe_exception(error)})",
        "Make it readable as soon as the plugin is made, or a method, or start its name with an underscore.",
    )


def _misspelt(name: str) -> Refusal:
    near = closest(name, HOOKS) or closest(PREFIX + name, HOOKS)
    mend = f"Did you mean {near}?" if near else f"The hooks are {', '.join(HOOKS)}."
    return Refusal(f"{printable(name, 100)} is no hook of continuity", mend)


def _unmarked(attribute: Attribute) -> Iterator[Refusal]:
    name, value = attribute.name, attribute.value
    if not name.startswith(PREFIX) or isinstance(value, type | ModuleType):
        return
    if not inspect.isroutine(value):
        if callable(value) or (name in HOOKS and value is not None):
            yield Refusal(
                f"{name} is a {type(value).__name__}, no plain function or method: it would never be called",
                "Define it with def and decorate it with @hookimpl."
                if name in HOOKS
                else f"Give it a name without the prefix {PREFIX}: that one is kept for hooks.",
            )
        return
    others = _other_projects(value)
    if name not in HOOKS:
        refusal = _misspelt(name)
        yield Refusal(refusal.why, f"{refusal.mend} Other methods need a name without the prefix {PREFIX}.")
    elif others:
        yield Refusal(
            f"{name} is decorated with the hookimpl marker of another project ({', '.join(others)})",
            "Import it from here: from continuity_core import hookimpl.",
        )
    else:
        yield Refusal(f"{name} would never be called: it is not decorated", "Decorate it with @hookimpl.")


def _other_projects(function: Any) -> list[str]:
    own = getattr(function, "__dict__", None) or {}
    return sorted(
        name.removesuffix("_impl")
        for name, value in own.items()
        if name.endswith("_impl") and isinstance(value, dict)
    )


def _flags(attribute: Attribute) -> Iterator[Refusal]:
    options = attribute.options or {}
    for flag in _WRAPPER_FLAGS:
        if options.get(flag):
            yield Refusal(
                f"{attribute.name} is a wrapper ({flag}=True), and the chain has none",
                "Return decisions; what the plugins before it said is in its parameter proposal.",
            )
    for flag in _ORDER_FLAGS:
        if options.get(flag):
            yield Refusal(
                f"{attribute.name} asks for its place with {flag}=True",
                "Declare the place: order = Order(stage=..., runs_before=..., runs_after=...).",
            )


def _kind(attribute: Attribute) -> Iterator[Refusal]:
    function: Callable[..., object] = attribute.value
    if inspect.iscoroutinefunction(function):
        yield Refusal(
            f"{attribute.name} is a coroutine function, and hooks are synchronous",
            "Remove async; where it wants to wait, return a Wait: the engine does every await.",
        )
    elif inspect.isasyncgenfunction(function):
        yield Refusal(
            f"{attribute.name} is an async generator function, and hooks are synchronous",
            "Remove async; yielding decisions from a plain generator is fine.",
        )
    elif inspect.isgeneratorfunction(function) and attribute.hook in _NOT_GENERATORS:
        yield Refusal(
            f"{attribute.name} is a generator function, whose body would never run here",
            f"Use return: {attribute.hook} gives no list of decisions.",
        )


def _parameters(attribute: Attribute) -> Iterator[Refusal]:
    name, function = attribute.name, attribute.value
    specified = HOOKS[attribute.hook]
    shape = f"{attribute.hook}({', '.join(specified)})"
    try:
        if isinstance(function, MethodType):
            first = next(iter(inspect.signature(function.__func__).parameters), None)
            if first is None or first in _PARAMETERS:
                yield Refusal(f"{name} lacks its first parameter, self", f"Define it as a method of {shape}.")
                return
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        yield Refusal(
            f"the parameters of {name} cannot be read ({describe_exception(error)})", f"Use {shape}."
        )
        return
    for parameter in parameters:
        if parameter.kind in _KINDS:
            yield Refusal(
                f"parameter {parameter} of {name} {_KINDS[parameter.kind]}",
                f"Name what it needs of {shape}, as plain parameters.",
            )
        elif parameter.name not in specified:
            yield Refusal(
                f"{name} has an unknown parameter {parameter.name}",
                f"{did_you_mean(parameter.name, specified)} It is {shape}.",
            )
        elif parameter.default is not parameter.empty:
            yield Refusal(
                f"parameter {parameter.name} of {name} has a default, and would never be given a value",
                "Remove the default.",
            )
