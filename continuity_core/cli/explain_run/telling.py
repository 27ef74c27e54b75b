"""A recorded run as lines: who said what at each boundary, what was joined, and what fell and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, TypeAlias

from continuity_core.cli.explain_run.becoming import became
from continuity_core.cli.explain_run.reading import RecordedRun
from continuity_core.engine.state import Outcome
from continuity_core.model.boundary import Point
from continuity_core.observe.progress import spoken_duration

Data: TypeAlias = Mapping[str, Any]

_OUTCOMES = {
    Outcome.NONE: "nothing was asked for: the host goes on as it would alone",
    Outcome.DEFERRED: "the host's own recovery goes first; asked again before it settles",
    Outcome.CANCELLED: "cancelled",
    Outcome.SUPERSEDED: "other work goes on by itself",
    Outcome.REFUSED: "no further turn",
}


def told(run: RecordedRun) -> Iterator[str]:
    """The lines of a run. An event that does not have what is expected is named, and the others are told."""
    yield f"run {run.id} of session {run.session}"
    for place, event in enumerate(run.events):
        try:
            yield from _event(event, islice(run.events, place + 1, None))
        except (AttributeError, KeyError, TypeError, ValueError):
            yield f"{clock_time(event.get('at'))}  {event['kind']}: not recorded in full"


def clock_time(at: object, *, with_date: bool = False) -> str:
    """The time of day of an instant as recorded, to the second."""
    try:
        instant = datetime.fromisoformat(str(at))
    except ValueError:
        return "--:--:--"
    return instant.strftime("%Y-%m-%d %H:%M:%S" if with_date else "%H:%M:%S")


def _event(data: Data, later: Iterable[Data]) -> Iterator[str]:
    at = clock_time(data.get("at"))
    match data["kind"]:
        case "run_started":
            under = f", under run {data['parent']}" if data["parent"] else ""
            again = ", restored" if data["restored"] else ""
            yield f"{clock_time(data['at'], with_date=True)}  started in mode {data['mode']}{under}{again}"
        case "boundary":
            yield from _boundary(data, at)
        case "wait_started":
            yield f"{at}  a wait of {spoken_duration(data['seconds'])} begins{_after(later)}: {data['why']}"
        case "wait_ended":
            how = "in full" if data["ended_by"] is None else f"ended early by {data['ended_by']}"
            yield f"{at}  the wait is over: {spoken_duration(data['held_seconds'])} held, {how}"
        case "plugin_fault":
            yield f"{at}  plugin {data['plugin']} failed in {data['hook']}: {data['error']}{_left_out(data)}"
        case "plugin_slow":
            yield f"{at}  plugin {data['plugin']} took {data['seconds'] * 1000:.0f} ms in {data['hook']}"
        case "edit_refused":
            yield f"{at}  refused {data['what']} of {data['plugin']} in the next request: {data['why']}"
        case "mode_changed":
            yield f"{at}  mode {data['mode']}: {data['reason']}"
        case "input_arrived":
            yield f"{at}  the user said something ({data['input']})"
        case "aborted":
            yield f"{at}  aborted"
        case "run_settled":
            yield from _settled(data, at)
        case kind:
            yield f"{at}  {kind}"


def _after(later: Iterable[Data]) -> str:
    """Which turn ended before a wait: a boundary is recorded when its wait is over."""
    for event in later:
        if event["kind"] == "boundary":
            return f" after turn {event['turn']['number']}"
    return ""


def _boundary(data: Data, at: str) -> Iterator[str]:
    turn, cause = data["turn"], data["cause"]
    moment = "ended" if data["point"] == Point.TURN_ENDED else "is the last, before settling"
    by = cause["by"] or "the stop reason or the host"
    yield f"{at}  turn {turn['number']} {moment}: {cause['kind']}, says {by}"
    yield f"  because: {cause['why']}" + (f" [{cause['rule']}]" if cause["rule"] else "")
    if turn["failure"] is not None:
        yield f"  failure: {_failure(turn['failure'])}"
    if turn["tools"]:
        yield f"  calls: {', '.join(turn['tools'])}"
    if not (data["said"] or data["dropped"] or data["faults"]):
        yield "  said: nothing, by any plugin"
    for bundle in data["said"]:
        for decision in bundle["decisions"]:
            what, fate = became(decision, bundle["plugin"], data)
            yield f"  said: {bundle['plugin']}: {what} -> {fate}"
    for dropped in data["dropped"]:
        yield f"  dropped: {dropped['plugin']}: {dropped['what']}: {dropped['why']}"
    for fault in data["faults"]:
        yield f"  failed: {fault['plugin']} in {fault['hook']}: {fault['error']}{_left_out(fault)}"
    if data["halt"] is not None:
        yield f"  vetoed: by {data['halt']['plugin']}, for the rest of the run: {data['halt']['reason']}"
    yield f"  joined: {_joined(data)}"


def _joined(data: Data) -> str:
    outcome, resume = Outcome(data["outcome"]), data["resume"]
    if outcome in (Outcome.SCHEDULED, Outcome.OBSERVED) and resume is not None:
        verb = "one more turn"
        if outcome is Outcome.OBSERVED:
            verb = "would ask for one more turn (mode observe)"
        waited = data["held_seconds"] if outcome is Outcome.SCHEDULED else data["hold_seconds"]
        after = f" after {spoken_duration(waited)}" if waited else ""
        return f"{verb}{after}, for {resume['plugin']}: {resume['reason']} {_spent(data)}".rstrip()
    said = _OUTCOMES.get(outcome, "nothing would be asked for (mode observe)")
    if outcome is Outcome.NONE and data["said"]:
        said = "no further turn was asked for"
    if data["no_resume"] is not None:
        said += f": {data['no_resume']}"
    if data["possible_at"] is not None:
        said += f"; possible again at {data['possible_at']}"
    return said


def _spent(data: Data) -> str:
    spent = ", ".join(f"{budget} {number}" for budget, number in data["spent"].items())
    return f"(resumes {data['resumes']}{', ' + spent if spent else ''})"


def _failure(failure: Data) -> str:
    facts = [str(failure[key]) for key in ("status", "code", "type") if failure[key] is not None]
    facts += failure["exceptions"][:1]
    return f"of the {failure['where']}: {failure['message'] or 'no text'}" + (
        f" ({', '.join(facts)})" if facts else ""
    )


def _settled(data: Data, at: str) -> Iterator[str]:
    yield (
        f"{at}  settled: {data['outcome']}; turns {data['turns']}, requests {data['requests']}, "
        f"resumes {data['resumes']}, held {spoken_duration(data['held_seconds'])}"
    )
    if data["no_resume"] is not None:
        yield f"  not resumed: {data['no_resume']}"


def _left_out(fault: Data) -> str:
    return " (left out for the rest of the run)" if fault["disabled"] else ""
