"""Deciding: the same boundary and the same state give the same proposal, and nothing else happens."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import attrs

from continuity_core.engine.budgets import Allowance, held_left
from continuity_core.engine.bundles import BundleCheck
from continuity_core.engine.chain import CallResult, Chain, SlowCall, isolated, read_bundle
from continuity_core.engine.join import describe, join, without_resumes
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import RunState
from continuity_core.engine.views import boundary_for, is_alike_for_all
from continuity_core.model.boundary import Boundary, Mode, Point
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Wait
from continuity_core.model.evolving import changed
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.order import Stage
from continuity_core.model.proposal import EMPTY_PROPOSAL, Bundle, Dropped, PluginFault, Proposal
from continuity_core.model.stop_reason import StopReason


class Decided(NamedTuple):
    """A proposal, and the calls that were slow on the way."""

    proposal: Proposal
    slow: tuple[SlowCall, ...] = ()


_UNDECIDED = Decided(EMPTY_PROPOSAL)


def decide(
    boundary: Boundary, state: RunState, chain: Chain, settings: Settings, above: Allowance
) -> Decided:
    """Ask the chain and join what it says; nothing is charged, held or edited."""
    if settings.mode is Mode.OFF or boundary.turn.unfinished:
        return _UNDECIDED
    if boundary.cause.kind is CauseKind.CANCELLED or boundary.host.aborted:
        return _UNDECIDED
    links = chain.turn_ended if boundary.point is Point.TURN_ENDED else chain.before_settle
    proposal, fold = EMPTY_PROPOSAL, None
    alike = is_alike_for_all(state)
    for link in links:
        if link.name in state.disabled:
            continue
        seen = boundary if alike else boundary_for(boundary, state, link.name)
        result = isolated(link, read_bundle, seen, proposal)
        if result is not None:
            fold = fold or _Fold(BundleCheck(boundary=boundary, state=state, settings=settings, above=above))
            proposal = fold.take(result, link.plugin)
    if fold is None:
        return _UNDECIDED
    if proposal is EMPTY_PROPOSAL:
        return Decided(proposal, fold.slow)
    return Decided(_conclude(proposal, boundary, state, chain, settings, above), fold.slow)


@attrs.define(eq=False)
class _Fold:
    """The fold of one boundary over the chain; every join is of all that was said, so that it stays one."""

    check: BundleCheck
    proposal: Proposal = EMPTY_PROPOSAL
    slow: tuple[SlowCall, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    """Those that passed the check."""
    dropped: tuple[Dropped, ...] = ()
    faults: tuple[PluginFault, ...] = ()
    exhausted: tuple[str, ...] = ()

    def take(self, result: CallResult, plugin: RegisteredPlugin) -> Proposal:
        """Add what came of one call; gives the proposal so far."""
        self.slow += result.slow
        if result.faults:
            self.faults += result.faults
        elif result.value is not None:
            self._add(result.value, plugin)
        else:
            return self.proposal
        self.proposal = join(
            self.bundles,
            self.check.boundary.now,
            dropped=self.dropped,
            faults=self.faults,
            exhausted=self.exhausted,
        )
        return self.proposal

    def _add(self, bundle: Bundle, plugin: RegisteredPlugin) -> None:
        refusal = self.check.refusal(bundle, plugin)
        if refusal is None:
            self.bundles += (bundle,)
            return
        self.dropped += (Dropped(bundle.plugin, describe(bundle), refusal.why),)
        if refusal.window is not None:
            self.exhausted += (refusal.window,)


def goes_native_first(boundary: Boundary) -> bool:
    """Whether the host's own recovery is tried before a resume of ours at ``turn_ended``."""
    if boundary.turn.failure is not None or boundary.turn.stop_reason is StopReason.ERROR:
        return True
    kind = boundary.cause.kind
    if kind is CauseKind.CONTEXT_OVERFLOW or boundary.host.retry_follows is True:
        return True
    return kind is CauseKind.LENGTH and boundary.host.recovers_length and not boundary.at_cap


def _conclude(
    proposal: Proposal,
    boundary: Boundary,
    state: RunState,
    chain: Chain,
    settings: Settings,
    above: Allowance,
) -> Proposal:
    """What stands once the chain is through: other work and the host's own recovery come first."""
    host = boundary.host
    if proposal.resume is None and proposal.no_resume is None and proposal.dropped:
        proposal = changed(proposal, no_resume=_why_dropped(proposal))
    other_work = _other_work(host)
    if other_work is not None:
        if proposal.resume is None:
            return proposal
        return changed(
            proposal,
            resume=None,
            no_resume=other_work,
            superseded=host.pending_input is not None,
            wait_refused=proposal.wait is not None,
        )
    native_first = boundary.point is Point.TURN_ENDED and goes_native_first(boundary)
    if native_first:
        proposal = _without_edits(proposal)
    goes_on = host.retry_follows is True and boundary.point is Point.TURN_ENDED
    if proposal.resume is None and not goes_on:
        return proposal
    ceiling = held_left(state, settings, above)
    added = settings.spread * _own_share(state) if settings.spread else 0.0
    return _with_hold(proposal, boundary, chain, ceiling, added, goes_on=goes_on, native_first=native_first)


def _own_share(state: RunState) -> float:
    """A number from 0 to 1 that is the run's own at this turn, and the same wherever it is decided."""
    return zlib.crc32(f"{state.run}/{state.turns}".encode()) / 0xFFFFFFFF


def _with_hold(
    proposal: Proposal,
    boundary: Boundary,
    chain: Chain,
    ceiling: float,
    added: float,
    *,
    goes_on: bool,
    native_first: bool,
) -> Proposal:
    """Work out how long to hold, or drop the resume where a stated wait cannot be held in full.

    ``added`` are seconds that the run waits longer than others would, as far as the wait's limit allows.
    """
    now = boundary.now
    room = ceiling
    deadline = boundary.host.deadline
    if deadline is not None:
        room = min(room, max(0.0, (deadline - now).total_seconds()))
    longest, until = 0.0, None
    for bundle in proposal.bundles:
        if goes_on and chain.by_name[bundle.plugin].order.stage is not Stage.WAIT:
            continue
        for wait in bundle.decisions:
            if type(wait) is not Wait:
                continue
            seconds = wait.seconds_from(now)
            limit = room if wait.cap is None else min(room, wait.cap)
            if wait.stated and seconds > limit:
                return without_resumes(
                    proposal,
                    _why_too_long(wait, seconds, limit, deadline),
                    now,
                    wait.until or now + timedelta(seconds=seconds),
                )
            if seconds > 0 and room <= 0:
                return without_resumes(proposal, "nothing is left of the time that a run may be held", now)
            seconds = min(seconds + added, limit) if seconds > 0 else 0.0
            if seconds > longest:
                longest, until = seconds, now + timedelta(seconds=seconds) if wait.stated else None
    return changed(
        proposal,
        hold_seconds=longest,
        hold_until=until,
        resume_at_settle=native_first and proposal.resume is not None,
    )


def _without_edits(proposal: Proposal) -> Proposal:
    """The proposal while the host's own recovery goes first: it needs the broken turn where it is."""
    if not proposal.edits:
        return proposal
    why = "the host's own recovery goes first"
    without = [bundle.plugin for bundle in proposal.bundles if bundle.resume is None]
    editing = {said.plugin for said in proposal.edits.values()} if without else ()
    dropped = tuple([Dropped(plugin, "edits", why) for plugin in without if plugin in editing])
    return changed(proposal, edits=EMPTY_PROPOSAL.edits, dropped=proposal.dropped + dropped)


def _other_work(host: HostFacts) -> str | None:
    if host.pending_input is not None:
        return f"user input is pending ({host.pending_input})"
    if host.continuation_requested:
        return "another continuation was already requested"
    return host.no_more_turns


def _why_dropped(proposal: Proposal) -> str | None:
    resumes: Mapping[str, str] = {d.plugin: d.why for d in proposal.dropped if "Resume" in d.what}
    return next(iter(resumes.values()), None)


def _why_too_long(wait: Wait, seconds: float, limit: float, deadline: datetime | None) -> str:
    if wait.cap is not None and seconds > wait.cap:
        bound = f"the longest wait allowed is {wait.cap:.0f} s"
    elif deadline is not None and limit < seconds:
        bound = f"the caller's deadline leaves {limit:.0f} s"
    else:
        bound = f"the ceiling leaves {limit:.0f} s"
    return f"the provider asks for a wait of {seconds:.0f} s ({wait.why}), and {bound}"
