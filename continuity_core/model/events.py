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
    """A run began: `parent`, `mode`, and whether a saved state was `restored`."""
    BOUNDARY = "boundary"
    """A boundary was decided: the turn, its cause, what each plugin said, what fell, what came of it."""
    WAIT_STARTED = "wait_started"
    """A wait began: its `number` in the run, its length in `seconds`, and `why`."""
    WAIT_ENDED = "wait_ended"
    """A wait is over: `held_seconds`, and what `ended_by` ended it early."""
    EDIT_REFUSED = "edit_refused"
    """An edit of the projection does not stand: `plugin`, `what`, `why`."""
    PLUGIN_FAULT = "plugin_fault"
    """A plugin made a mistake: `plugin`, `hook`, `error`, and whether it is `disabled` for the run."""
    PLUGIN_SLOW = "plugin_slow"
    """A hook took longer than 50 ms: `plugin`, `hook`, `seconds`."""
    MODE_CHANGED = "mode_changed"
    """Recovery, or a part of it, was switched: `mode`, `reason`."""
    INPUT_ARRIVED = "input_arrived"
    """The user said something: `input` is `steer` or `follow_up`."""
    ABORTED = "aborted"
    """The user aborted the run."""
    RUN_SETTLED = "run_settled"
    """The run is over: the report's values but for its events."""


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
