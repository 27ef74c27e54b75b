"""Whether a plugin keeps the contract: for its author's tests."""

from __future__ import annotations

from continuity_core.testing.plugin_checks.checking import PluginCheckError, check_plugin

__all__ = ["PluginCheckError", "check_plugin"]
