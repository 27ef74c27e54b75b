"""A scripted model, and a run on it in a few lines."""

from __future__ import annotations

from continuity_core.testing.scripted.checking import PluginCheckError, check_plugin
from continuity_core.testing.scripted.model import ScriptedModel, ScriptedTurn, ScriptOver
from continuity_core.testing.scripted.playing import Played, PlayedRequest, Resumed, play, play_async

__all__ = [
    "Played",
    "PlayedRequest",
    "PluginCheckError",
    "Resumed",
    "ScriptOver",
    "ScriptedModel",
    "ScriptedTurn",
    "check_plugin",
    "play",
    "play_async",
]
