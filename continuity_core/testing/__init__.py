"""What makes tests of recovery quick and certain.

Clocks that do not wait, a scripted model, a provider that fails on demand, and the suite that every host has
to pass. Nothing optional is imported before it is used: the fault server and the conformance suite need the
extra ``demo``, the rest nothing beyond the core.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from continuity_core.testing.clocks import RecordedWait, ScaledClock, VirtualClock
    from continuity_core.testing.conformance import ConformanceHost, read_scenarios, run_scenarios
    from continuity_core.testing.fault_server import FaultServer, ThreadedFaultServer
    from continuity_core.testing.plugin_checks import PluginCheckError, check_plugin
    from continuity_core.testing.scripted import (
        Played,
        PlayedRequest,
        Resumed,
        ScriptedModel,
        ScriptOver,
        play,
        play_async,
    )

__all__ = [
    "ConformanceHost",
    "FaultServer",
    "Played",
    "PlayedRequest",
    "PluginCheckError",
    "RecordedWait",
    "Resumed",
    "ScaledClock",
    "ScriptOver",
    "ScriptedModel",
    "ThreadedFaultServer",
    "VirtualClock",
    "check_plugin",
    "play",
    "play_async",
    "read_scenarios",
    "run_scenarios",
]

_MODULES = {
    "clocks": ("RecordedWait", "ScaledClock", "VirtualClock"),
    "conformance": ("ConformanceHost", "read_scenarios", "run_scenarios"),
    "fault_server": ("FaultServer", "ThreadedFaultServer"),
    "plugin_checks": ("PluginCheckError", "check_plugin"),
    "scripted": (
        "Played",
        "PlayedRequest",
        "Resumed",
        "ScriptOver",
        "ScriptedModel",
        "play",
        "play_async",
    ),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is used."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
