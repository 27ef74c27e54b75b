"""A boundary as data: enough to explain the run later, bounded, and without secrets."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from continuity_core.engine.recorder import Recorder
from continuity_core.model.decisions import (
    Adjust,
    Decision,
    Halt,
    Inject,
    JSONValue,
    Omit,
    Replace,
    Resume,
    Wait,
)
from continuity_core.model.masking import printable, shown

if TYPE_CHECKING:
    from continuity_core.engine.step import Step

MAX_LISTED = 64
"""How many items of one list an event shows."""


def boundary_details(step: Step) -> dict[str, JSONValue]:
    """The keys of a ``boundary`` event, once the step is concluded."""
    turn, cause, decided = step.turn, step.cause, step.proposal
    failure = turn.failure
    return {
        "point": step.point.value,
        "mode": step.engine.settings.mode.value,
        "turn": {
            "number": step.number,
            "stop_reason": turn.stop_reason.value,
            "provider_stop": turn.provider_stop and shown(turn.provider_stop, 80),
            "tools": [shown(call.name, 80) for call in turn.tool_calls[:MAX_LISTED]],
            "output_tokens": turn.usage.output_tokens,
            "failure": failure
            and {
                "message": shown(failure.message),
                "status": failure.status,
                "code": failure.code and shown(failure.code, 80),
                "type": failure.type and shown(failure.type, 80),
                "exceptions": [shown(name, 120) for name in failure.exceptions[:8]],
                "where": failure.where,
            },
        },
        "cause": {
            "kind": cause.kind.value,
            "why": shown(cause.why),
            "rule": cause.rule and shown(cause.rule, 120),
            "by": step.classified_by,
        },
        "said": [
            {
                "plugin": bundle.plugin,
                "decisions": [decision_details(d, step.now) for d in bundle.decisions[:MAX_LISTED]],
            }
            for bundle in decided.bundles
        ],
        "dropped": [Recorder.dropped_details(dropped) for dropped in decided.dropped[:MAX_LISTED]],
        "faults": [Recorder.fault_details(fault) for fault in decided.faults[:MAX_LISTED]],
        "halt": decided.halt
        and {"plugin": decided.halt.plugin, "reason": shown(decided.halt.decision.reason)},
        "outcome": step.outcome.value,
        "resume": decided.resume
        and {
            "plugin": decided.resume.plugin,
            "reason": shown(decided.resume.decision.reason),
            "budget": decided.resume.decision.budget,
        },
        "no_resume": decided.no_resume and shown(decided.no_resume),
        "possible_at": decided.possible_at and decided.possible_at.isoformat(),
        "hold_seconds": decided.hold_seconds,
        "held_seconds": step.held.seconds,
        "resumes": step.resumes,
        "spent": dict(step.spent),
    }


def decision_details(decision: Decision, now: datetime) -> dict[str, JSONValue]:
    """One decision as data; injected and replaced text is given by its length only."""
    said: dict[str, Any] = {"decision": type(decision).__name__}
    match decision:
        case Resume(reason, budget):
            said |= {"reason": shown(reason), "budget": budget}
        case Wait():
            said |= {
                "seconds": decision.seconds_from(now),
                "stated": bool(decision.stated),
                "why": shown(decision.why),
            }
        case Omit(entry, why):
            said |= {"entry": printable(entry.key, 120), "why": shown(why)}
        case Replace(entry, content, why):
            said |= {"entry": printable(entry.key, 120), "characters": len(content), "why": shown(why)}
        case Adjust():
            effort = decision.reasoning_effort
            said |= {
                "max_output_tokens": decision.max_output_tokens,
                "reasoning_effort": effort and effort.value,
            }
        case Inject(text):
            said |= {"characters": len(text)}
        case Halt(reason, end_run):
            said |= {"reason": shown(reason), "end_run": bool(end_run)}
        case _:
            pass
    return said
