"""The join rules: how the bundles that stand become one proposal.

The result does not depend on the order in which bundles are given, since each carries its place in the
chain; only ``Replace`` and ``Inject`` look at that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

import attrs

from continuity_core.model.decisions import (
    Adjust,
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
    halt = _first_halt(in_chain_order)
    no_resume = None
    if halt is not None:
        no_resume = f"{halt.plugin} halted recovery: {halt.decision.reason}"
        falls = [bundle for bundle in in_chain_order if bundle.resume is not None]
        dropped += tuple(Dropped(bundle.plugin, describe(bundle), no_resume) for bundle in falls)
        in_chain_order = _without_resume(in_chain_order)
        no_resume = no_resume if falls else None
    edits, refused = _join_edits(in_chain_order)
    return Proposal(
        resume=_first_resume(in_chain_order),
        wait=_longest_wait(in_chain_order, now),
        edits=edits,
        adjust=_smallest_adjust(in_chain_order),
        injections=tuple(
            Said(bundle.plugin, decision)
            for bundle in in_chain_order
            for decision in bundle.decisions
            if isinstance(decision, Inject)
        ),
        memory=_memories(in_chain_order),
        halt=halt,
        bundles=tuple(in_chain_order),
        dropped=tuple(dict.fromkeys(dropped + refused)),
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


def _first_halt(bundles: Iterable[Bundle]) -> Said[Halt] | None:
    halts = [Said(b.plugin, d) for b in bundles for d in b.decisions if isinstance(d, Halt)]
    return next((said for said in halts if said.decision.end_run), halts[0] if halts else None)


def _first_resume(bundles: Iterable[Bundle]) -> Said[Resume] | None:
    return next((Said(b.plugin, b.resume) for b in bundles if b.resume is not None), None)


def _longest_wait(bundles: Iterable[Bundle], now: datetime) -> Said[Wait] | None:
    waits = [Said(b.plugin, d) for b in bundles for d in b.decisions if isinstance(d, Wait)]
    return max(waits, key=lambda said: (said.decision.seconds_from(now), said.decision.stated), default=None)


def _smallest_adjust(bundles: Iterable[Bundle]) -> Said[Adjust] | None:
    joined: Said[Adjust] | None = None
    for bundle in bundles:
        for decision in bundle.decisions:
            if not isinstance(decision, Adjust):
                continue
            if joined is None:
                joined = Said(bundle.plugin, decision)
                continue
            have = joined.decision
            limits = [x for x in (have.max_output_tokens, decision.max_output_tokens) if x is not None]
            efforts = [x for x in (have.reasoning_effort, decision.reasoning_effort) if x is not None]
            smaller = Adjust(
                max_output_tokens=min(limits, default=None),
                reasoning_effort=min(efforts, key=lambda effort: effort.rank, default=None),
            )
            if smaller != have:
                joined = Said(bundle.plugin, smaller)
    return joined


def _memories(bundles: Iterable[Bundle]) -> Mapping[str, JSONValue]:
    return MappingProxyType(
        {b.plugin: d.value for b in bundles for d in b.decisions if isinstance(d, Remember)}
    )


def _join_edits(
    bundles: Iterable[Bundle],
) -> tuple[Mapping[EntryRef, Said[Edit]], tuple[Dropped, ...]]:
    edits: dict[EntryRef, Said[Edit]] = {}
    dropped: list[Dropped] = []
    for bundle in bundles:
        for decision in bundle.decisions:
            if isinstance(decision, Omit):
                present = edits.get(decision.entry)
                if present is None or isinstance(present.decision, Replace):
                    edits[decision.entry] = Said(bundle.plugin, decision)
            elif isinstance(decision, Replace):
                why = _why_not_narrower(edits.get(decision.entry), decision)
                if why is None:
                    edits[decision.entry] = Said(bundle.plugin, decision)
                else:
                    dropped.append(Dropped(bundle.plugin, "Replace", why))
    return MappingProxyType(edits), tuple(dropped)


def _why_not_narrower(present: Said[Edit] | None, replace: Replace) -> str | None:
    if present is None:
        return None
    if isinstance(present.decision, Omit):
        return f"{present.plugin} leaves {replace.entry.key} out, and an omission is not taken back"
    if len(replace.content) > len(present.decision.content):
        return f"{present.plugin} shows less of {replace.entry.key}: a later Replace may only narrow further"
    return None
