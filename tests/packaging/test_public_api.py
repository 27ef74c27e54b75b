"""The public names: adding one is a decision, and taking one away breaks someone."""

from __future__ import annotations

import pytest

import continuity_core

pytestmark = pytest.mark.smoke

PUBLIC = [
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
    "SPEC_VERSION",
    "SYSTEM_CLOCK",
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


def test_the_public_names_are_those_agreed_on() -> None:
    assert sorted(continuity_core.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_exists_and_says_what_it_is(name: str) -> None:
    value = getattr(continuity_core, name)
    assert not callable(value) or value.__doc__
