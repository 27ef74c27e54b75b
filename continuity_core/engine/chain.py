"""Calling the plugins one after another, so that no mistake of theirs reaches the host."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import attrs
import pluggy

from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.model.cause import Cause
from continuity_core.model.decisions import DECISIONS, EDITS, Decision
from continuity_core.model.proposal import Bundle, PluginFault

MAX_DECISIONS = 256
"""How many decisions one hook call may return."""

SLOW_CALL = 0.05
"""Seconds after which a hook call counts as slow: half of the delay that a person notices (0.1 s)."""

BUNDLED_READER = "provider-errors"
"""The plugin that is asked for a cause last."""

ERROR_TEXT_LIMIT = 500


@attrs.frozen(kw_only=True)
class SlowCall:
    """A hook call that took longer than :data:`SLOW_CALL`."""

    plugin: str
    hook: str
    seconds: float


@attrs.frozen(kw_only=True, eq=False)
class Link:
    """One plugin's implementation of one hook."""

    plugin: RegisteredPlugin
    rank: int
    hook: str
    call: Callable[..., object]
    """The implementation, taking all of the specification's arguments in order."""
    name: str = attrs.field(init=False, default=attrs.Factory(lambda self: self.plugin.name, takes_self=True))
    """The plugin's."""


class WrongResultError(TypeError):
    """A hook returned what its specification does not allow."""


class TooManyDecisionsError(ValueError):
    """A hook returned more decisions than one call may."""


class CallResult(NamedTuple):
    """What came of one call: a value, or a fault."""

    value: Any = None
    faults: tuple[PluginFault, ...] = ()
    slow: tuple[SlowCall, ...] = ()


@attrs.frozen(kw_only=True, eq=False)
class Chain:
    """The links of each hook, in chain order; ``classify`` has the bundled reader last."""

    plugins: tuple[RegisteredPlugin, ...] = ()
    classify: tuple[Link, ...] = ()
    turn_ended: tuple[Link, ...] = ()
    before_settle: tuple[Link, ...] = ()
    project: tuple[Link, ...] = ()
    observe: tuple[Link, ...] = ()
    by_name: Mapping[str, RegisteredPlugin] = attrs.field(
        init=False,
        default=attrs.Factory(lambda self: {plugin.name: plugin for plugin in self.plugins}, takes_self=True),
    )

    @classmethod
    def of(cls, manager: pluggy.PluginManager, plugins: Sequence[RegisteredPlugin]) -> Chain:
        """Read the implementations out of ``manager`` for ``plugins``, which are in chain order."""
        ranks = {id(entry.plugin): rank for rank, entry in enumerate(plugins)}

        def links(hook: str) -> tuple[Link, ...]:
            caller: pluggy.HookCaller = getattr(manager.hook, f"continuity_{hook}")
            assert caller.spec is not None
            parameters = caller.spec.argnames
            found = [
                Link(
                    plugin=plugins[ranks[id(impl.plugin)]],
                    rank=ranks[id(impl.plugin)],
                    hook=f"continuity_{hook}",
                    call=_taking_all(impl.function, impl.argnames, parameters),
                )
                for impl in caller.get_hookimpls()
                if id(impl.plugin) in ranks
            ]
            return tuple(sorted(found, key=lambda link: link.rank))

        classify = links("classify")
        return cls(
            plugins=tuple(plugins),
            classify=tuple(sorted(classify, key=lambda link: link.name == BUNDLED_READER)),
            turn_ended=links("turn_ended"),
            before_settle=links("before_settle"),
            project=links("project"),
            observe=links("observe"),
        )

    def without(self, names: frozenset[str]) -> Chain:
        """The chain without these plugins; their ranks stay as they are."""
        if not names:
            return self

        def rest(links: tuple[Link, ...]) -> tuple[Link, ...]:
            return tuple(link for link in links if link.name not in names)

        return Chain(
            plugins=tuple(plugin for plugin in self.plugins if plugin.name not in names),
            classify=rest(self.classify),
            turn_ended=rest(self.turn_ended),
            before_settle=rest(self.before_settle),
            project=rest(self.project),
            observe=rest(self.observe),
        )


def _taking_all(
    function: Callable[..., object], taken: Sequence[str], parameters: Sequence[str]
) -> Callable[..., object]:
    """The function as one that takes every parameter of its specification."""
    if tuple(taken) == tuple(parameters):
        return function
    places = tuple(parameters.index(name) for name in taken)
    return lambda *arguments: function(*(arguments[place] for place in places))


def isolated(link: Link, read: Callable[[Link, object], Any], *arguments: object) -> CallResult | None:
    """Call a link and read its result; every mistake becomes a fault. ``None``: nothing to tell.

    ``CancelledError``, ``KeyboardInterrupt`` and other exceptions outside ``Exception`` pass through, but
    for ``SystemExit``: a plugin does not end the process.
    """
    start = perf_counter()
    value: Any = None
    faults: tuple[PluginFault, ...] = ()
    try:
        result = link.call(*arguments)
        if result is not None:
            value = read(link, result)
    except WrongResultError as error:
        faults = (_fault(link, str(error), disables=True),)
    except (Exception, SystemExit) as error:
        faults = (_fault(link, _describe(error)),)
    seconds = perf_counter() - start
    if seconds > SLOW_CALL:
        slow = SlowCall(plugin=link.name, hook=link.hook, seconds=seconds)
        return CallResult(value, faults, (slow,))
    return None if value is None and not faults else CallResult(value, faults)


def read_bundle(link: Link, result: object) -> Bundle | None:
    """Read what a deciding hook returned; ``None`` where it has no opinion."""
    return _read(link, result, DECISIONS, "decisions")


def edits_reader(entries: int) -> Callable[[Link, object], Bundle | None]:
    """Make a reader of what ``continuity_project`` returned: edits only, at most one an entry."""

    def read_edits(link: Link, result: object) -> Bundle | None:
        return _read(link, result, EDITS, "edits (Omit, Replace)", limit=max(entries, MAX_DECISIONS))

    return read_edits


def read_cause(link: Link, result: object) -> Cause | None:
    """Read what ``continuity_classify`` returned."""
    if isinstance(result, Cause):
        return result
    raise _wrong(link, result, "a Cause or None")


def read_nothing(link: Link, result: object) -> None:
    """Ignore what ``continuity_observe`` returned, but name a coroutine: it would never run."""
    if inspect.isawaitable(result):
        raise _wrong(link, result, "nothing")


def _read(
    link: Link,
    result: object,
    allowed: tuple[type[Decision], ...],
    meant: str,
    limit: int = MAX_DECISIONS,
) -> Bundle | None:
    decisions: tuple[object, ...]
    if type(result) in allowed:
        decisions = (result,)
    else:
        decisions = tuple(islice(_iterate(link, result, meant), limit + 1))
        if len(decisions) > limit:
            raise TooManyDecisionsError(f"{link.hook} returned more than {limit} {meant}")
        for decision in decisions:
            if type(decision) not in allowed:
                raise _wrong(link, decision, meant)
    if not decisions:
        return None
    return Bundle(link.name, link.rank, decisions)  # type: ignore[arg-type]


def _iterate(link: Link, result: object, meant: str) -> Iterator[object]:
    if isinstance(result, list):
        return iter(result)
    if isinstance(result, str | bytes | dict) or inspect.isawaitable(result):
        raise _wrong(link, result, meant)
    try:
        return iter(result)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise _wrong(link, result, meant) from None


def _wrong(link: Link, result: object, meant: str) -> WrongResultError:
    if inspect.iscoroutine(result):
        result.close()
        return WrongResultError(
            f"{link.hook} returned a coroutine: hooks are plain functions that return {meant}; "
            "remove `async`, and return a Wait where it wants to wait"
        )
    return WrongResultError(f"{link.hook} returned {type(result).__name__}: it must return {meant}, or None")


def _fault(link: Link, error: str, *, disables: bool = False) -> PluginFault:
    return PluginFault(plugin=link.name, hook=link.hook, error=error, disables=disables)


def _describe(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be read)"
    return f"{type(error).__name__}: {text}"[:ERROR_TEXT_LIMIT]
