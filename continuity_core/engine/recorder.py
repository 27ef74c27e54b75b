"""Keeping and passing on the events of a run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TypeAlias

import attrs

from continuity_core.engine.chain import Link, SlowCall, isolated, read_nothing
from continuity_core.model.boundary import RunView
from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import Event, EventKind
from continuity_core.model.masking import shown
from continuity_core.model.proposal import Dropped, PluginFault

LOG = logging.getLogger("continuity")

KEPT_EVENTS = 256
"""How many events a run keeps for its report."""


Details: TypeAlias = Mapping[str, JSONValue] | Callable[[], Mapping[str, JSONValue]]
"""What is known of an event, or what works it out when somebody looks."""


@attrs.define(eq=False)
class Recorder:
    """The events of one run."""

    session: str
    run: str
    on_event: Callable[[Event], None] | None = None
    events: list[Event] = attrs.field(factory=list)
    """The last of them, and for a while some before them."""
    _left_out: frozenset[str] = frozenset()
    """Observers whose results were wrong: they are not asked again in this run."""
    _named: frozenset[str] = frozenset()
    """Plugins whose faults were already logged: each is named once a run."""

    def kept(self) -> tuple[Event, ...]:
        """The events for a report."""
        return tuple(self.events[-KEPT_EVENTS:])

    def record(self, kind: EventKind, at: datetime, details: Details) -> Event:
        """Keep an event, and pass it to the callable."""
        event = Event(kind=kind, at=at, session=self.session, run=self.run, details=details)
        self.events.append(event)
        if len(self.events) >= 2 * KEPT_EVENTS:
            del self.events[:-KEPT_EVENTS]
        if self.on_event is not None:
            try:
                self.on_event(event)
            except Exception:
                LOG.exception("on_event raised; the run goes on")
        return event

    def show(
        self,
        event: Event,
        observers: Iterable[Link],
        disabled: frozenset[str],
        view: Callable[[str], RunView],
    ) -> None:
        """Pass an event to the plugins that observe."""
        for link in observers:
            if link.name in disabled or link.name in self._left_out:
                continue
            result = isolated(link, read_nothing, event, view(link.name))
            if result is not None:
                for fault in result.faults:
                    self._note_fault(fault, event.at)

    def _note_fault(self, fault: PluginFault, at: datetime) -> None:
        """Record the fault of an observer, without asking observers again."""
        self.log_fault(fault)
        if fault.disables:
            self._left_out |= {fault.plugin}
        self.record(EventKind.PLUGIN_FAULT, at, self.fault_details(fault))

    def log_fault(self, fault: PluginFault) -> None:
        """Name a plugin's mistake in the log, once a run and hook."""
        key = f"{fault.plugin}/{fault.hook}"
        if key in self._named:
            return
        self._named |= {key}
        LOG.warning(
            "plugin %s failed in %s: %s%s; silence it with disable = [%r]",
            fault.plugin,
            fault.hook,
            shown(fault.error),
            " (left out for the rest of this run)" if fault.disables else "",
            fault.plugin,
        )

    def log_slow(self, slow: SlowCall) -> None:
        """Name a slow plugin in the log, once a run and hook."""
        key = f"slow/{slow.plugin}/{slow.hook}"
        if key not in self._named:
            self._named |= {key}
            LOG.warning(
                "plugin %s took %.0f ms in %s, and the run waits for it; be rid of it with disable = [%r]",
                slow.plugin,
                slow.seconds * 1000,
                slow.hook,
                slow.plugin,
            )

    @staticmethod
    def fault_details(fault: PluginFault) -> dict[str, JSONValue]:
        """The keys of a ``plugin_fault`` event."""
        return {
            "plugin": fault.plugin,
            "hook": fault.hook,
            "error": shown(fault.error),
            "disabled": fault.disables,
        }

    @staticmethod
    def dropped_details(dropped: Dropped) -> dict[str, JSONValue]:
        """The keys of an ``edit_refused`` event, and of an entry of ``dropped``."""
        return {"plugin": dropped.plugin, "what": dropped.what, "why": shown(dropped.why)}
