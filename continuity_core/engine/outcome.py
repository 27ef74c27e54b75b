"""What becomes of a proposal, of a boundary, and of a run."""

from __future__ import annotations

from continuity_core.engine.results import NOTHING, BoundaryResult
from continuity_core.engine.state import Outcome
from continuity_core.model.cause import CauseKind
from continuity_core.model.evolving import changed
from continuity_core.model.proposal import EMPTY_PROPOSAL, Proposal
from continuity_core.model.report import RunOutcome

_INCOMPLETE = frozenset({CauseKind.LENGTH, CauseKind.EMPTY})
_WHOLE = frozenset({CauseKind.FINAL, CauseKind.TOOL_CALLS})


def outcome_of(proposal: Proposal, ended_by: str | None) -> tuple[Proposal, Outcome]:
    """What becomes of the proposal; ``ended_by`` is what came between: abort, a switch, or input."""
    if proposal is EMPTY_PROPOSAL:
        return proposal, Outcome.NONE
    if ended_by == "input":
        why = "new user input arrived"
        return changed(proposal, resume=None, no_resume=why, superseded=True), Outcome.SUPERSEDED
    if ended_by is not None:
        return changed(proposal, resume=None, no_resume=f"ended by {ended_by}"), Outcome.CANCELLED
    if proposal.superseded:
        return proposal, Outcome.SUPERSEDED
    if proposal.resume is None:
        return proposal, Outcome.NONE if proposal.no_resume is None else Outcome.REFUSED
    return proposal, Outcome.DEFERRED if proposal.resume_at_settle else Outcome.SCHEDULED


def result_of(proposal: Proposal, outcome: Outcome) -> BoundaryResult:
    """What the host is told."""
    if proposal is EMPTY_PROPOSAL and outcome is Outcome.NONE:
        return NOTHING
    halt = proposal.halt
    end_run = halt.decision.reason if halt is not None and halt.decision.end_run else None
    if outcome is not Outcome.SCHEDULED:
        return BoundaryResult(outcome=outcome, proposal=proposal, end_run=end_run)
    return BoundaryResult(
        resume=True,
        edits={ref: said.decision for ref, said in proposal.edits.items()},
        adjust=None if proposal.adjust is None else proposal.adjust.decision,
        end_run=end_run,
        outcome=outcome,
        proposal=proposal,
    )


def settled_as(
    cause: CauseKind | None, *, aborted: bool, failed: bool, not_resumed: bool = False
) -> RunOutcome:
    """How a run ended whose last turn was ``cause``.

    ``failed`` where that turn has a failure, ``not_resumed`` where a resume after it was wanted and refused,
    or a plugin ended the run there.
    """
    if aborted or cause is CauseKind.CANCELLED:
        return RunOutcome.ABORTED
    if cause is CauseKind.TOOL_CALLS and not_resumed:
        return RunOutcome.INCOMPLETE
    if cause is None or cause in _WHOLE:
        return RunOutcome.COMPLETED
    return RunOutcome.INCOMPLETE if cause in _INCOMPLETE and not failed else RunOutcome.FAILED
