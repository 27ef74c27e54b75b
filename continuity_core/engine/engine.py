"""The pure core in one piece: a chain of plugins with the settings in force."""

from __future__ import annotations

from datetime import datetime

import attrs

from continuity_core.engine.apply import apply
from continuity_core.engine.budgets import NO_PARENT, Allowance
from continuity_core.engine.chain import Chain
from continuity_core.engine.classify import Verdict, classify
from continuity_core.engine.decide import Decided, decide
from continuity_core.engine.note import note
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import NOT_HELD, HeldWait, Outcome, RunState
from continuity_core.engine.views import common_view, view_for
from continuity_core.model.boundary import Boundary, Point, RunView
from continuity_core.model.cause import Cause
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.proposal import Proposal
from continuity_core.model.turn import Turn


@attrs.frozen(kw_only=True, eq=False)
class Engine:
    """Decides, and changes nothing but the state that it gives back.

    A host with durable timers of its own may use it instead of a run: :meth:`classify`, :meth:`note`,
    :meth:`boundary`, :meth:`decide`, then its own sleep of ``proposal.hold_seconds``, then :meth:`apply`.
    """

    chain: Chain = attrs.field(factory=Chain)
    settings: Settings = attrs.field(factory=Settings)

    def classify(self, turn: Turn, host: HostFacts, state: RunState, now: datetime) -> Verdict:
        """Say what the turn was; ``state`` has not taken note of it."""
        return classify(self.chain, turn, host, state, common_view(state, self.settings.mode, now, turn))

    def note(self, turn: Turn, cause: Cause, state: RunState) -> RunState:
        """The state after this turn ended, before anything is decided about it."""
        return note(turn, cause, state, self.settings.mode)

    def boundary(
        self,
        point: Point,
        turn: Turn,
        cause: Cause,
        host: HostFacts,
        state: RunState,
        now: datetime,
        view: RunView | None = None,
    ) -> Boundary:
        """The boundary as it is shown to the chain; ``state`` has taken note of the turn.

        ``view`` is the run as it was shown when the turn was classified at the same moment.
        """
        return Boundary(
            point=point,
            turn=turn,
            cause=cause,
            host=host,
            run=view or common_view(state, self.settings.mode, now),
            now=now,
            recent=state.recent,
        )

    def decide(self, boundary: Boundary, state: RunState, above: Allowance = NO_PARENT) -> Proposal:
        """Ask the chain and join what it says; nothing is charged, held or edited."""
        return self.decide_timed(boundary, state, above).proposal

    def decide_timed(self, boundary: Boundary, state: RunState, above: Allowance = NO_PARENT) -> Decided:
        """The same, with the calls that were slow."""
        return decide(boundary, state, self.chain, self.settings, above)

    def apply(
        self, state: RunState, proposal: Proposal, outcome: Outcome, held: HeldWait = NOT_HELD
    ) -> RunState:
        """The state after ``proposal`` came to ``outcome``, and its wait to ``held``."""
        return apply(state, proposal, outcome, held, self.chain)

    def view(self, state: RunState, plugin: str, now: datetime) -> RunView:
        """The run as this plugin sees it."""
        return view_for(common_view(state, self.settings.mode, now), state, plugin)
