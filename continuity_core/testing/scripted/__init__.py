"""A scripted model, and a run on it in a few lines."""

from __future__ import annotations

from continuity_core.testing.scripted.model import ScriptedModel, ScriptedTurn, ScriptOver
from continuity_core.testing.scripted.playing import Played, PlayedRequest, Resumed, play, play_async

__all__ = [
    "Played",
    "PlayedRequest",
    "Resumed",
    "ScriptOver",
    "ScriptedModel",
    "ScriptedTurn",
    "play",
    "play_async",
]
