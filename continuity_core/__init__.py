"""Keeps AI-agent runs alive: recovery plugins at an agent session's boundaries.

Start with :class:`Continuity`; write a plugin with :data:`hookimpl` and the decisions.
"""

from continuity_core._version import __version__
from continuity_core.continuity import Continuity
from continuity_core.engine.attempts import Attempt, AttemptError
from continuity_core.engine.backoff import delay, should_stop
from continuity_core.engine.base_run import RunError
from continuity_core.engine.clock import SYSTEM_CLOCK, Clock, Deadline, SystemClock
from continuity_core.engine.durations import parse_duration
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
