"""What became of a run, for its caller."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import attrs

from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import Event


class RunOutcome(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    """The last turn is a whole answer, or the run ended on purpose."""
    INCOMPLETE = "incomplete"
    """The last turn was cut or empty, and the host handed it out."""
    FAILED = "failed"
    ABORTED = "aborted"


@attrs.frozen(kw_only=True)
class RecordedWait:
    """One wait of a run."""

    seconds: float
    """Its full length."""
    why: str
    started_at: datetime
    held: float
    """How much of it was held."""
    ended_by: str | None = None
    """What cut it short."""


@attrs.frozen(kw_only=True)
class Report:
    """The story of a run so far."""

    run: str
    session: str
    outcome: RunOutcome
    cause: CauseKind | None
    """What the last turn was; ``None`` before the first one ended."""
    why: str | None
    """One sentence on the last turn."""
    no_resume: str | None
    """Why the last turn was not resumed, where a resume was proposed."""
    possible_at: datetime | None
    """When a resume would have been possible, where a stated wait reached too far."""
    turns: int
    requests: int
    resumes: int
    waits: tuple[RecordedWait, ...]
    held_seconds: float
    events: tuple[Event, ...] = attrs.field(repr=False)
    """The last 256 events."""

    def to_dict(self) -> Mapping[str, JSONValue]:
        """The report as JSON."""
        return {
            "run": self.run,
            "session": self.session,
            "outcome": self.outcome.value,
            "cause": self.cause and self.cause.value,
            "why": self.why,
            "no_resume": self.no_resume,
            "possible_at": self.possible_at and self.possible_at.isoformat(),
            "turns": self.turns,
            "requests": self.requests,
            "resumes": self.resumes,
            "waits": [
                {
                    "seconds": wait.seconds,
                    "why": wait.why,
                    "started_at": wait.started_at.isoformat(),
                    "held": wait.held,
                    "ended_by": wait.ended_by,
                }
                for wait in self.waits
            ],
            "held_seconds": self.held_seconds,
            "events": [event.to_dict() for event in self.events],
        }

    def __str__(self) -> str:
        parts = [f"run {self.run}: {self.outcome.value}"]
        if self.cause is not None:
            parts.append(f"last turn {self.cause.value} ({self.why})")
        turns, resumes = _counted(self.turns, "turn"), _counted(self.resumes, "resume")
        parts.append(f"{turns}, {resumes}, {self.held_seconds:.0f} s held")
        if self.no_resume is not None:
            parts.append(f"not resumed: {self.no_resume}")
        if self.possible_at is not None:
            parts.append(f"possible again at {self.possible_at.isoformat(timespec='seconds')}")
        return "; ".join(parts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
