"""What outlives an invocation, and the process where sessions are kept: budgets, in the session's state."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from continuity_core.engine.base_run import BaseRun
from continuity_core.engine.state import RunState
from continuity_core.model.decisions import JSONValue

LOG = logging.getLogger("continuity.openjiuwen")

KEY = "continuity"
"""Our key in the session's state."""


@attrs.frozen
class Memory:
    """Kept in the state of one session of the framework; written only when there is something to remember."""

    session: Any
    """``None`` where the agent was invoked without one."""

    def run_state(self, name: str, work: Any, now: datetime) -> Mapping[str, JSONValue] | None:
        """The state to start a run of the session ``name`` with; ``None`` to start afresh.

        ``work`` is the round of a lasting interaction, if it is one. A round that the agent makes by itself
        goes on with the budgets of the round before; a request of the user gets new ones, under what the
        session has waited for already.
        """
        saved = self._saved.get("run")
        if not isinstance(saved, str):
            return None
        try:
            state = RunState.from_json(json.loads(saved))
        except ValueError as error:
            LOG.warning("session %s: %s", name, error)
            return None
        if state.session_id != name:
            return None
        goal = goal_of(work)
        if not (is_by_itself(work) or (goal is not None and goal == self._saved.get("goal"))):
            state = RunState(run=secrets.token_hex(6), session_id=name, started_at=now, session=state.session)
        return state.to_json()

    def save(self, run: BaseRun, work: Any) -> None:
        """Remember a run that is over."""
        state = run.state
        if self.session is not None and (self._saved or state.resumes or state.held):
            # As text: the framework merges mappings, and takes a null for a key that is to go.
            self.session.update_state({KEY: {"run": json.dumps(state.to_json()), "goal": goal_of(work)}})

    @property
    def _saved(self) -> Mapping[str, Any]:
        saved = None if self.session is None else self.session.get_state(KEY)
        return saved if isinstance(saved, Mapping) else {}


def work_of(agent: Any) -> Any:
    """The round of a lasting interaction that a DeepAgent works at, if it does."""
    return getattr(getattr(agent, "active_round", None), "work", None)


def goal_of(work: Any) -> str | None:
    """The goal that a round is an attempt at."""
    return str(work.context.get("goal_id")) if work is not None and work.kind == "goal" else None


def is_by_itself(work: Any) -> bool:
    """Whether nobody asked for this round: tasks of the round before are left."""
    return (
        work is not None
        and work.kind == "user"
        and not work.is_follow_up
        and not work.reset_loop
        and isinstance(work.inputs.get("query"), str)
    )
