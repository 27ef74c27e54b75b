"""What a session gives its caller."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.report import Report
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn


@attrs.frozen(kw_only=True)
class SessionOutcome:
    """How a run ended: exactly as its last turn did, half an answer included."""

    prompt: str
    """What the user said."""
    text: str
    """The readable text of the last turn; half of it where the stop reason is not ``stop``."""
    stop_reason: StopReason
    """That of the last turn; ``aborted`` where the user aborted, also between turns."""
    failure: Failure | None = None
    """What went wrong with the last turn."""
    aborted: bool = False
    turn: Turn | None = None
    """The last turn; ``None`` where the run was aborted before its first request."""
    tools_run: Mapping[str, int] = attrs.field(factory=dict)
    """Tools by name, and how often each was executed."""
    halted: str | None = None
    """Why a plugin of continuity ended the run."""
    unsent: tuple[str, ...] = ()
    """What the user said while the run went on and an abort kept from being sent."""
    report: Report | None = None
    """Continuity's report; ``None`` without it."""
    earlier: tuple[SessionOutcome, ...] = ()
    """The outcomes of the runs before, where this one is of a follow-up to them."""
