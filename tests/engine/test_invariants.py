"""Whatever a host, its user and its plugins do in whatever order, a run keeps these promises."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from runs import bundled
from saying import Classifying, Saying

from continuity_core import (
    BoundaryResult,
    Cause,
    Continuity,
    EntryRef,
    HostFacts,
    Mode,
    Order,
    Outcome,
    Proposal,
    RunState,
    Settings,
    Stage,
    SyncRun,
    Turn,
    Wait,
)
from continuity_core.loading.plugin_set import PluginSet
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.strategies import causes, decisions, histories, host_facts, turns

LIMITS = {"stream-recovery.retries": 3, "stream-recovery.unknown_retries": 1}
SETTINGS = st.fixed_dictionaries(
    {
        "max_resumes": st.none() | st.integers(0, 5),
        "no_progress": st.integers(0, 2),
        "ceiling_resumes": st.integers(0, 9),
        "ceiling_held": st.sampled_from([0.0, 7.0, 3600.0, 86_400.0]),
        "allow_injection": st.sampled_from([(), ("random", "partial-checkpoint")]),
    }
)
TINY_ERROR = 1e-6


class RunMachine(RuleBasedStateMachine):
    """A run that everybody does to what they may do."""

    run: SyncRun
    continuity: Continuity

    @initialize(chosen=SETTINGS, broken=st.booleans(), stage=st.sampled_from(Stage))
    def begin(self, chosen: dict[str, Any], broken: bool, stage: Stage) -> None:
        logging.getLogger("continuity").disabled = True
        self.chosen = chosen
        self.cause: Cause | None = None
        self.said: list[Any] = []
        self.next_wait = "is held"
        self.clock = VirtualClock(on_wait=self.a_wait_begins)
        self.plugins = [
            *bundled(stream_recovery={"retries": 3, "unknown_retries": 1}),
            Classifying("reader", lambda turn: self.cause),
            Saying("random", lambda *_: self.said, order=Order(stage=stage)),
        ]
        if broken:
            self.plugins.append(Saying("broken", lambda *_: 1 / 0))
        self.continuity = self.made(Mode.ON)
        self.run = self.continuity.start_sync_run("s")

    def teardown(self) -> None:
        logging.getLogger("continuity").disabled = False

    def made(self, mode: Mode) -> Continuity:
        return Continuity(PluginSet.of(*self.plugins), Settings(mode=mode, **self.chosen), clock=self.clock)

    # ------------------------------------------------------------ what may happen

    @rule(turn=turns(), host=host_facts(), data=st.data())
    def a_turn_ends(self, turn: Turn, host: HostFacts, data: st.DataObject) -> None:
        self.cause = data.draw(causes(turn))
        self.said = data.draw(st.lists(decisions(turn.entries), max_size=2))
        self.at_a_boundary(lambda: self.run.turn_ended(turn, host), host)

    @precondition(lambda self: self.run.last_turn is not None)
    @rule(host=host_facts(), data=st.data())
    def the_host_would_settle(self, host: HostFacts, data: st.DataObject) -> None:
        assert self.run.last_turn is not None
        self.said = data.draw(st.lists(decisions(self.run.last_turn.entries), max_size=2))
        waits = len(self.clock.waits)
        self.at_a_boundary(lambda: self.run.before_settle(host), host)
        assert len(self.clock.waits) == waits

    @rule(entries=histories())
    def a_request_is_made(self, entries: Any) -> None:
        projected = self.run.project(entries)
        if self.run.mode is Mode.OBSERVE:
            assert projected.entries == entries
        assert all(not entry.artefact for entry in projected.entries) or self.run.mode is Mode.OBSERVE

    @rule(kind=st.sampled_from(["steer", "follow_up"]))
    def the_user_says_something(self, kind: Any) -> None:
        self.run.input_arrived(kind)

    @rule(mode=st.sampled_from(Mode))
    def the_mode_changes(self, mode: Mode) -> None:
        self.continuity.mode = mode

    @rule(plugin=st.sampled_from(["stream-recovery", "random", "usage-limit-wait"]), on=st.booleans())
    def a_plugin_is_switched(self, plugin: str, on: bool) -> None:
        (self.continuity.enable if on else self.continuity.disable)(plugin)

    @rule(what=st.sampled_from(["is held", "is aborted", "is switched off", "is interrupted by input"]))
    def of_the_next_wait_it_is_known_that_it(self, what: str) -> None:
        self.next_wait = what

    def a_wait_begins(self, *_: object) -> None:
        if self.next_wait == "is aborted":
            self.run.abort()
        elif self.next_wait == "is switched off":
            self.continuity.disable()
        elif self.next_wait == "is interrupted by input":
            self.run.input_arrived("steer")

    @rule()
    def the_host_could_not_schedule_the_resume(self) -> None:
        before = self.run.state
        try:
            self.run.unscheduled("no")
        except RuntimeError:
            assert self.run.state is before
        else:
            assert self.run.state.resumes == before.resumes - 1
            assert self.run.state.held == before.held

    @precondition(lambda self: not self.run.aborted)
    @rule()
    def another_process_goes_on(self) -> None:
        data = json.loads(json.dumps(self.run.state.to_json(), allow_nan=False))
        assert RunState.from_json(data) == self.run.state
        self.continuity = self.made(self.run.mode)
        self.run = self.continuity.start_sync_run("s", state=data)

    @rule()
    def the_run_ends_and_the_next_one_starts(self) -> None:
        session = self.run.state.session
        self.run.settled()
        self.run = self.continuity.start_sync_run("s")
        assert self.run.state.session == session
        assert self.run.state.resumes == self.run.state.charged == 0

    @rule()
    def the_user_aborts(self) -> None:
        self.run.abort()

    # ------------------------------------------------------------ what is promised

    def at_a_boundary(self, step: Callable[[], BoundaryResult], host: HostFacts) -> None:
        run, before, mode = self.run, self.run.state, self.run.mode
        was_aborted, waits, now = run.aborted or host.aborted, len(self.clock.waits), self.clock.now()
        room = self.chosen["ceiling_held"] - before.held
        if host.deadline is not None:
            room = min(room, max(0.0, (host.deadline - now).total_seconds()))
        result = step()
        after, begun = run.state, self.clock.waits[waits:]

        assert after.resumes - before.resumes == result.resume
        if not result.resume:
            assert (after.charged, after.spent, result.edits) == (before.charged, before.spent, {})
        if was_aborted or run.aborted:
            assert not result.resume
        if was_aborted or mode is not Mode.ON:
            assert begun == []
            assert not result.resume
        if mode is Mode.OBSERVE:
            assert result.outcome is Outcome.OBSERVED
            assert result.end_run is None
            assert after.session.edits == before.session.edits
        if run.mode is not Mode.ON:
            assert not result.resume
        if host.pending_input or host.continuation_requested:
            assert begun == []
            assert not result.resume
        assert len(begun) <= 1
        if begun:
            assert begun[0].seconds <= room + TINY_ERROR
            self.check_length(begun[0].seconds, result.proposal, host)
        if result.resume and begun:
            assert begun[0].held

    def check_length(self, seconds: float, proposal: Proposal, host: HostFacts) -> None:
        """A wait that the provider stated is not shortened, and one of our own keeps to its cap."""
        now = self.run.report().waits[-1].started_at
        waits = [d for b in proposal.bundles for d in b.decisions if isinstance(d, Wait)]
        if not waits:
            return
        stated = [wait.seconds_from(now) for wait in waits if wait.stated]
        if host.retry_follows is not True:
            assert all(seconds >= length - TINY_ERROR for length in stated)
        bounds = [wait.seconds_from(now) for wait in waits]
        caps = [math.inf if wait.cap is None else wait.cap for wait in waits]
        assert seconds <= max(map(min, bounds, caps)) + TINY_ERROR

    @invariant()
    def no_budget_and_no_ceiling_is_exceeded(self) -> None:
        state, chosen = self.run.state, self.chosen
        for name, spent in state.spent.items():
            assert spent <= LIMITS[name]
        assert state.charged <= state.resumes <= chosen["ceiling_resumes"]
        assert chosen["max_resumes"] is None or state.charged <= chosen["max_resumes"]
        assert 0 <= state.held <= chosen["ceiling_held"] + TINY_ERROR
        if chosen["max_resumes"] == 0:
            assert state.resumes == 0

    @invariant()
    def what_is_kept_of_a_run_is_bounded_and_can_be_told(self) -> None:
        assert len(self.run.state.recent) <= 16
        json.dumps(self.run.report().to_dict(), allow_nan=False)
        json.dumps(dict(self.run.status()), allow_nan=False)

    @invariant()
    def edits_are_of_entries_under_their_own_name(self) -> None:
        for ref, edit in self.run.state.session.edits.items():
            assert isinstance(ref, EntryRef)
            assert edit.entry == ref

    @invariant()
    def nothing_is_injected_without_permission(self) -> None:
        assert self.run.state.injections.keys() <= set(self.chosen["allow_injection"])


RunMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=20)


@pytest.mark.filterwarnings("error")
class TestARunKeepsItsPromises(RunMachine.TestCase):  # type: ignore[name-defined, misc]
    """Played by hypothesis."""
