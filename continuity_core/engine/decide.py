"""Deciding: the pure core. The same boundary and the same state give the same proposal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs

from continuity_core.engine.budgets import (
    NO_PARENT,
    Allowance,
    charge,
    close_exhausted,
    count_window_wait,
    end_windows,
    find_budget,
    left_of_ceilings,
    qualified,
)
from continuity_core.engine.bundles import BundleCheck
from continuity_core.engine.chain import (
    Chain,
    Link,
    SlowCall,
    isolated,
    read_bundle,
    read_cause,
)
from continuity_core.engine.join import describe, join, without_resumes
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import (
    NOT_HELD,
    RECENT_TURNS,
    HeldWait,
    Injection,
    Outcome,
    PluginWaits,
    RunState,
    Streak,
)
from continuity_core.model.boundary import Boundary, Mode, Point, RunView
from continuity_core.model.budgets import Window
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.decisions import Wait
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.order import Stage
from continuity_core.model.proposal import EMPTY_PROPOSAL, Bundle, Dropped, PluginFault, Proposal
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import ToolCall, Turn, TurnFacts
from continuity_core.model.turn_cause import cause_of_turn

_WAS_NOT_ON = "recovery was not on when the turn ended"

_ABORTED = Cause(kind=CauseKind.CANCELLED, why="The user aborted the run.", rule="host_aborted")


@attrs.frozen(kw_only=True)
class Verdict:
    """What a turn was, and what went wrong while it was found out."""

    cause: Cause
    plugin: str | None = None
    """Who said so; ``None`` where the host or the stop reason alone decided."""
    faults: tuple[PluginFault, ...] = ()
    slow: tuple[SlowCall, ...] = ()


@attrs.frozen(kw_only=True)
class Decided:
    """A proposal, and the calls that were slow on the way."""

    proposal: Proposal
    slow: tuple[SlowCall, ...] = ()


@attrs.frozen(kw_only=True, eq=False)
class Engine:
    """A chain of plugins with the settings in force."""

    chain: Chain = attrs.field(factory=Chain)
    settings: Settings = attrs.field(factory=Settings)

    # ---------------------------------------------------------------- what a turn was

    def classify(
        self, turn: Turn, host: HostFacts, state: RunState, now: datetime | None = None
    ) -> Verdict:
        """Say what the turn was: the host's abort, else the first plugin's answer, else the stop reason.

        Where the answer is ``unknown`` the host's own classification stands in. ``now`` is what the plugins
        take for the moment of the turn's end.
        """
        if host.aborted or turn.stop_reason is StopReason.ABORTED:
            return Verdict(cause=_ABORTED)
        faults: list[PluginFault] = []
        slow: list[SlowCall] = []
        verdict = Verdict(cause=cause_of_turn(turn))
        for link in self.chain.classify:
            name = link.plugin.name
            if name in state.disabled:
                continue
            view = attrs.evolve(self.view(state, name), now=now)
            result = isolated(link, read_cause, turn, view)
            if result.fault is not None:
                faults.append(result.fault)
            if result.slow is not None:
                slow.append(result.slow)
            if result.value is not None:
                verdict = Verdict(cause=result.value, plugin=name)
                break
        if verdict.cause.kind is CauseKind.UNKNOWN and host.classification is not None:
            verdict = Verdict(cause=host.classification)
        return attrs.evolve(verdict, faults=tuple(faults), slow=tuple(slow)) if faults or slow else verdict

    # ---------------------------------------------------------------- taking note of a turn

    def note(self, turn: Turn, cause: Cause, state: RunState) -> RunState:
        """The state after this turn ended, before anything is decided about it."""
        facts = facts_of(turn, cause)
        streak = None
        if cause.kind is CauseKind.LENGTH:
            streak = state.streak
            if streak is None or streak.digest != facts.content_digest:
                streak = Streak(digest=facts.content_digest)
        state = attrs.evolve(
            state,
            turns=state.turns + 1,
            requests=state.requests + turn.requests,
            output_tokens=state.output_tokens + (turn.usage.output_tokens or 0),
            streak=streak,
            recent=(*state.recent[-(RECENT_TURNS - 1) :], facts),
            turn_waited=False,
            turn_refused=None if self.settings.mode is Mode.ON else _WAS_NOT_ON,
        )
        return end_windows(cause.kind, state)

    def view(self, state: RunState, plugin: str) -> RunView:
        """The run as this plugin sees it."""
        return self._view_for(self._common_view(state), state, plugin)

    def boundary(
        self, point: Point, turn: Turn, cause: Cause, host: HostFacts, state: RunState, now: datetime
    ) -> Boundary:
        """The boundary as it is shown to the chain; ``state`` has taken note of the turn."""
        return Boundary(
            point=point,
            turn=turn,
            cause=cause,
            host=host,
            run=attrs.evolve(self._common_view(state), now=now),
            now=now,
            recent=state.recent,
        )

    # ---------------------------------------------------------------- deciding

    def decide(self, boundary: Boundary, state: RunState, above: Allowance = NO_PARENT) -> Proposal:
        """Ask the chain and join what it says; nothing is charged, held or edited."""
        return self.decide_timed(boundary, state, above).proposal

    def decide_timed(self, boundary: Boundary, state: RunState, above: Allowance = NO_PARENT) -> Decided:
        """The same, with the calls that were slow."""
        if self.settings.mode is Mode.OFF or boundary.turn.unfinished:
            return Decided(proposal=EMPTY_PROPOSAL)
        if boundary.cause.kind is CauseKind.CANCELLED or boundary.host.aborted:
            return Decided(proposal=EMPTY_PROPOSAL)
        at_turn_end = boundary.point is Point.TURN_ENDED
        links = self.chain.turn_ended if at_turn_end else self.chain.before_settle
        fold = _Fold(
            check=BundleCheck(boundary=boundary, state=state, settings=self.settings, above=above),
            proposal=EMPTY_PROPOSAL,
        )
        for link in links:
            if link.plugin.name not in state.disabled:
                fold.ask(link, self._boundary_for(boundary, state, link.plugin.name))
        if fold.proposal is EMPTY_PROPOSAL:
            return Decided(proposal=EMPTY_PROPOSAL, slow=tuple(fold.slow))
        return Decided(proposal=self._conclude(fold.proposal, boundary, state, above), slow=tuple(fold.slow))

    def _conclude(
        self, proposal: Proposal, boundary: Boundary, state: RunState, above: Allowance
    ) -> Proposal:
        host = boundary.host
        if proposal.resume is None and proposal.no_resume is None and proposal.dropped:
            proposal = attrs.evolve(proposal, no_resume=_why_dropped(proposal))
        other_work = _other_work(host)
        if other_work is not None:
            if proposal.resume is None:
                return proposal
            return attrs.evolve(
                proposal, resume=None, no_resume=other_work, superseded=host.pending_input is not None
            )
        native_first = boundary.point is Point.TURN_ENDED and goes_native_first(boundary)
        if native_first:
            proposal = _without_edits(proposal)
        goes_on = host.retry_follows is True and boundary.point is Point.TURN_ENDED
        if proposal.resume is None and not goes_on:
            return proposal
        proposal = self._with_hold(proposal, boundary, state, above, goes_on=goes_on)
        if proposal.resume is not None and native_first:
            return attrs.evolve(proposal, resume_at_settle=True)
        return proposal

    def _with_hold(
        self, proposal: Proposal, boundary: Boundary, state: RunState, above: Allowance, *, goes_on: bool
    ) -> Proposal:
        """Work out how long to hold, or drop the resume where a stated wait cannot be held in full."""
        now = boundary.now
        room = left_of_ceilings(state, self.settings, above).held
        deadline = boundary.host.deadline
        if deadline is not None:
            room = min(room, max(0.0, (deadline - now).total_seconds()))
        longest, until = 0.0, None
        for bundle in proposal.bundles:
            if goes_on and self._stage(bundle.plugin) is not Stage.WAIT:
                continue
            for wait in bundle.decisions:
                if not isinstance(wait, Wait):
                    continue
                seconds = wait.seconds_from(now)
                limit = room if wait.cap is None else min(room, wait.cap)
                if wait.stated and seconds > limit:
                    return without_resumes(
                        proposal,
                        _why_too_long(wait, seconds, limit, deadline),
                        now,
                        now + timedelta(seconds=seconds),
                    )
                if seconds > 0 and room <= 0:
                    return without_resumes(
                        proposal, "nothing is left of the time that a run may be held", now
                    )
                if min(seconds, limit) > longest:
                    longest = min(seconds, limit)
                    until = now + timedelta(seconds=seconds) if wait.stated else None
        return attrs.evolve(proposal, hold_seconds=longest, hold_until=until) if longest else proposal

    # ---------------------------------------------------------------- applying

    def apply(
        self, state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait = NOT_HELD
    ) -> RunState:
        """The state after ``proposal`` came to ``outcome``, and its wait to ``held``.

        A budget is charged only where the turn was ``scheduled``; a wait counts when it was held to its end.
        """
        if proposal is EMPTY_PROPOSAL or outcome is Outcome.OBSERVED:
            return state
        state = self._count_wait(state, proposal, held)
        for name in proposal.exhausted:
            state = close_exhausted(name, state)
        committed = _committed(proposal, outcome)
        changes: dict[str, object] = {}
        memory = {name: value for name, value in proposal.memory.items() if name in committed}
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
        if changes:
            state = attrs.evolve(state, **changes)  # type: ignore[arg-type]
        if outcome is Outcome.SCHEDULED and proposal.resume is not None:
            state = charge(proposal.resume.decision, self._plugin(proposal.resume.plugin), state)
        return state

    def _count_wait(self, state: RunState, proposal: Proposal, held: HeldWait) -> RunState:
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
            plugin = self._plugin(bundle.plugin)
            budget = None if resume is None else find_budget(plugin, resume.budget)
            if isinstance(budget, Window):
                state = count_window_wait(qualified(plugin, budget.name), held, state)
        return attrs.evolve(
            state,
            waits=waits,
            held=state.held + held.seconds,
            turn_waited=state.turn_waited or held.completed,
        )

    # ---------------------------------------------------------------- views and look-ups

    def _common_view(self, state: RunState) -> RunView:
        return RunView(
            id=state.run,
            session=state.session_id,
            parent=state.parent,
            mode=self.settings.mode,
            started_at=state.started_at,
            turns=state.turns,
            requests=state.requests,
            output_tokens=state.output_tokens,
            resumes=state.resumes,
            held_seconds=state.held,
            spent=state.spent,
        )

    def _view_for(self, view: RunView, state: RunState, plugin: str) -> RunView:
        waits = state.waits.get(plugin)
        memory = state.memory.get(plugin)
        injection = state.injections.get(plugin)
        if waits is None and memory is None and injection is None:
            return view
        waits = waits or PluginWaits()
        return attrs.evolve(
            view,
            waits=waits.count,
            waited_seconds=waits.seconds,
            memory=memory,
            injected=None if injection is None else injection.text,
        )

    def _boundary_for(self, boundary: Boundary, state: RunState, plugin: str) -> Boundary:
        view = self._view_for(boundary.run, state, plugin)
        return boundary if view is boundary.run else attrs.evolve(boundary, run=view)

    def _plugin(self, name: str) -> RegisteredPlugin:
        return next(plugin for plugin in self.chain.plugins if plugin.name == name)

    def _stage(self, name: str) -> Stage:
        return self._plugin(name).order.stage


@attrs.define(kw_only=True, eq=False)
class _Fold:
    """The fold of one boundary over the chain."""

    check: BundleCheck
    proposal: Proposal
    slow: list[SlowCall] = attrs.field(factory=list)

    def ask(self, link: Link, boundary: Boundary) -> None:
        result = isolated(link, read_bundle, boundary, self.proposal)
        if result.slow is not None:
            self.slow.append(result.slow)
        if result.fault is not None:
            self._rejoin(faults=(*self.proposal.faults, result.fault))
        elif result.value is not None:
            self._add(result.value, link.plugin)

    def _add(self, bundle: Bundle, plugin: RegisteredPlugin) -> None:
        before = self.proposal
        refusal = self.check.refusal(bundle, plugin)
        if refusal is None:
            self._rejoin(bundles=(*before.bundles, bundle))
            return
        dropped = Dropped(bundle.plugin, describe(bundle), refusal.why)
        exhausted = before.exhausted if refusal.window is None else (*before.exhausted, refusal.window)
        self._rejoin(dropped=(*before.dropped, dropped), exhausted=exhausted)

    def _rejoin(
        self,
        *,
        bundles: tuple[Bundle, ...] | None = None,
        dropped: tuple[Dropped, ...] | None = None,
        faults: tuple[PluginFault, ...] | None = None,
        exhausted: tuple[str, ...] | None = None,
    ) -> None:
        before = self.proposal
        self.proposal = join(
            before.bundles if bundles is None else bundles,
            self.check.boundary.now,
            dropped=before.dropped if dropped is None else dropped,
            faults=before.faults if faults is None else faults,
            exhausted=before.exhausted if exhausted is None else exhausted,
        )


def goes_native_first(boundary: Boundary) -> bool:
    """Whether the host's own recovery is tried before a resume of ours at ``turn_ended``."""
    if boundary.turn.failure is not None or boundary.turn.stop_reason is StopReason.ERROR:
        return True
    kind = boundary.cause.kind
    if kind is CauseKind.CONTEXT_OVERFLOW or boundary.host.retry_follows is True:
        return True
    return kind is CauseKind.LENGTH and boundary.host.recovers_length and not boundary.at_cap


def facts_of(turn: Turn, cause: Cause) -> TurnFacts:
    """What is remembered of the turn."""
    calls = turn.tool_calls
    last = turn.last_substantive
    return TurnFacts(
        cause=cause.kind,
        stop_reason=turn.stop_reason,
        tools=tuple(call.name for call in calls),
        argument_digests=tuple(_digest(call.arguments) for call in calls),
        content_digest=turn.content_digest(),
        ends_in=None if last is None else ("call" if isinstance(last, ToolCall) else "text"),
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _committed(proposal: Proposal, outcome: Outcome) -> frozenset[str]:
    """The plugins whose edits and memory count: those of a resume only where it, or other work, goes on."""
    goes_on = outcome is Outcome.SCHEDULED or (outcome is Outcome.SUPERSEDED and proposal.superseded)
    return frozenset(bundle.plugin for bundle in proposal.bundles if goes_on or bundle.resume is None)


def _without_edits(proposal: Proposal) -> Proposal:
    """The proposal while the host's own recovery goes first: it needs the broken turn where it is."""
    if not proposal.edits:
        return proposal
    why = "the host's own recovery goes first"
    dropped = tuple(
        Dropped(bundle.plugin, "edits", why)
        for bundle in proposal.bundles
        if bundle.resume is None and any(said.plugin == bundle.plugin for said in proposal.edits.values())
    )
    return attrs.evolve(proposal, edits=EMPTY_PROPOSAL.edits, dropped=proposal.dropped + dropped)


def _other_work(host: HostFacts) -> str | None:
    if host.aborted:
        return "the run was aborted"
    if host.pending_input is not None:
        return f"user input is pending ({host.pending_input})"
    if host.continuation_requested:
        return "another continuation was already requested"
    return None


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
