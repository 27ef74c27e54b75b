"""What happened in a run, one JSON-serialisable record a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum

import attrs

from continuity_core.model.decisions import JSONValue


class EventKind(StrEnum):
    """The kinds of events."""

    RUN_STARTED = "run_started"
    BOUNDARY = "boundary"
    WAIT_STARTED = "wait_started"
    WAIT_ENDED = "wait_ended"
    EDIT_REFUSED = "edit_refused"
    PLUGIN_FAULT = "plugin_fault"
    PLUGIN_SLOW = "plugin_slow"
    MODE_CHANGED = "mode_changed"
    INPUT_ARRIVED = "input_arrived"
    ABORTED = "aborted"
    RUN_SETTLED = "run_settled"


@attrs.frozen(kw_only=True)
class Event:
    """One thing that happened."""

    kind: EventKind
    at: datetime
    session: str
    run: str
    details: Mapping[str, JSONValue] | Callable[[], Mapping[str, JSONValue]] = attrs.field(repr=False)

    @property
    def data(self) -> Mapping[str, JSONValue]:
        """What is known of it; the reference lists the keys of each kind."""
        return self.details() if callable(self.details) else self.details

    def to_dict(self) -> dict[str, JSONValue]:
        """The event as JSON: ``kind``, ``at`` (ISO 8601), ``session``, ``run`` and the keys of ``data``."""
        return {
            "kind": self.kind.value,
            "at": self.at.isoformat(),
            "session": self.session,
            "run": self.run,
            **self.data,
        }
