"""The order of the chain: stages, inside a stage what the plugins ask for, then their names."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.errors import OrderError, origin
from continuity_core.model.order import Stage


def in_chain_order(plugins: Sequence[RegisteredPlugin]) -> tuple[RegisteredPlugin, ...]:
    """``plugins`` in chain order; an order by name that fulfils every constraint stays as it is.

    A constraint on a plugin that is not there counts for nothing. Raises :class:`OrderError` where one
    contradicts the stages, or where they go round in a circle.
    """
    by_name = {plugin.name: plugin for plugin in plugins}
    after = _constraints(by_name)
    ordered: list[RegisteredPlugin] = []
    for stage in Stage:
        members = sorted(name for name, plugin in by_name.items() if plugin.order.stage is stage)
        ordered.extend(by_name[name] for name in _in_stage(members, after))
    return tuple(ordered)


def _constraints(by_name: Mapping[str, RegisteredPlugin]) -> Mapping[str, set[str]]:
    """For every plugin the names of those of its stage that it runs after."""
    after: dict[str, set[str]] = {name: set() for name in by_name}
    for plugin in by_name.values():
        order = plugin.order
        pairs = [(plugin.name, later) for later in order.runs_before]
        pairs += [(earlier, plugin.name) for earlier in order.runs_after]
        for first, second in pairs:
            if first not in by_name or second not in by_name:
                continue
            if by_name[first].order.stage is by_name[second].order.stage:
                after[second].add(first)
            elif by_name[first].order.stage.rank > by_name[second].order.stage.rank:
                raise _contradiction(plugin, by_name[second if plugin.name == first else first])
    return after


def _contradiction(plugin: RegisteredPlugin, other: RegisteredPlugin) -> OrderError:
    asks = "runs_before" if other.name in plugin.order.runs_before else "runs_after"
    stages = ", ".join(stage.value for stage in Stage)
    return OrderError(
        f"{origin(plugin.name, plugin.distribution, plugin.version)} of stage {plugin.order.stage.value} "
        f'asks for {asks} "{other.name}" of stage {other.order.stage.value}, but the stages run in the '
        f"order {stages}. "
        f'Drop the constraint, change the plugin\'s stage, or disable = ["{plugin.name}"].'
    )


def _in_stage(members: Sequence[str], after: Mapping[str, set[str]]) -> list[str]:
    """Kahn's algorithm; of all that may come next, the first by name does."""
    missing = {name: len(after[name]) for name in members}
    before: dict[str, list[str]] = {name: [] for name in members}
    for name in members:
        for earlier in after[name]:
            before[earlier].append(name)
    ready = [name for name in members if not missing[name]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        name = heapq.heappop(ready)
        ordered.append(name)
        for later in before[name]:
            missing[later] -= 1
            if not missing[later]:
                heapq.heappush(ready, later)
    if len(ordered) < len(members):
        cycle = _cycle({name for name in members if missing[name]}, after)
        raise OrderError(
            f"the plugins' order goes round in a circle: {' -> '.join(cycle)} (each runs before the next). "
            "Disable one of them, or have its author drop a constraint."
        )
    return ordered


def _cycle(stuck: set[str], after: Mapping[str, set[str]]) -> list[str]:
    """One cycle among ``stuck``, whose members all wait for another; the first by name begins and ends it."""
    path = [min(stuck)]
    while True:
        earlier = min(after[path[-1]] & stuck)
        if earlier in path:
            cycle = path[path.index(earlier) :][::-1]
            start = cycle.index(min(cycle))
            return [*cycle[start:], *cycle[:start], cycle[start]]
        path.append(earlier)
