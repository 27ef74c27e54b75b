"""What a boundary costs, to a bare pluggy call and as turns and history grow; what a projection costs.

    python benchmarks/boundary.py
    python benchmarks/boundary.py --short

All figures come from one process, measured in turns, so that a machine whose speed drifts moves them
together: read the ratios. Times are processor time, which other processes do not lengthen; the median of
rounds, each of which is the mean of many calls. The calls are those that a host makes, on a clock where every
wait is over at once.
"""

from __future__ import annotations

import logging
import statistics
import sys
from collections.abc import Callable, Coroutine, Mapping
from time import process_time
from typing import Any

import pluggy
from measuring import Measured, Target, median_ratio, report

from continuity_core import (
    SYSTEM_CLOCK,
    BoundaryResult,
    Cause,
    Continuity,
    Deadline,
    Entry,
    EntryRef,
    Failure,
    HostFacts,
    Outcome,
    Reasoning,
    StopReason,
    Text,
    Turn,
    Usage,
    classify,
    hookimpl,
)
from continuity_core.engine.waker import Waker

BARE = "bare pluggy call"
LENGTHS = (10, 1_000, 100_000)
LENGTHS_SHORT = (10, 1_000, 20_000)
MANY_TURNS = 2_000


class NoWaiting:
    """The real time, but every wait is over as soon as it begins."""

    now = staticmethod(SYSTEM_CLOCK.now)
    monotonic = staticmethod(SYSTEM_CLOCK.monotonic)

    async def sleep_until(self, deadline: Deadline, waker: Waker) -> bool:
        return True

    def sleep_until_sync(self, deadline: Deadline, waker: Waker) -> bool:
        return True


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


ANSWER = Turn(
    stop_reason=StopReason.STOP,
    blocks=(Reasoning("think " * 40), Text("x" * 2000)),
    usage=Usage(input_tokens=1000, output_tokens=500),
    entry=EntryRef.stable("answer"),
)
FAILURE = Failure.from_text(
    "Error code: 503 - {'error': {'message': 'The server is overloaded', 'type': 'server_error'}}",
    status=503,
)
VERDICT = classify(FAILURE)
FAILED = Turn(stop_reason=StopReason.ERROR, failure=FAILURE, entry=EntryRef.stable("failed"))


def done(coroutine: Coroutine[Any, Any, BoundaryResult]) -> BoundaryResult:
    """What it gives; it has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: BoundaryResult = end.value
        return result
    raise AssertionError("a boundary waited for something")


class Session:
    """A run at work, as its host calls it."""

    def __init__(self, continuity: Continuity, entries: tuple[Entry, ...] = (), turns: int = 0) -> None:
        by_ref = {entry.ref: entry for entry in entries}
        self.continuity = continuity
        self.host = HostFacts(lookup=by_ref.get)
        self.run = continuity.start_run()
        self.fresh = self.run.state
        if entries:
            self.run.project(entries)
        for _ in range(turns):
            self.normal_turn()

    def normal_turn(self) -> None:
        done(self.run.turn_ended(ANSWER, self.host))

    def failing_turn(self) -> None:
        """With every budget as it was: the wait is held, and the host's own recovery goes first."""
        self.run.state = self.fresh
        assert done(self.run.turn_ended(FAILED, self.host)).outcome is Outcome.DEFERRED

    def failing_turn_settled(self) -> None:
        self.failing_turn()
        assert done(self.run.before_settle(self.host)).resume

    def start_and_end(self) -> None:
        self.run.settled()
        self.run = self.continuity.start_run()


def history(length: int) -> tuple[Entry, ...]:
    """A conversation of so many entries: requests, answers, calls and results."""
    entries: list[Entry] = []
    for number in range(length // 4 + 1):
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
    return tuple(entries[: length - length % 4 or 4])


Calls = Mapping[str, tuple[Callable[[], object], int]]
Times = Mapping[str, list[float]]


def microseconds(
    rounds: int, calls: Calls, before: Mapping[str, Callable[[], object]] | None = None
) -> Times:
    """The time of each call in µs, one figure a round; the calls take turns in each round.

    What stands in ``before`` comes before a call and does not count; the first round does not count either.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, (call, repeats) in calls.items():
            if before is not None and name in before:
                before[name]()
            start = process_time()
            for _ in range(repeats):
                call()
            if number:
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


class Knows:
    """Somebody's classifier that has the verdict at once: what is left of a failing turn is the boundary."""

    name = "knows"

    @hookimpl
    def continuity_classify(self, turn: Turn) -> Cause | None:
        return VERDICT if turn is FAILED else None


def boundaries(rounds: int, singles: int) -> dict[str, Any]:
    """Each kind of boundary, to a bare call."""
    continuity = Continuity.from_settings({}, clock=NoWaiting())
    known = Session(Continuity.from_settings({}, plugins=[Knows()], clock=NoWaiting()))
    work, failing, long = Session(continuity), Session(continuity), Session(continuity, turns=MANY_TURNS)
    now = continuity.clock.now()
    plugins = len(continuity.plugins.plugins)
    calls: Calls = {
        BARE: (bare_pluggy(plugins), 2000),
        "normal turn": (work.normal_turn, 400),
        "normal turn after many": (long.normal_turn, 400),
        "failing turn": (failing.failing_turn, 60),
        "failing turn, and settling after it": (failing.failing_turn_settled, 60),
        "failing turn without its classification": (known.failing_turn, 60),
        "its classification alone": (lambda: classify(FAILURE, now=now), 60),
        "start and end of a run": (Session(continuity).start_and_end, 100),
    }
    times = microseconds(rounds, calls, before=dict.fromkeys(calls, failing.start_and_end))
    bare = times[BARE]
    settling = [
        both - one
        for both, one in zip(times["failing turn, and settling after it"], times["failing turn"], strict=True)
    ]
    return {
        "plugins": plugins,
        "microseconds": {
            name: {
                "median": round(statistics.median(taken), 1),
                "p99": round(p99(calls[name][0], singles), 1),
            }
            for name, taken in times.items()
        },
        "to_bare": {
            **{name: round(median_ratio(taken, bare), 1) for name, taken in times.items()},
            "settling after a failing turn": round(median_ratio(settling, bare), 1),
        },
        "after_many_turns": round(median_ratio(times["normal turn after many"], times["normal turn"]), 2),
    }


def growth(rounds: int, lengths: tuple[int, ...]) -> dict[str, Any]:
    """A boundary of a session with so many entries of history, to the same with the fewest."""
    continuity = Continuity.from_settings({}, clock=NoWaiting())
    sessions = {length: Session(continuity, history(length)) for length in lengths}
    times = microseconds(
        rounds, {str(length): (session.normal_turn, 200) for length, session in sessions.items()}
    )
    least = times[str(lengths[0])]
    return {name: round(median_ratio(taken, least), 2) for name, taken in times.items()}


def projections(rounds: int, length: int) -> dict[str, Any]:
    """A projection of so many entries: of a history never seen, and of the same with one more turn."""
    whole = list(history(length))
    requests = [whole[: len(whole) - 4 * left] for left in range(min(20, length // 8), -1, -1)]
    run = Continuity.from_settings({}).start_run()
    others = [list(history(length)), whole]
    strangers = Continuity.from_settings({}).start_run()

    def grow() -> None:
        for request in requests[1:]:
            run.project(request)

    def copy() -> None:
        for request in requests[1:]:
            list(request)

    def start_anew() -> None:
        run.project(requests[0])

    repeats = max(1, 2_000 // length)
    times = microseconds(
        max(3, rounds // (1 if length < 10_000 else 3)),
        {
            "first request": (lambda: [strangers.project(entries) for entries in others], repeats),
            "grow": (grow, 1),
            "copy": (copy, 1),
            "messages": (lambda: [_message(entry) for entry in whole], repeats),
        },
        before={"grow": start_anew},
    )
    asked = len(requests) - 1
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    return {
        "entries": length,
        "first_request_us": round(medians["first request"] / 2, 1),
        "next_request_us": round(medians["grow"] / asked, 2),
        "copying_pointers_us": round(medians["copy"] / asked, 2),
        "one_dict_a_message_us": round(medians["messages"], 1),
        "next_to_copying": round(median_ratio(times["grow"], times["copy"]), 1),
        "first_to_dicts": round(median_ratio(times["first request"], times["messages"]) / 2, 2),
    }


def _message(entry: Entry) -> dict[str, object]:
    """The least that a host does with an entry to send it."""
    return {"role": entry.role, "content": entry.text}


def measure(short: bool) -> Measured:
    """Everything."""
    logging.disable(logging.CRITICAL)
    rounds = 5 if short else 15
    lengths = LENGTHS_SHORT if short else LENGTHS
    costs = boundaries(rounds, 300 if short else 2000)
    grown = growth(rounds, lengths)
    projected = [projections(rounds, length) for length in lengths]
    ratios, longest = costs["to_bare"], str(lengths[-1])
    return Measured(
        targets=[
            Target(what="normal turn, to a bare pluggy call", measured=ratios["normal turn"], target=8.0),
            Target(
                what="failing turn, to a bare pluggy call",
                measured=ratios["failing turn"],
                target=40.0,
                known=80.0,
            ),
            Target(
                what="settling after a failing turn, to a bare pluggy call",
                measured=ratios["settling after a failing turn"],
                target=40.0,
            ),
            Target(
                what=f"a turn after {MANY_TURNS:,} others, to the first",
                measured=costs["after_many_turns"],
                target=1.2,
            ),
            Target(what=f"a turn with {longest} entries, to 10", measured=grown[longest], target=1.2),
            Target(
                what=f"projecting {longest} entries and a new turn, to copying the list",
                measured=projected[-1]["next_to_copying"],
                target=3.0,
            ),
        ],
        figures={"boundaries": costs, "history": grown, "projections": projected},
    )


if __name__ == "__main__":
    sys.exit(report(measure, name="boundary", about=str(__doc__).partition("\n")[0]))
