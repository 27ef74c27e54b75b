"""What a plugin is shown: the run so far, and the boundary at which it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

import attrs

from continuity_core.model.cause import Cause
from continuity_core.model.decisions import JSONValue
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.turn import Turn, TurnFacts

_NOTHING_SPENT: Mapping[str, int] = MappingProxyType({})


class Mode(StrEnum):
    """What continuity does at a boundary."""

    ON = "on"
    """Recover."""
    OBSERVE = "observe"
    """Say in events what would be done, and do nothing."""
    OFF = "off"
    """Nothing; only artefacts of earlier versions are kept out of requests."""


class Point(StrEnum):
    """The two moments at which plugins decide."""

    TURN_ENDED = "turn_ended"
    BEFORE_SETTLE = "before_settle"


@attrs.frozen(kw_only=True, slots=False)
class RunView:
    """A run as one plugin sees it; ``memory`` and the waits are that plugin's own."""

    id: str
    session: str
    parent: str | None = None
    mode: Mode = Mode.ON
    started_at: datetime
    now: datetime | None = None
    """The moment by the run's clock, where a turn is classified or a boundary decided."""
    turns: int = 0
    """Turns that ended in this run, the one at hand included."""
    requests: int = 0
    """Provider requests, native retries included where the host counts them."""
    output_tokens: int = 0
    """Output tokens reported in this run."""
    resumes: int = 0
    """Resumes scheduled in this run, whatever budget they were charged to."""
    held_seconds: float = 0.0
    """Seconds held in this run."""
    waits: int = 0
    """Waits of this plugin that were held to their end in this run."""
    waited_seconds: float = 0.0
    """Seconds of this plugin's waits in this run."""
    spent: Mapping[str, int] = _NOTHING_SPENT
    """What each budget was charged, as ``plugin.budget``."""
    memory: JSONValue = None
    """What the plugin last remembered in this run; ``None`` at first."""
    injected: str | None = None
    """The text that the plugin injected last and that requests of this run carry."""


@attrs.frozen(kw_only=True, slots=False)
class Boundary:
    """The moment ``turn_ended`` or ``before_settle``, and what is known then."""

    point: Point
    turn: Turn
    """The turn that ended last."""
    cause: Cause
    """What that turn was."""
    host: HostFacts
    run: RunView
    now: datetime
    """Wall time at the boundary; aware."""
    recent: tuple[TurnFacts, ...] = ()
    """Facts of the last 16 turns of the run, this one last."""

    @property
    def at_cap(self) -> bool:
        """Whether a ``length`` turn reached the output limit that the host asked for.

        Where the limit or the reported output is unknown the turn counts as at cap: only a host that knows
        of its own recovery gives both.
        """
        limit, used = self.host.output_limit, self.turn.usage.output_tokens
        return limit is None or used is None or used >= limit

    @property
    def ended_on_purpose(self) -> bool:
        """Whether the host declares the end as a proper one."""
        return self.host.ended_on_purpose or any(
            call.name in self.host.ending_tools for call in self.turn.tool_calls
        )
