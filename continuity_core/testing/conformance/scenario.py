"""A scenario: what the provider does, what the user does, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import attrs

from continuity_core.model.host_facts import InputKind
from continuity_core.testing.clocks import DEFAULT_START
from continuity_core.testing.fault_server import ModelResponse, Response

ToolEnd: TypeAlias = Literal["on_purpose", "unexplained"] | None
"""How a run stands after a tool: it ends properly, it just ends, or it goes on."""


@attrs.frozen
class Range:
    """A number, or all numbers between two, both included."""

    low: float
    high: float

    def holds(self, value: float, tolerance: float = 0.0) -> bool:
        """Whether ``value`` lies in the range, or within ``tolerance`` of it."""
        return self.low - tolerance <= value <= self.high + tolerance

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


@attrs.frozen(kw_only=True)
class HostOptions:
    """How the host is set up."""

    native_retries: int = 0
    """Retries of one request by the client or the host, for HTTP failures before the body; without delay."""
    idle_timeout: float | None = None
    """Seconds without bytes after which a stream counts as dead."""
    stream: bool | None = None
    """Only this way; ``None``: both."""


@attrs.frozen(kw_only=True)
class ScriptedTool:
    """A tool that the host offers to the model; it takes any JSON object."""

    name: str
    result: str
    ends_run: ToolEnd = None


During: TypeAlias = Literal["response", "wait"]
"""What goes on while something is done."""


class ActionKind(StrEnum):
    """What is done to a run from outside."""

    ABORT = "abort"
    OFF = "off"
    ON = "on"
    INPUT = "input"


@attrs.frozen
class Moment:
    """When something is done: while a response is produced, or during a wait; ``number`` counts from 1."""

    during: During
    number: int

    def __str__(self) -> str:
        return f"{self.during}:{self.number}"


@attrs.frozen(kw_only=True)
class Action:
    """One thing that the user does at a moment."""

    at: Moment
    do: ActionKind
    kind: InputKind | None = None
    """The kind of an input."""
    text: str = ""
    """The text of an input."""

    def __str__(self) -> str:
        return f"{self.do.value} at {self.at}"


@attrs.frozen(kw_only=True)
class RequestExpectation:
    """Texts that one request carries, and texts that it does not."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class FinalExpectation:
    """What the host gives the caller of the last run; ``None`` where nothing is expected."""

    text: str | None = None
    stop: str | None = None
    """A stop reason in the words of the model layer."""
    aborted: bool | None = None
    cause: str | None = None
    """What the last turn was, as the report says it."""


@attrs.frozen(kw_only=True)
class Expectation:
    """What must be seen, counted over all runs of the scenario; ``None`` where nothing is expected."""

    requests: Range | None = None
    resumes: Range | None = None
    waits: tuple[Range, ...] | None = None
    ended_waits: tuple[Range, ...] | None = None
    tools_run: Mapping[str, Range] | None = None
    """A tool that is not named must not run."""
    request: Mapping[int, RequestExpectation] = attrs.field(factory=dict)
    user_messages: Range | None = None
    final: FinalExpectation = FinalExpectation()


@attrs.frozen(kw_only=True)
class Scenario:
    """One scenario of a file."""

    name: str
    why: str = ""
    now: datetime = DEFAULT_START
    """The wall clock at the start; aware."""
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    """The keys of ``[tool.continuity]``, trusted."""
    host: HostOptions = HostOptions()
    tools: tuple[ScriptedTool, ...] = ()
    prompts: tuple[str, ...] = ()
    responses: tuple[Response, ...] = ()
    actions: tuple[Action, ...] = ()
    expect: Expectation = Expectation()

    @property
    def user_texts(self) -> frozenset[str]:
        """Everything that the user says in it."""
        inputs = (action.text for action in self.actions if action.do is ActionKind.INPUT)
        return frozenset((*self.prompts, *inputs))

    def actions_at(self, during: During) -> Mapping[int, tuple[Action, ...]]:
        """The actions at responses or at waits, by number, in the order of the file."""
        found: dict[int, tuple[Action, ...]] = {}
        for action in self.actions:
            if action.at.during == during:
                found[action.at.number] = (*found.get(action.at.number, ()), action)
        return found

    @property
    def model_responses(self) -> Mapping[int, ModelResponse]:
        """The responses of the scripted model by number, those that are plain HTTP left out."""
        return {
            number: response
            for number, response in enumerate(self.responses, start=1)
            if isinstance(response, ModelResponse)
        }
