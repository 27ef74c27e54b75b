"""One call of a hook, looked at from all sides."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import attrs

from continuity_core.engine.chain import Link, isolated
from continuity_core.loading.printable import printable

_SHOWN = 300
"""Characters of a value in a message."""
_TIMINGS = 10
"""A call counts as slow if it was that often in a row: other work on the machine also takes time."""


@attrs.frozen(kw_only=True, eq=False)
class Looked:
    """What came of one call."""

    value: Any = None
    """What the hook said, read; ``None`` for no opinion."""
    problem: str | None = None
    slow: float | None = None
    """Seconds, where it took too long every time."""


@attrs.frozen(kw_only=True, eq=False)
class Caller:
    """Calls a hook of a plugin, and of its twin where there is one."""

    link: Link
    twin: Link | None
    read: Callable[[Link, object], Any]
    time_limit: float

    def look(self, *arguments: object) -> Looked:
        """Call it twice with the same arguments, and compare everything."""
        before = [repr(argument) for argument in arguments]
        plugin_before = inside(self.link.plugin.plugin)
        start = perf_counter()
        first = isolated(self.link, self.read, *arguments)
        seconds = perf_counter() - start
        if first is not None and first.faults:
            return Looked(problem=_about_fault(self.link.hook, first.faults[0].error))
        after = [repr(argument) for argument in arguments]
        if before != after:
            return Looked(problem=_about_change(self.link.hook, before, after))
        said = None if first is None else first.value
        for link, who in ((self.link, "a second time"), (self.twin, "by a second instance")):
            if link is None:
                continue
            again = isolated(link, self.read, *arguments)
            other = None if again is None else again.value
            if _plain(other) != _plain(said):
                return Looked(problem=_about_difference(self.link.hook, who, said, other))
        plugin_after = inside(self.link.plugin.plugin)
        if plugin_before != plugin_after:
            return Looked(problem=_about_state(self.link.hook, plugin_before, plugin_after))
        return Looked(value=said, slow=self._slow(seconds, arguments))

    def _slow(self, seconds: float, arguments: tuple[object, ...]) -> float | None:
        least = seconds
        for _ in range(_TIMINGS - 1):
            if least <= self.time_limit:
                return None
            start = perf_counter()
            isolated(self.link, self.read, *arguments)
            least = min(least, perf_counter() - start)
        return least if least > self.time_limit else None


def inside(plugin: object) -> dict[str, str]:
    """The attributes of an instance as text, by name."""
    names = list(getattr(plugin, "__dict__", ()))
    for owner in type(plugin).__mro__:
        slots = owner.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    return {name: repr(getattr(plugin, name, None)) for name in dict.fromkeys(names) if name != "__weakref__"}


def _plain(said: object) -> object:
    """A bundle as its decisions: the ranks of two loads do not matter."""
    return getattr(said, "decisions", said)


def _told(value: object) -> str:
    return "nothing" if value is None else printable(repr(_plain(value)), _SHOWN)


def _about_fault(hook: str, error: str) -> str:
    if error.startswith("SystemExit"):
        return f"{hook} ends the process ({error}): return Halt(reason, end_run=True) to end a run"
    if error.startswith(hook):
        return error
    return f"{hook} raises {error}: what it is shown may lack anything; return None for no opinion"


def _about_change(hook: str, before: list[str], after: list[str]) -> str:
    changed = next(place for place, text in enumerate(before) if text != after[place])
    return (
        f"{hook} changes what it is shown (its argument {changed + 1}): copy a value before you change it, "
        "and keep what has to last with Remember"
    )


def _about_difference(hook: str, who: str, said: object, other: object) -> str:
    return (
        f"{hook} says {_told(said)}, and asked {who} at the same boundary {_told(other)}: decide by what is "
        "shown alone. Use boundary.now for the time, Remember for what has to last, and no chance"
    )


def _about_state(hook: str, before: dict[str, str], after: dict[str, str]) -> str:
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return (
        f"{hook} changes the plugin itself ({', '.join(changed)}): one instance serves every run at once. "
        "Return Remember(value), and read it from boundary.run.memory"
    )
