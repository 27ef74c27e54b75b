"""What a boundary costs: against a bare pluggy call, and as history grows.

    python benchmarks/boundary.py            # the full form
    python benchmarks/boundary.py --short    # a few seconds; exits 1 where a ratio is far over its target
    python benchmarks/boundary.py --json OUT

All figures of one line come from one process, measured in turns, so that a machine whose speed drifts moves
them together: read the ratios. Times are processor time, which other processes do not lengthen; the median of
rounds, each of which is the mean of many calls.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from time import process_time

import pluggy

from continuity_core import (
    Continuity,
    Entry,
    EntryRef,
    Failure,
    HostFacts,
    Reasoning,
    StopReason,
    Text,
    Turn,
    Usage,
)
from continuity_core.engine.hold import HoldOutcome

TARGETS = {"normal turn": 8.0, "failing turn": 40.0, "history": 1.2, "project": 3.0}
"""Ratios that the design asks for."""

FAR_OVER = 2.0
"""The short form fails where a ratio is more than this times its target: shared machines are noisy."""


def bare_pluggy(plugins: int) -> Callable[[], object]:
    """A hook call with as many plugins that do nothing."""
    spec, impl = pluggy.HookspecMarker("bare"), pluggy.HookimplMarker("bare")

    class Spec:
        @spec
        def turn_ended(self, boundary: object, proposal: object) -> object: ...

    class Plugin:
        @impl
        def turn_ended(self, boundary: object, proposal: object) -> object:
            return None

    manager = pluggy.PluginManager("bare")
    manager.add_hookspecs(Spec)
    for _ in range(plugins):
        manager.register(Plugin())
    return lambda: manager.hook.turn_ended(boundary=None, proposal=None)


class Boundaries:
    """Boundaries without an event loop and without waiting: what is left is what we cost."""

    def __init__(self, recent: int = 0) -> None:
        self.continuity = Continuity.from_settings({})
        self.run = self.continuity.start_run()
        self.host = HostFacts()
        self.normal = Turn(
            stop_reason=StopReason.STOP,
            blocks=(Reasoning("think " * 40), Text("x" * 2000)),
            usage=Usage(input_tokens=1000, output_tokens=500),
            entry=EntryRef.stable("turn"),
        )
        failure = Failure.from_text(
            "Error code: 503 - {'error': {'message': 'The server is overloaded', 'type': 'server_error'}}",
            status=503,
        )
        self.failing = Turn(stop_reason=StopReason.ERROR, failure=failure, entry=EntryRef.stable("failed"))
        for _ in range(recent):
            self.end(self.normal)

    @property
    def plugins(self) -> int:
        return len(self.continuity.plugins.plugins)

    def end(self, turn: Turn) -> None:
        steps = self.run._turn_ended(turn, self.host)
        try:
            request = next(steps)
            while True:
                length = request.deadline.length(self.continuity.clock.now())
                request = steps.send(HoldOutcome(held_seconds=length, ended_by=None))
        except StopIteration:
            pass

    def settle(self) -> None:
        with contextlib.suppress(StopIteration):
            next(self.run._before_settle(self.host))

    def normal_turn(self) -> None:
        self.end(self.normal)

    def failing_turn(self) -> None:
        """A new run each time, so that the turn is resumed: its start and end are part of the figure."""
        self.run.settled()
        self.run = self.continuity.start_run()
        self.end(self.failing)
        self.settle()


def history(length: int) -> tuple[Entry, ...]:
    """A conversation of so many entries: requests, answers, calls and results."""
    entries: list[Entry] = []
    for number in range(length // 4):
        entries += [
            Entry(ref=EntryRef.stable(f"u{number}"), role="user", text="Go on"),
            Entry(
                ref=EntryRef.stable(f"a{number}"),
                role="assistant",
                calls=(f"c{number}",),
                stop_reason=StopReason.TOOL_USE,
            ),
            Entry(ref=EntryRef.stable(f"r{number}"), role="tool", text="done", answers=(f"c{number}",)),
            Entry(
                ref=EntryRef.stable(f"t{number}"), role="assistant", text="Done", stop_reason=StopReason.STOP
            ),
        ]
    return tuple(entries)


def microseconds(rounds: int, calls: dict[str, tuple[Callable[[], object], int]]) -> dict[str, list[float]]:
    """The time of each call in µs, one figure a round; the calls take turns in each round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (call, repeats) in calls.items():
            start = process_time()
            for _ in range(repeats):
                call()
            times[name].append((process_time() - start) / repeats * 1e6)
    return times


def p99(call: Callable[[], object], repeats: int) -> float:
    """The 99th percentile of single calls in µs."""
    single = []
    for _ in range(repeats):
        start = process_time()
        call()
        single.append((process_time() - start) * 1e6)
    return statistics.quantiles(single, n=100)[98]


def ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """The median over the rounds of one call's time to the other's."""
    return statistics.median(a / b for a, b in zip(times[name], times[base], strict=True))


def measure(*, short: bool) -> dict[str, object]:
    """All figures."""
    rounds = 5 if short else 15
    at_work, long_run = Boundaries(), Boundaries(recent=2_000)
    calls = {
        "bare pluggy call": (bare_pluggy(at_work.plugins), 2000),
        "normal turn": (at_work.normal_turn, 300),
        "failing turn": (at_work.failing_turn, 60),
        "normal turn after 2,000": (long_run.normal_turn, 300),
    }
    times = microseconds(rounds, calls)
    rows: list[dict[str, object]] = [
        {
            "what": name,
            "median_us": round(statistics.median(figures), 1),
            "p99_us": round(p99(calls[name][0], 300 if short else 2000), 1),
            "ratio_to_bare": round(ratio(times, name, "bare pluggy call"), 1),
        }
        for name, figures in times.items()
    ]
    grown = ratio(times, "normal turn after 2,000", "normal turn")
    lengths = (10, 1_000) if short else (10, 1_000, 100_000)
    projections = [_projection(length, rounds) for length in lengths]
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "plugins": at_work.plugins,
        "boundaries": rows,
        "history": {"ratio_after_2000_turns": round(grown, 2)},
        "projections": projections,
    }


def _projection(length: int, rounds: int) -> dict[str, object]:
    entries = history(length)
    run = Continuity.from_settings({}).start_run()
    listed = list(entries)
    repeats = max(1, 20_000 // max(length, 1))
    times = microseconds(
        rounds if length < 100_000 else 3,
        {
            "project": (lambda: run.project(entries), repeats),
            "rebuild": (lambda: [_same(entry) for entry in listed], repeats),
            "copy": (lambda: list(listed), repeats),
        },
    )
    return {
        "entries": length,
        "project_us": round(statistics.median(times["project"]), 1),
        "us_per_entry": round(statistics.median(times["project"]) / max(length, 1), 3),
        "ratio_to_rebuilding_the_list": round(ratio(times, "project", "rebuild"), 2),
        "ratio_to_copying_the_pointers": round(ratio(times, "project", "copy"), 1),
    }


def _same(entry: Entry) -> dict[str, object]:
    """The least that a host does with an entry to send it: one dict a message."""
    return {"role": entry.role, "content": entry.text}


def far_over(figures: dict[str, object]) -> list[str]:
    """What is far over its target."""
    found = []
    boundaries = figures["boundaries"]
    assert isinstance(boundaries, list)
    for row in boundaries:
        target = TARGETS.get(row["what"])
        if target is not None and row["ratio_to_bare"] > target * FAR_OVER:
            found.append(f"{row['what']}: {row['ratio_to_bare']} times a bare call, target {target:g}")
    grown = figures["history"]["ratio_after_2000_turns"]  # type: ignore[index]
    if grown > TARGETS["history"] * FAR_OVER:
        found.append(f"a boundary after 2,000 turns costs {grown} times the first, target 1.2")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the short form passes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer rounds; exit 1 where far over a target")
    parser.add_argument("--json", metavar="OUT", help="write the figures there too")
    chosen = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    figures = measure(short=chosen.short)
    text = json.dumps(figures, indent=1)
    print(text)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    missed = far_over(figures) if chosen.short else []
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
