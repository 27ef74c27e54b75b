"""What one step of the agent did: the call of the model, and the events that came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent
from openhands.sdk.event.llm_convertible import ObservationBaseEvent

from continuity_core.hosts.openhands.calls import ModelCall
from continuity_core.hosts.openhands.projection import ref_of
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import ToolResult, Turn


@attrs.define(kw_only=True, eq=False)
class Step:
    """One step; a step without a call of the model (a condensation, confirmed actions) is no turn."""

    on_event: Callable[[Any], None]
    """The framework's own: it puts an event into the log."""
    veto: Callable[[Any], None]
    """Called with each action of a turn that was cut or failed, before it could be executed."""
    call: ModelCall | None = None
    events: list[Any] = attrs.field(factory=list)
    goes_on: bool = False
    """Whether the loop takes another step though this one failed or finished."""

    def take_event(self, event: Any) -> None:
        """An event goes into the log."""
        self.events.append(event)
        self.on_event(event)
        if isinstance(event, ActionEvent) and event.action is not None and self.has_cut_calls:
            self.veto(event)

    @property
    def has_cut_calls(self) -> bool:
        """Whether the model's answer has calls that must not be executed, since it was cut or failed."""
        turn = None if self.call is None else self.call.turn
        return turn is not None and bool(turn.tool_calls) and not turn.executable_calls

    @property
    def ids(self) -> set[str]:
        """Ids of all its events."""
        return {event.id for event in self.events}

    @property
    def first(self) -> Any:
        """The event that the model's answer begins with."""
        return next((event for event in self.events if _is_answer(event)), None)

    def turn(self, error: BaseException | None, *, unfinished: bool) -> Turn | None:
        """The turn, with the results that there are; ``error`` is what the step raised.

        An error that did not come of the model is the host's or a tool's.
        """
        turn = None if self.call is None else self.call.turn
        if turn is None:
            return None
        if error is not None and turn.failure is None:
            failure = Failure.from_exception(error, where="host")
            turn = attrs.evolve(turn, stop_reason=StopReason.ERROR, failure=failure)
        first = self.first
        results = tuple(
            ToolResult(
                call_id=event.tool_call_id, entry=ref_of(event), is_error=isinstance(event, AgentErrorEvent)
            )
            for event in self.events
            if isinstance(event, ObservationBaseEvent)
        )
        return attrs.evolve(
            turn,
            entry=None if first is None else ref_of(first),
            results=results,
            unfinished=turn.unfinished or unfinished,
        )


def _is_answer(event: Any) -> bool:
    return isinstance(event, ActionEvent) or (isinstance(event, MessageEvent) and event.source == "agent")
