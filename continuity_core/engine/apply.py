"""Applying: what a proposal costs and leaves behind, once it is known what became of it."""

from __future__ import annotations

import json

from continuity_core.engine.budgets import (
    charge,
    close_exhausted,
    count_window_wait,
    find_budget,
    qualified,
)
from continuity_core.engine.chain import Chain
from continuity_core.engine.state import HeldWait, Injection, Outcome, PluginWaits, RunState, SessionState
from continuity_core.model.budgets import Window
from continuity_core.model.decisions import JSONValue, Wait
from continuity_core.model.evolving import changed
from continuity_core.model.proposal import EMPTY_PROPOSAL, Bundle, Proposal

_NO_WAITS = PluginWaits()
_NOBODY: frozenset[str] = frozenset()


def apply(state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait, chain: Chain) -> RunState:
    """The state after ``proposal`` came to ``outcome``, and its wait to ``held``.

    A budget is charged only where the turn was ``scheduled``; a wait counts when it was held to its end.
    """
    if proposal is EMPTY_PROPOSAL or outcome is Outcome.OBSERVED:
        return state
    waiting: list[Bundle] = []
    if held.seconds or held.completed:
        waiting = [b for b in proposal.bundles if any(type(said) is Wait for said in b.decisions)]
    committed = _committed(proposal, outcome) if proposal.memory or proposal.edits else _NOBODY
    changes = _changes(state, proposal, outcome, held, committed)
    if held.seconds or held.completed:
        changes |= _counted_wait(state, waiting, held)
    session = _session_after(state, proposal, held, committed, waiting, chain)
    if session is not state.session:
        changes["session"] = session
    if changes:
        state = changed(state, **changes)
    if outcome is Outcome.SCHEDULED and proposal.resume is not None:
        state = charge(proposal.resume.decision, chain.by_name[proposal.resume.plugin], state)
    return state


def _changes(
    state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait, committed: frozenset[str]
) -> dict[str, object]:
    """What the decisions leave behind in the run, but for budgets and waits."""
    changes: dict[str, object] = {}
    memory = {name: _copied(value) for name, value in proposal.memory.items() if name in committed}
    if memory:
        changes["memory"] = {**state.memory, **memory}
    if proposal.halt is not None and state.halted is None:
        changes["halted"] = proposal.halt.decision.reason
    if proposal.faults:
        disabled = {fault.plugin for fault in proposal.faults if fault.disables}
        changes["disabled"] = state.disabled | disabled
    cut_short = proposal.hold_seconds > 0 and not held.completed
    if proposal.wait_refused or cut_short:
        changes["turn_refused"] = proposal.no_resume
    if outcome is Outcome.SCHEDULED and proposal.injections:
        texts = {said.plugin: Injection(text=said.decision.text) for said in proposal.injections}
        changes["injections"] = {**state.injections, **texts}
    return changes


def _counted_wait(state: RunState, waiting: list[Bundle], held: HeldWait) -> dict[str, object]:
    """One wait was held for all the bundles with one."""
    waits = dict(state.waits)
    for bundle in waiting:
        before = waits.get(bundle.plugin, _NO_WAITS)
        waits[bundle.plugin] = PluginWaits(
            count=before.count + held.completed, seconds=before.seconds + held.seconds
        )
    return {
        "waits": waits,
        "held": state.held + held.seconds,
        "turn_waited": state.turn_waited or held.completed,
    }


def _session_after(
    state: RunState,
    proposal: Proposal,
    held: HeldWait,
    committed: frozenset[str],
    waiting: list[Bundle],
    chain: Chain,
) -> SessionState:
    """What outlives the run: committed edits, and the windows that the wait was held in."""
    session = state.session
    edits = {ref: said.decision for ref, said in proposal.edits.items() if said.plugin in committed}
    if edits:
        session = session.with_edits(edits)
    for bundle in waiting:
        resume, plugin = bundle.resume, chain.by_name[bundle.plugin]
        budget = None if resume is None else find_budget(plugin, resume.budget)
        if isinstance(budget, Window):
            session = count_window_wait(qualified(plugin, budget.name), held, session, state.run)
    for name in proposal.exhausted:
        session = close_exhausted(name, session, state.run)
    return session


def _copied(value: JSONValue) -> JSONValue:
    """The value as plain JSON of our own: what the plugin does to its object later changes nothing."""
    return json.loads(json.dumps(value))


def _committed(proposal: Proposal, outcome: Outcome) -> frozenset[str]:
    """The plugins whose edits and memory count: those of a resume only where it, or other work, goes on."""
    goes_on = outcome is Outcome.SCHEDULED or (outcome is Outcome.SUPERSEDED and proposal.superseded)
    return frozenset(bundle.plugin for bundle in proposal.bundles if goes_on or bundle.resume is None)
