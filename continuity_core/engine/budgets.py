"""What a resume may cost: whether it is affordable, and charging it."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import HeldWait, RunState, SessionState, WindowState
from continuity_core.model.budgets import Budget, Window
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Resume
from continuity_core.model.evolving import changed


@attrs.frozen(kw_only=True)
class Allowance:
    """What the runs above this one leave of the ceilings; ``inf`` where there is none above."""

    resumes: float = float("inf")
    held: float = float("inf")


NO_PARENT = Allowance()


@attrs.frozen(kw_only=True)
class Refusal:
    """Why a resume is not affordable."""

    why: str
    window: str | None = None
    """The window that had no wait left, as ``plugin.budget``."""


def qualified(plugin: RegisteredPlugin, name: str) -> str:
    """The name under which a budget is counted."""
    return f"{plugin.name}.{name}"


def find_budget(plugin: RegisteredPlugin, name: str | None) -> Budget | Window | None:
    """The budget that the plugin declared under this name."""
    for budget in plugin.budgets:
        if budget.name == name:
            return budget
    return None


def left_of_ceilings(state: RunState, settings: Settings, above: Allowance) -> Allowance:
    """What a run, and the runs under it, may still spend."""
    return Allowance(resumes=resumes_left(state, settings, above), held=held_left(state, settings, above))


def held_left(state: RunState, settings: Settings, above: Allowance) -> float:
    """Seconds that a run, and the runs under it, may still be held."""
    return min(settings.ceiling_held - state.held, above.held)


def resumes_left(state: RunState, settings: Settings, above: Allowance) -> float:
    """Resumes that a run, and the runs under it, may still have."""
    return min(settings.ceiling_resumes - state.resumes, above.resumes)


def not_affordable(
    resume: Resume,
    plugin: RegisteredPlugin,
    state: RunState,
    settings: Settings,
    above: Allowance = NO_PARENT,
) -> Refusal | None:
    """Why this resume cannot be paid for now; ``None`` where it can."""
    if settings.max_resumes == 0:
        return Refusal(why="max_resumes is 0")
    if resumes_left(state, settings, above) < 1:
        return Refusal(why=f"the ceiling of {settings.ceiling_resumes} resumes is reached")
    limit = settings.no_progress_limit
    if limit is not None and state.streak is not None and state.streak.resumes >= limit:
        return Refusal(why=f"no progress: {limit} resumes in a row brought the same output again")
    if resume.budget is None:
        return _over_max_resumes(state, settings)
    budget = find_budget(plugin, resume.budget)
    if budget is None:
        declared = ", ".join(b.name for b in plugin.budgets) or "none"
        return Refusal(
            why=f"it names the budget {resume.budget!r}, which it did not declare (declared: {declared})"
        )
    if isinstance(budget, Window):
        return _over_window(qualified(plugin, budget.name), budget, state)
    for charged in _with_enclosing(plugin, budget):
        used = state.spent.get(qualified(plugin, charged.name), 0)
        if used >= charged.limit:
            return Refusal(
                why=f"the budget {qualified(plugin, charged.name)} is spent ({used} of {charged.limit})"
            )
    return _over_max_resumes(state, settings)


def charge(resume: Resume, plugin: RegisteredPlugin, state: RunState) -> RunState:
    """The state after the resume was scheduled."""
    streak = state.streak
    changes: dict[str, object] = {"resumes": state.resumes + 1}
    if streak is not None:
        changes["streak"] = changed(streak, resumes=streak.resumes + 1)
    budget = find_budget(plugin, resume.budget)
    if not isinstance(budget, Window):
        changes["charged"] = state.charged + 1
        changes["spent"] = spent = dict(state.spent)
        for charged in () if budget is None else _with_enclosing(plugin, budget):
            name = qualified(plugin, charged.name)
            spent[name] = spent.get(name, 0) + 1
    return changed(state, **changes)


def count_window_wait(name: str, wait: HeldWait, session: SessionState, run: str) -> SessionState:
    """The session's state after a wait of a window, held by ``run``."""
    window = _open_window(session.windows.get(name), run)
    window = changed(window, waits=window.waits + wait.completed, held=window.held + wait.seconds)
    return changed(session, windows={**session.windows, name: window})


def close_exhausted(name: str, session: SessionState, run: str) -> SessionState:
    """The session's state after a window had no wait left in ``run``: a later run opens a longer one."""
    window = WindowState(exhausted=True, closed_in=run)
    return changed(session, windows={**session.windows, name: window})


def end_windows(cause: CauseKind, state: RunState) -> RunState:
    """A turn that is no ``usage_limit`` ends every window."""
    windows = state.session.windows
    if cause is CauseKind.USAGE_LIMIT or not windows:
        return state
    ended = {name: WindowState(exhausted=window.exhausted) for name, window in windows.items()}
    if ended == windows:
        return state
    return changed(state, session=changed(state.session, windows=ended))


def _with_enclosing(plugin: RegisteredPlugin, budget: Budget) -> Iterator[Budget]:
    current: Budget | Window | None = budget
    while isinstance(current, Budget):
        yield current
        current = find_budget(plugin, current.within)


def _over_max_resumes(state: RunState, settings: Settings) -> Refusal | None:
    if settings.max_resumes is not None and state.charged >= settings.max_resumes:
        return Refusal(why=f"max_resumes is spent ({state.charged} of {settings.max_resumes})")
    return None


def _over_window(name: str, budget: Window, state: RunState) -> Refusal | None:
    if state.turn_waited:
        return None
    window = state.session.windows.get(name)
    if window is not None and window.closed_in == state.run:
        return Refusal(why=f"the window {name} was exhausted in this run")
    window = _open_window(window, state.run)
    waits, held = (budget.later_waits, budget.later_held) if window.exhausted else (budget.waits, budget.held)
    if window.waits >= waits:
        return Refusal(why=f"the window {name} has had its {waits} waits", window=name)
    if window.held >= held:
        return Refusal(why=f"the window {name} has held {window.held:.0f} s of {held:.0f} s", window=name)
    return None


def _open_window(window: WindowState | None, run: str) -> WindowState:
    if window is None:
        return WindowState()
    if window.closed_in is not None and window.closed_in != run:
        return WindowState(exhausted=True)
    return window
