"""The join rules: how the bundles that stand become one proposal.

The result does not depend on the order in which bundles are given, since each carries its place in the
chain; only ``Replace`` and ``Inject`` look at that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

import attrs

from continuity_core.model.decisions import (
    Adjust,
    Decision,
    Edit,
    Halt,
    Inject,
    JSONValue,
    Omit,
    Remember,
    Replace,
    Resume,
    Wait,
)
from continuity_core.model.entries import EntryRef
from continuity_core.model.evolving import changed
from continuity_core.model.proposal import EMPTY_PROPOSAL, Bundle, Dropped, PluginFault, Proposal, Said


def join(
    bundles: Sequence[Bundle],
    now: datetime,
    *,
    dropped: tuple[Dropped, ...] = (),
    faults: tuple[PluginFault, ...] = (),
    exhausted: tuple[str, ...] = (),
) -> Proposal:
    """Join bundles that were checked. A halt drops every bundle that asks for a resume."""
    if not bundles:
        if not (dropped or faults or exhausted):
            return EMPTY_PROPOSAL
        return Proposal(dropped=dropped, faults=faults, exhausted=exhausted)
    in_chain_order = sorted(bundles, key=lambda bundle: bundle.rank)
    said = _by_kind(in_chain_order)
    halt = _first_halt(said.get(Halt, ()))
    no_resume = None
    if halt is not None:
        falls = [bundle for bundle in in_chain_order if bundle.resume is not None]
        if falls:
            no_resume = f"{halt.plugin} halted recovery: {halt.decision.reason}"
            dropped += tuple(Dropped(bundle.plugin, describe(bundle), no_resume) for bundle in falls)
            in_chain_order = _without_resume(in_chain_order)
            said = _by_kind(in_chain_order)
    edits, refused = _join_edits(said.get(Omit, ()))
    return changed(
        EMPTY_PROPOSAL,
        resume=said[Resume][0] if Resume in said else None,
        wait=_longest_wait(said.get(Wait, ()), now),
        edits=edits,
        adjust=_smallest_adjust(said.get(Adjust, ())),
        injections=tuple(said.get(Inject, ())),
        memory=_memories(said.get(Remember, ())),
        halt=halt,
        bundles=tuple(in_chain_order),
        dropped=tuple(dict.fromkeys(dropped + refused)) if dropped or refused else (),
        faults=faults,
        exhausted=exhausted,
        no_resume=no_resume,
    )


def without_resumes(
    proposal: Proposal, why: str, now: datetime, possible_at: datetime | None = None
) -> Proposal:
    """The proposal after every bundle that asks for a resume fell, since its wait cannot be held."""
    falls = [bundle for bundle in proposal.bundles if bundle.resume is not None]
    joined = join(
        _without_resume(proposal.bundles),
        now,
        dropped=proposal.dropped + tuple(Dropped(bundle.plugin, describe(bundle), why) for bundle in falls),
        faults=proposal.faults,
        exhausted=proposal.exhausted,
    )
    return changed(joined, no_resume=why, possible_at=possible_at, wait_refused=True)


def describe(bundle: Bundle) -> str:
    """The kinds of a bundle's decisions, for a person."""
    return ", ".join(dict.fromkeys(type(decision).__name__ for decision in bundle.decisions))


def _without_resume(bundles: Iterable[Bundle]) -> list[Bundle]:
    """The bundles but for those that ask for a resume, of which only a halt stays: it is for good."""
    rest = []
    for bundle in bundles:
        if bundle.resume is None:
            rest.append(bundle)
        elif halts := tuple(decision for decision in bundle.decisions if isinstance(decision, Halt)):
            rest.append(attrs.evolve(bundle, decisions=halts))
    return rest


def _by_kind(bundles: Iterable[Bundle]) -> dict[type[Decision], list[Said[Any]]]:
    """The decisions of each kind in chain order; both kinds of edits are under ``Omit``."""
    said: dict[type[Decision], list[Said[Any]]] = {}
    for bundle in bundles:
        for decision in bundle.decisions:
            kind = type(decision)
            said.setdefault(Omit if kind is Replace else kind, []).append(Said(bundle.plugin, decision))
    return said


def _first_halt(halts: Sequence[Said[Halt]]) -> Said[Halt] | None:
    return next((said for said in halts if said.decision.end_run), halts[0] if halts else None)


def _longest_wait(waits: Sequence[Said[Wait]], now: datetime) -> Said[Wait] | None:
    if len(waits) == 1:
        return waits[0]
    return max(waits, key=lambda said: (said.decision.seconds_from(now), said.decision.stated), default=None)


def _smallest_adjust(adjusts: Sequence[Said[Adjust]]) -> Said[Adjust] | None:
    joined: Said[Adjust] | None = None
    for said in adjusts:
        if joined is None:
            joined = said
            continue
        have, more = joined.decision, said.decision
        limits = [x for x in (have.max_output_tokens, more.max_output_tokens) if x is not None]
        efforts = [x for x in (have.reasoning_effort, more.reasoning_effort) if x is not None]
        smaller = Adjust(
            max_output_tokens=min(limits, default=None),
            reasoning_effort=min(efforts, key=lambda effort: effort.rank, default=None),
        )
        if smaller != have:
            joined = Said(said.plugin, smaller)
    return joined


def _memories(remembered: Sequence[Said[Remember]]) -> Mapping[str, JSONValue]:
    if not remembered:
        return EMPTY_PROPOSAL.memory
    return MappingProxyType({said.plugin: said.decision.value for said in remembered})


def _join_edits(
    several: Sequence[Said[Edit]],
) -> tuple[Mapping[EntryRef, Said[Edit]], tuple[Dropped, ...]]:
    if not several:
        return EMPTY_PROPOSAL.edits, ()
    edits: dict[EntryRef, Said[Edit]] = {}
    dropped: list[Dropped] = []
    for said in several:
        decision = said.decision
        present = edits.get(decision.entry)
        if isinstance(decision, Omit):
            if present is None or isinstance(present.decision, Replace):
                edits[decision.entry] = said
            continue
        why = _why_not_narrower(present, decision)
        if why is None:
            edits[decision.entry] = said
        else:
            dropped.append(Dropped(said.plugin, "Replace", why))
    return MappingProxyType(edits), tuple(dropped)


def _why_not_narrower(present: Said[Edit] | None, replace: Replace) -> str | None:
    if present is None:
        return None
    if isinstance(present.decision, Omit):
        return f"{present.plugin} leaves {replace.entry.key} out, and an omission is not taken back"
    if len(replace.content) > len(present.decision.content):
        return f"{present.plugin} shows less of {replace.entry.key}: a later Replace may only narrow further"
    return None
