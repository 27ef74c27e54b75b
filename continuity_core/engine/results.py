"""What the engine answers to a host."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from continuity_core.engine.state import Outcome
from continuity_core.model.decisions import Adjust, Edit
from continuity_core.model.entries import EntryRef
from continuity_core.model.proposal import EMPTY_PROPOSAL, Proposal

_NO_EDITS: Mapping[EntryRef, Edit] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class BoundaryResult:
    """What the host does next."""

    resume: bool = False
    """Make one more model turn; otherwise do what the host would do without us."""
    edits: Mapping[EntryRef, Edit] = _NO_EDITS
    """Edits that come with the resume, for hosts that keep edits; ``Run.project`` makes them too."""
    adjust: Adjust | None = None
    """Request settings for that one turn."""
    end_run: str | None = None
    """Why the host ends the run now, where it can: a plugin halted it."""
    outcome: Outcome = Outcome.NONE
    proposal: Proposal = EMPTY_PROPOSAL


NOTHING = BoundaryResult()
