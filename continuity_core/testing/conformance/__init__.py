"""One suite for every host: scripted faults, scripted users, and what must come of them.

The provider is a real HTTP server on loopback, the host the real framework with its real client; waits are
held on a virtual clock.
"""

from __future__ import annotations

from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import (
    ConformanceHost,
    HostResult,
    HostSession,
    Mode,
    Play,
    PlayedTool,
)
from continuity_core.testing.conformance.loading import check_settings
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.parsing import (
    ScenarioError,
    parse_scenarios,
    read_scenarios,
    scenarios_of,
)
from continuity_core.testing.conformance.registry import DRIVERS, Driver, HostError, load_host
from continuity_core.testing.conformance.reporting import as_json
from continuity_core.testing.conformance.running import (
    TIME_LIMIT,
    Result,
    Status,
    run_scenarios,
    selected,
)
from continuity_core.testing.conformance.scenario import Scenario
from continuity_core.testing.conformance.watchdog import Watchdog, grace

__all__ = [
    "DRIVERS",
    "TIME_LIMIT",
    "ConformanceHost",
    "Driver",
    "Feature",
    "HostError",
    "HostResult",
    "HostSession",
    "Mode",
    "Observed",
    "Play",
    "PlayedTool",
    "Result",
    "Scenario",
    "ScenarioError",
    "Status",
    "Watchdog",
    "as_json",
    "check_settings",
    "grace",
    "load_host",
    "parse_scenarios",
    "read_scenarios",
    "run_scenarios",
    "scenarios_of",
    "selected",
]
