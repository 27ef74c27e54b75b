"""What outlives the process, in the conversation's own state: budgets, and how turns in the log ended."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from continuity_core.engine.state import RunState
from continuity_core.model.decisions import JSONValue
from continuity_core.model.stop_reason import StopReason

LOG = logging.getLogger("continuity.openhands")

KEY = "continuity"
"""Our key in ``state.agent_state``."""
KEPT_STOPS = 256
"""Turns whose bad end is remembered; the oldest goes first."""


@attrs.define(eq=False)
class Memory:
    """Kept in ``state.agent_state``; written only when there is something to remember."""

    state: Any
    stops: dict[str, StopReason] = attrs.field(factory=dict)
    """How turns ended that did not end well and are in the log, by the id of their first event."""
    is_changed: bool = False
    """There is a stop that was not saved yet."""

    @classmethod
    def of(cls, state: Any) -> Memory:
        """What was remembered; what cannot be read is left."""
        memory = cls(state)
        saved = memory._saved.get("stops")
        if isinstance(saved, Mapping):
            words = {reason.value: reason for reason in StopReason}
            memory.stops = {str(id): words[word] for id, word in saved.items() if word in words}
        return memory

    def note_stop(self, event_id: str, reason: StopReason) -> None:
        """A turn in the log did not end well."""
        self.stops[event_id] = reason
        self.is_changed = True
        for oldest in list(self.stops)[: max(0, len(self.stops) - KEPT_STOPS)]:
            del self.stops[oldest]

    def run_state(self, session: str, now: datetime) -> dict[str, JSONValue] | None:
        """The state to start a run with: that of the same user request, or of the same session.

        ``None`` where there is nothing to go on with.
        """
        saved = self._saved.get("run")
        if not isinstance(saved, Mapping):
            return None
        try:
            state = RunState.from_json(saved)
        except ValueError as error:
            LOG.warning("conversation %s: %s", session, error)
            return None
        if state.session_id != session:  # A fork has the memory of what it was forked from.
            return None
        if self._saved.get("request") != self.state.last_user_message_id:
            run = secrets.token_hex(6)
            state = RunState(run=run, session_id=session, started_at=now, session=state.session)
        return state.to_json()

    def save(self, run: RunState) -> None:
        """Remember the run, for the user request that came last."""
        self.is_changed = False
        self.state.agent_state = {
            **self.state.agent_state,
            KEY: {
                "request": self.state.last_user_message_id,
                "run": run.to_json(),
                "stops": {id: reason.value for id, reason in self.stops.items()},
            },
        }

    @property
    def _saved(self) -> Mapping[str, Any]:
        saved = self.state.agent_state.get(KEY)
        return saved if isinstance(saved, Mapping) else {}
