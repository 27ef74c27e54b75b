"""What became of one recorded decision, by the join rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from continuity_core.engine.state import Outcome
from continuity_core.observe.progress import spoken_duration

Data: TypeAlias = Mapping[str, Any]


def became(decision: Data, plugin: str, boundary: Data) -> tuple[str, str]:
    """What ``plugin`` said, and what came of it at this boundary."""
    kind = decision["decision"]
    match kind:
        case "Resume":
            budget = f", budget {decision['budget']}" if decision["budget"] else ""
            return f"Resume ({decision['reason']}{budget})", _resume(plugin, boundary)
        case "Wait":
            stated = "stated by the provider: " if decision["stated"] else ""
            what = f"Wait {spoken_duration(decision['seconds'])} ({stated}{decision['why']})"
            return what, _wait(decision, boundary)
        case "Omit":
            return f"Omit {decision['entry']} ({decision['why']})", _edit(plugin, boundary)
        case "Replace":
            what = f"Replace {decision['entry']} by {decision['characters']} characters ({decision['why']})"
            return what, _edit(plugin, boundary)
        case "Adjust":
            settings = {key: decision[key] for key in ("max_output_tokens", "reasoning_effort")}
            what = ", ".join(f"{key} {value}" for key, value in settings.items() if value is not None)
            return f"Adjust {what}", _with_the_turn("for the next turn; the smallest value counts", boundary)
        case "Inject":
            return f"Inject {decision['characters']} characters", _with_the_turn(
                "sent to the model", boundary
            )
        case "Remember":
            return "Remember", _kept(plugin, boundary, "kept")
        case "Halt":
            ends = ", and the host ends the run where it can" if decision["end_run"] else ""
            return f"Halt ({decision['reason']})", f"no further turn in this run{ends}"
        case _:
            return str(kind), "unknown to this version"


def _resume(plugin: str, boundary: Data) -> str:
    standing = boundary["resume"]
    if standing is None:
        return f"not done: {boundary['no_resume']}"
    if standing["plugin"] != plugin:
        return f"not needed: that of {standing['plugin']} came first, and it alone is charged"
    return {
        Outcome.SCHEDULED: "stands",
        Outcome.DEFERRED: "put off: the host's own recovery goes first",
        Outcome.OBSERVED: "would stand (mode observe)",
    }.get(Outcome(boundary["outcome"]), "stands")


def _wait(decision: Data, boundary: Data) -> str:
    if not boundary["hold_seconds"]:
        if not decision["seconds"]:
            return "nothing to hold"
        return "not held: no further turn follows" if boundary["resume"] is None else "not held"
    longest = max(
        said["seconds"]
        for bundle in boundary["said"]
        for said in bundle["decisions"]
        if said["decision"] == "Wait"
    )
    if decision["seconds"] < longest:
        return "a longer one counts"
    if boundary["outcome"] == Outcome.OBSERVED:
        return "would be held (mode observe)"
    held, asked = boundary["held_seconds"], boundary["hold_seconds"]
    cut = f", cut down to {spoken_duration(asked)}" if asked < decision["seconds"] else ""
    return f"the longest{cut}: {spoken_duration(held)} held"


def _edit(plugin: str, boundary: Data) -> str:
    if boundary["outcome"] == Outcome.DEFERRED:
        return "not yet: the host's own recovery needs it"
    return _kept(plugin, boundary, "in force from the next request on")


def _kept(plugin: str, boundary: Data, otherwise: str) -> str:
    """The fate of what is kept only with its bundle's resume, or without one at once."""
    outcome = Outcome(boundary["outcome"])
    if outcome is Outcome.OBSERVED:
        return "would be done (mode observe)"
    asks = any(
        said["decision"] == "Resume"
        for bundle in boundary["said"]
        if bundle["plugin"] == plugin
        for said in bundle["decisions"]
    )
    if asks and outcome not in (Outcome.SCHEDULED, Outcome.SUPERSEDED):
        return "not done: it goes with its Resume"
    return otherwise


def _with_the_turn(done: str, boundary: Data) -> str:
    outcome = Outcome(boundary["outcome"])
    if outcome is Outcome.OBSERVED:
        return "would be done (mode observe)"
    return done if outcome is Outcome.SCHEDULED else "not done: no further turn follows now"
