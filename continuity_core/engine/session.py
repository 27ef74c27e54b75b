"""A session: what outlives its runs, and which of them is going on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from continuity_core.engine.state import NEW_SESSION, SessionState

if TYPE_CHECKING:
    from continuity_core.engine.base_run import BaseRun
    from continuity_core.engine.project import Seen


@attrs.define(eq=False)
class Session:
    """One conversation; its state changes when a run of it does."""

    id: str
    state: SessionState = NEW_SESSION
    active: BaseRun | None = None
    """The run that goes on, if any."""
    seen: Seen | None = None
    """The history as its last request showed it."""
