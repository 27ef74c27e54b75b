"""A run, and a boundary of it, as one plugin sees them."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime

from continuity_core.engine.state import PluginWaits, RunState
from continuity_core.model.boundary import Boundary, Mode, RunView
from continuity_core.model.evolving import changed
from continuity_core.model.turn import Turn

_NO_WAITS = PluginWaits()
_NO_VIEW = RunView(id="", session="", started_at=datetime.fromtimestamp(0, UTC))


def common_view(state: RunState, mode: Mode, now: datetime, ended: Turn | None = None) -> RunView:
    """What every plugin sees of the run; a turn that ``ended`` and is not noted in the state yet counts."""
    turns, requests, output_tokens = state.turns, state.requests, state.output_tokens
    if ended is not None:
        turns, requests = turns + 1, requests + ended.requests
        output_tokens += ended.usage.output_tokens or 0
    return changed(
        _NO_VIEW,
        id=state.run,
        session=state.session_id,
        parent=state.parent,
        mode=mode,
        started_at=state.started_at,
        now=now,
        turns=turns,
        requests=requests,
        output_tokens=output_tokens,
        resumes=state.resumes,
        held_seconds=state.held,
        spent=state.spent,
    )


def is_alike_for_all(state: RunState) -> bool:
    """Whether nothing in the state belongs to one plugin, so that all see the same."""
    return not (state.waits or state.memory or state.injections)


def view_for(view: RunView, state: RunState, plugin: str) -> RunView:
    """The view with what belongs to this plugin; the same object where nothing does."""
    waits = state.waits.get(plugin)
    memory = state.memory.get(plugin)
    injection = state.injections.get(plugin)
    if waits is None and memory is None and injection is None:
        return view
    waits = waits or _NO_WAITS
    return changed(
        view,
        waits=waits.count,
        waited_seconds=waits.seconds,
        memory=deepcopy(memory),
        injected=None if injection is None else injection.text,
    )


def boundary_for(boundary: Boundary, state: RunState, plugin: str) -> Boundary:
    """The boundary with this plugin's view of the run."""
    view = view_for(boundary.run, state, plugin)
    return boundary if view is boundary.run else changed(boundary, run=view)
