"""Keeps AI-agent runs alive: recovery plugins at an agent session's boundaries.

Start with :class:`Continuity`; write a plugin with :data:`hookimpl` and the decisions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from continuity_core._version import __version__

if TYPE_CHECKING:
    from continuity_core.continuity import Continuity
    from continuity_core.engine.attempts import Attempt, AttemptError
    from continuity_core.engine.backoff import delay, should_stop
    from continuity_core.engine.base_run import RunError
    from continuity_core.engine.clock import SYSTEM_CLOCK, Clock, Deadline, SystemClock
    from continuity_core.engine.durations import duration_or_unlimited, parse_duration
    from continuity_core.engine.engine import Engine
    from continuity_core.engine.project import ProjectionResult
    from continuity_core.engine.results import BoundaryResult
    from continuity_core.engine.run import Run, SyncRun
    from continuity_core.engine.settings import Incomplete, Settings
    from continuity_core.engine.state import HeldWait, Outcome, RunState
    from continuity_core.engine.strategies import (
        StopStrategy,
        WaitStrategy,
        stop_strategy,
        wait_strategy,
    )
    from continuity_core.errors import ErrorRule, classify
    from continuity_core.hookspecs import SPEC_VERSION, hookimpl, hookspec
    from continuity_core.loading.errors import ConfigurationError, PluginError
    from continuity_core.model.boundary import Boundary, Mode, Point, RunView
    from continuity_core.model.budgets import Budget, Window
    from continuity_core.model.cause import Cause, CauseKind, Guidance
    from continuity_core.model.decisions import (
        Adjust,
        Decision,
        Edit,
        Halt,
        Inject,
        Omit,
        ReasoningEffort,
        Remember,
        Replace,
        Resume,
        Wait,
    )
    from continuity_core.model.entries import Entry, EntryRef, Projection
    from continuity_core.model.events import Event, EventKind
    from continuity_core.model.failure import Failure
    from continuity_core.model.host_facts import HostFacts
    from continuity_core.model.incomplete import IncompleteRun
    from continuity_core.model.options import (
        Tighten,
        choice,
        count,
        count_or_unlimited,
        flag,
        names,
        option,
    )
    from continuity_core.model.order import Order, Stage
    from continuity_core.model.proposal import Proposal
    from continuity_core.model.report import RecordedWait, Report, RunOutcome
    from continuity_core.model.stop_reason import StopReason
    from continuity_core.model.turn import (
        Reasoning,
        Text,
        ToolCall,
        ToolResult,
        Turn,
        TurnFacts,
        Usage,
    )
    from continuity_core.model.turn_cause import cause_of_turn

__all__ = [
    "SPEC_VERSION",
    "SYSTEM_CLOCK",
    "Adjust",
    "Attempt",
    "AttemptError",
    "Boundary",
    "BoundaryResult",
    "Budget",
    "Cause",
    "CauseKind",
    "Clock",
    "ConfigurationError",
    "Continuity",
    "Deadline",
    "Decision",
    "Edit",
    "Engine",
    "Entry",
    "EntryRef",
    "ErrorRule",
    "Event",
    "EventKind",
    "Failure",
    "Guidance",
    "Halt",
    "HeldWait",
    "HostFacts",
    "Incomplete",
    "IncompleteRun",
    "Inject",
    "Mode",
    "Omit",
    "Order",
    "Outcome",
    "PluginError",
    "Point",
    "Projection",
    "ProjectionResult",
    "Proposal",
    "Reasoning",
    "ReasoningEffort",
    "RecordedWait",
    "Remember",
    "Replace",
    "Report",
    "Resume",
    "Run",
    "RunError",
    "RunOutcome",
    "RunState",
    "RunView",
    "Settings",
    "Stage",
    "StopReason",
    "StopStrategy",
    "SyncRun",
    "SystemClock",
    "Text",
    "Tighten",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnFacts",
    "Usage",
    "Wait",
    "WaitStrategy",
    "Window",
    "__version__",
    "cause_of_turn",
    "choice",
    "classify",
    "count",
    "count_or_unlimited",
    "delay",
    "duration_or_unlimited",
    "flag",
    "hookimpl",
    "hookspec",
    "names",
    "option",
    "parse_duration",
    "should_stop",
    "stop_strategy",
    "wait_strategy",
]

_MODULES = {
    "SPEC_VERSION": "hookspecs",
    "SYSTEM_CLOCK": "engine.clock",
    "Adjust": "model.decisions",
    "Attempt": "engine.attempts",
    "AttemptError": "engine.attempts",
    "Boundary": "model.boundary",
    "BoundaryResult": "engine.results",
    "Budget": "model.budgets",
    "Cause": "model.cause",
    "CauseKind": "model.cause",
    "Clock": "engine.clock",
    "ConfigurationError": "loading.errors",
    "Continuity": "continuity",
    "Deadline": "engine.clock",
    "Decision": "model.decisions",
    "Edit": "model.decisions",
    "Engine": "engine.engine",
    "Entry": "model.entries",
    "EntryRef": "model.entries",
    "ErrorRule": "errors",
    "Event": "model.events",
    "EventKind": "model.events",
    "Failure": "model.failure",
    "Guidance": "model.cause",
    "Halt": "model.decisions",
    "HeldWait": "engine.state",
    "HostFacts": "model.host_facts",
    "Incomplete": "engine.settings",
    "IncompleteRun": "model.incomplete",
    "Inject": "model.decisions",
    "Mode": "model.boundary",
    "Omit": "model.decisions",
    "Order": "model.order",
    "Outcome": "engine.state",
    "PluginError": "loading.errors",
    "Point": "model.boundary",
    "Projection": "model.entries",
    "ProjectionResult": "engine.project",
    "Proposal": "model.proposal",
    "Reasoning": "model.turn",
    "ReasoningEffort": "model.decisions",
    "RecordedWait": "model.report",
    "Remember": "model.decisions",
    "Replace": "model.decisions",
    "Report": "model.report",
    "Resume": "model.decisions",
    "Run": "engine.run",
    "RunError": "engine.base_run",
    "RunOutcome": "model.report",
    "RunState": "engine.state",
    "RunView": "model.boundary",
    "Settings": "engine.settings",
    "Stage": "model.order",
    "StopReason": "model.stop_reason",
    "StopStrategy": "engine.strategies",
    "SyncRun": "engine.run",
    "SystemClock": "engine.clock",
    "Text": "model.turn",
    "Tighten": "model.options",
    "ToolCall": "model.turn",
    "ToolResult": "model.turn",
    "Turn": "model.turn",
    "TurnFacts": "model.turn",
    "Usage": "model.turn",
    "Wait": "model.decisions",
    "WaitStrategy": "engine.strategies",
    "Window": "model.budgets",
    "cause_of_turn": "model.turn_cause",
    "choice": "model.options",
    "classify": "errors",
    "count": "model.options",
    "count_or_unlimited": "model.options",
    "delay": "engine.backoff",
    "duration_or_unlimited": "engine.durations",
    "flag": "model.options",
    "hookimpl": "hookspecs",
    "hookspec": "hookspecs",
    "names": "model.options",
    "option": "model.options",
    "parse_duration": "engine.durations",
    "should_stop": "engine.backoff",
    "stop_strategy": "engine.strategies",
    "wait_strategy": "engine.strategies",
}
"""Where each public name is from. Its module is imported when the name is first used: an import of this
package alone costs next to nothing."""


if not TYPE_CHECKING:  # A checker would take any name to exist.

    def __getattr__(name: str) -> Any:
        try:
            module = _MODULES[name]
        except KeyError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
