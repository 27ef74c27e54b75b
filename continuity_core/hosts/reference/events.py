"""What a session tells of each step."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from continuity_core.hosts.reference.history import HistoryEntry
from continuity_core.hosts.reference.outcome import SessionOutcome
from continuity_core.model.failure import Failure
from continuity_core.model.host_facts import InputKind
from continuity_core.model.turn import ToolCall, Turn


@attrs.frozen
class RunStarted:
    """A run began for what the user said."""

    prompt: str


@attrs.frozen(kw_only=True)
class RequestStarted:
    """A request goes to the provider."""

    entries: tuple[HistoryEntry, ...]
    """What it carries."""
    attempt: int
    """From 1; above it for a native retry."""


@attrs.frozen
class TextDelta:
    """Some text of a streamed answer."""

    text: str


@attrs.frozen
class RequestRetried:
    """A request failed before its body came, and the session sends it again by itself."""

    failure: Failure


@attrs.frozen
class ToolStarted:
    """A call is executed."""

    call: ToolCall


@attrs.frozen
class ToolEnded:
    """A call has its result."""

    call: ToolCall
    result: HistoryEntry


@attrs.frozen
class TurnEnded:
    """A turn is over, its results included."""

    turn: Turn


@attrs.frozen
class TurnResumed:
    """Continuity asked for one more turn."""

    reason: str


@attrs.frozen
class InputQueued:
    """The user said something while the session was busy."""

    kind: InputKind
    text: str


@attrs.frozen
class InputPickedUp:
    """What the user said goes into the history."""

    kind: InputKind
    text: str


@attrs.frozen
class Aborted:
    """The user aborted."""


@attrs.frozen
class RunEnded:
    """A run is over."""

    outcome: SessionOutcome


SessionEvent: TypeAlias = (
    RunStarted
    | RequestStarted
    | TextDelta
    | RequestRetried
    | ToolStarted
    | ToolEnded
    | TurnEnded
    | TurnResumed
    | InputQueued
    | InputPickedUp
    | Aborted
    | RunEnded
)
