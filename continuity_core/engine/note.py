"""Taking note of a turn, before anything is decided about it."""

from __future__ import annotations

from continuity_core.engine.budgets import end_windows
from continuity_core.engine.state import RECENT_TURNS, RunState, Streak
from continuity_core.model.boundary import Mode
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.evolving import changed
from continuity_core.model.turn import ToolCall, Turn, TurnFacts, digest_of

_WAS_NOT_ON = "recovery was not on when the turn ended"


def note(turn: Turn, cause: Cause, state: RunState, mode: Mode) -> RunState:
    """The state after this turn ended."""
    facts = facts_of(turn, cause)
    state = changed(
        state,
        turns=state.turns + 1,
        requests=state.requests + turn.requests,
        output_tokens=state.output_tokens + (turn.usage.output_tokens or 0),
        streak=_streak(facts, state),
        recent=(*state.recent[-(RECENT_TURNS - 1) :], facts),
        turn_waited=False,
        turn_refused=None if mode is Mode.ON else _WAS_NOT_ON,
    )
    return end_windows(cause.kind, state)


def facts_of(turn: Turn, cause: Cause) -> TurnFacts:
    """What is remembered of the turn."""
    calls = turn.tool_calls
    last = turn.last_substantive
    return TurnFacts(
        cause=cause.kind,
        stop_reason=turn.stop_reason,
        tools=tuple([call.name for call in calls]),
        argument_digests=tuple([digest_of(call.arguments) for call in calls]),
        content_digest=turn.content_digest(),
        ends_in=None if last is None else ("call" if isinstance(last, ToolCall) else "text"),
    )


def _streak(facts: TurnFacts, state: RunState) -> Streak | None:
    if facts.cause is not CauseKind.LENGTH:
        return None
    streak = state.streak
    if streak is not None and streak.digest == facts.content_digest:
        return streak
    return Streak(digest=facts.content_digest)
