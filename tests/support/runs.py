"""Turns, plugins and a tiny host for tests of the engine: no HTTP and no time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import attrs
from continuity_plugins.length_resume import LengthResume
from continuity_plugins.partial_checkpoint import PartialCheckpoint
from continuity_plugins.projection_redaction import ProjectionRedaction
from continuity_plugins.run_limits import RunLimits
from continuity_plugins.stream_recovery import StreamRecovery
from continuity_plugins.tool_tail import ToolTail
from continuity_plugins.usage_limit_wait import UsageLimitWait

from continuity_core import (
    Boundary,
    BoundaryResult,
    Cause,
    CauseKind,
    Continuity,
    Entry,
    EntryRef,
    Event,
    Failure,
    HostFacts,
    Run,
    RunView,
    Settings,
    StopReason,
    SyncRun,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    cause_of_turn,
    hookimpl,
)
from continuity_core.loading.plugin_set import PluginSet
from continuity_core.testing.clocks import VirtualClock

_numbers = count(1)


def ref(name: str) -> EntryRef:
    """The reference of a test entry."""
    return EntryRef.stable(name)


def answer(text: str = "done", **facts: Any) -> Turn:
    """A turn that ended in text."""
    return _turn(StopReason.STOP, (Text(text),), facts)


def cut(text: str = "half an ans", **facts: Any) -> Turn:
    """A turn that was cut at the output cap."""
    return _turn(StopReason.LENGTH, (Text(text),) if text else (), facts)


def calls(*names: str, answered: bool = True, stop: StopReason = StopReason.TOOL_USE, **facts: Any) -> Turn:
    """A turn that calls tools."""
    number = next(_numbers)
    blocks = tuple(ToolCall(f"call-{number}-{place}", name, "{}") for place, name in enumerate(names))
    if answered:
        facts.setdefault(
            "results",
            tuple(ToolResult(call_id=call.id, entry=ref(f"result-{call.id}")) for call in blocks),
        )
    return _turn(stop, blocks, facts)


def failed(kind: CauseKind = CauseKind.TRANSIENT, **facts: Any) -> Turn:
    """A turn that failed; its kind travels in the failure's code, where ``KindReader`` finds it."""
    failure = Failure(message=f"it failed: {kind}", code=kind.value, **facts.pop("failure", {}))
    return _turn(StopReason.ERROR, facts.pop("blocks", ()), {"failure": failure, **facts})


def _turn(stop: StopReason, blocks: tuple[Any, ...], facts: dict[str, Any]) -> Turn:
    facts.setdefault("entry", ref(f"turn-{next(_numbers)}"))
    facts.setdefault("usage", Usage(output_tokens=64))
    return Turn(stop_reason=stop, blocks=blocks, **facts)


@attrs.frozen(eq=False)
class KindReader:
    """Reads the cause out of the failure's code; ``guidance`` goes with every failed turn."""

    name = "provider-errors"
    guidance: tuple[Any, ...] = ()

    @hookimpl
    def continuity_classify(self, turn: Turn, run: RunView) -> Cause | None:
        if turn.failure is None or turn.failure.code is None:
            return cause_of_turn(turn)
        return Cause(kind=CauseKind(turn.failure.code), why="as the test says", guidance=self.guidance)


def bundled(*, guidance: tuple[Any, ...] = (), without: Iterable[str] = (), **options: Any) -> list[object]:
    """The bundled plugins, with options by class name in snake case."""
    classes: Mapping[str, type[Any]] = {
        "usage_limit_wait": UsageLimitWait,
        "length_resume": LengthResume,
        "stream_recovery": StreamRecovery,
        "partial_checkpoint": PartialCheckpoint,
        "tool_tail": ToolTail,
        "run_limits": RunLimits,
    }
    plugins: list[object] = [KindReader(guidance), ProjectionRedaction()]
    for name, plugin in classes.items():
        if name not in without:
            given = options.get(name)
            plugins.append(plugin() if given is None else plugin(plugin.Options(**given)))
    return plugins


def make(
    plugins: Iterable[object] | None = None,
    *,
    clock: VirtualClock | None = None,
    on_event: Any = None,
    **settings: Any,
) -> Continuity:
    """A Continuity with these plugins (default: the bundled ones) on a virtual clock."""
    chosen = bundled() if plugins is None else list(plugins)
    return Continuity(
        PluginSet.of(*chosen), Settings(**settings), clock=clock or VirtualClock(), on_event=on_event
    )


@attrs.define(eq=False)
class Played:
    """What a tiny host saw."""

    results: list[tuple[str, BoundaryResult]] = attrs.field(factory=list)
    turns: int = 0

    @property
    def resumes(self) -> int:
        return sum(result.resume for _, result in self.results)


async def play(run: Run, turns: Sequence[Turn], host: HostFacts | None = None) -> Played:
    """Give the run these turns as a host without native recovery would, until it settles or they are out."""
    facts, played = host or HostFacts(), Played()
    for turn in turns:
        played.turns += 1
        result = await run.turn_ended(turn, facts)
        played.results.append(("turn_ended", result))
        goes_on = result.resume or (bool(turn.executable_calls) and not result.end_run)
        if not goes_on and not run.aborted:
            result = await run.before_settle(facts)
            played.results.append(("before_settle", result))
            goes_on = result.resume
        if not goes_on:
            break
    return played


def play_sync(run: SyncRun, turns: Sequence[Turn], host: HostFacts | None = None) -> Played:
    """The same for a synchronous run."""
    facts, played = host or HostFacts(), Played()
    for turn in turns:
        played.turns += 1
        result = run.turn_ended(turn, facts)
        played.results.append(("turn_ended", result))
        goes_on = result.resume or (bool(turn.executable_calls) and not result.end_run)
        if not goes_on and not run.aborted:
            result = run.before_settle(facts)
            played.results.append(("before_settle", result))
            goes_on = result.resume
        if not goes_on:
            break
    return played


def history(*turns: Turn) -> list[Entry]:
    """The entries that a host keeps for these turns, after a user's request."""
    entries = [Entry(ref=ref("user"), role="user", text="Finish the task")]
    for turn in turns:
        assert turn.entry is not None
        entries.append(
            Entry(
                ref=turn.entry,
                role="assistant",
                text=turn.text,
                calls=tuple(call.id for call in turn.tool_calls),
                stop_reason=turn.stop_reason,
            )
        )
        entries.extend(
            Entry(ref=result.entry, role="tool", text="a result", answers=(result.call_id,))
            for result in turn.results
            if result.entry is not None
        )
    return entries


def waits_of(run: Run | SyncRun) -> list[float]:
    """The lengths of the waits that began in the run."""
    return [wait.seconds for wait in run.report().waits]


def boundary_events(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    """The data of the boundary events among these."""
    return [event.data for event in events if event.kind == "boundary"]


__all__ = [
    "Boundary",
    "KindReader",
    "Played",
    "answer",
    "boundary_events",
    "bundled",
    "calls",
    "cut",
    "failed",
    "history",
    "make",
    "play",
    "play_sync",
    "ref",
    "waits_of",
]
