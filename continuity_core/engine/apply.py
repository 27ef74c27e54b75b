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
from continuity_core.engine.state import HeldWait, Injection, Outcome, PluginWaits, RunState
from continuity_core.model.budgets import Window
from continuity_core.model.decisions import JSONValue, Wait
from continuity_core.model.evolving import changed
from continuity_core.model.proposal import EMPTY_PROPOSAL, Proposal


def apply(state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait, chain: Chain) -> RunState:
    """The state after ``proposal`` came to ``outcome``, and its wait to ``held``.

    A budget is charged only where the turn was ``scheduled``; a wait counts when it was held to its end.
    """
    if proposal is EMPTY_PROPOSAL or outcome is Outcome.OBSERVED:
        return state
    state = _count_wait(state, proposal, held, chain)
    for name in proposal.exhausted:
        state = close_exhausted(name, state)
    changes = _changes(state, proposal, outcome, held)
    if changes:
        state = changed(state, **changes)
    if outcome is Outcome.SCHEDULED and proposal.resume is not None:
        state = charge(proposal.resume.decision, chain.by_name[proposal.resume.plugin], state)
    return state


def _changes(state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait) -> dict[str, object]:
    committed = _committed(proposal, outcome)
    changes: dict[str, object] = {}
    memory = {name: _copied(value) for name, value in proposal.memory.items() if name in committed}
    if memory:
        changes["memory"] = {**state.memory, **memory}
    if proposal.halt is not None and state.halted is None:
        changes["halted"] = proposal.halt.decision.reason
    disabled = {fault.plugin for fault in proposal.faults if fault.disables}
    if disabled:
        changes["disabled"] = state.disabled | disabled
    cut_short = proposal.hold_seconds > 0 and not held.completed
    if proposal.wait_refused or cut_short:
        changes["turn_refused"] = proposal.no_resume
    if outcome is Outcome.SCHEDULED and proposal.injections:
        texts = {said.plugin: Injection(text=said.decision.text) for said in proposal.injections}
        changes["injections"] = {**state.injections, **texts}
    edits = {ref: said.decision for ref, said in proposal.edits.items() if said.plugin in committed}
    if edits:
        changes["session"] = state.session.with_edits(edits)
    return changes


def _count_wait(state: RunState, proposal: Proposal, held: HeldWait, chain: Chain) -> RunState:
    if not held.seconds and not held.completed:
        return state
    waits = dict(state.waits)
    for bundle in proposal.bundles:
        if not any(isinstance(decision, Wait) for decision in bundle.decisions):
            continue
        before = waits.get(bundle.plugin, PluginWaits())
        waits[bundle.plugin] = PluginWaits(
            count=before.count + held.completed, seconds=before.seconds + held.seconds
        )
        resume = bundle.resume
        plugin = chain.by_name[bundle.plugin]
        budget = None if resume is None else find_budget(plugin, resume.budget)
        if isinstance(budget, Window):
            state = count_window_wait(qualified(plugin, budget.name), held, state)
    return changed(
        state,
        waits=waits,
        held=state.held + held.seconds,
        turn_waited=state.turn_waited or held.completed,
    )


def _copied(value: JSONValue) -> JSONValue:
    """The value as plain JSON of our own: what the plugin does to its object later changes nothing."""
    return json.loads(json.dumps(value))


def _committed(proposal: Proposal, outcome: Outcome) -> frozenset[str]:
    """The plugins whose edits and memory count: those of a resume only where it, or other work, goes on."""
    goes_on = outcome is Outcome.SCHEDULED or (outcome is Outcome.SUPERSEDED and proposal.superseded)
    return frozenset(bundle.plugin for bundle in proposal.bundles if goes_on or bundle.resume is None)
