"""One run of a conversation, told to continuity, and what continuity wants done."""

from __future__ import annotations

import threading
from collections.abc import Collection, Generator, Sequence
from typing import Any, TypeAlias

import attrs
from openhands.sdk.conversation import ConversationExecutionStatus
from openhands.sdk.event import Condensation, MessageEvent
from openhands.sdk.tool.builtins import FinishTool

from continuity_core.engine.base_run import BaseRun
from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.state import Outcome
from continuity_core.hosts.openhands.calls import ModelCall
from continuity_core.hosts.openhands.endings import StreamEndings
from continuity_core.hosts.openhands.memory import Memory
from continuity_core.hosts.openhands.projection import Shown, projected, shown_entries
from continuity_core.hosts.openhands.steps import Step
from continuity_core.model.boundary import Mode, Point
from continuity_core.model.decisions import Adjust, Omit
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

CUT_CALL = "The call was not executed: the response that it belongs to was cut off."
"""What the model is told of a call of a turn that did not end well, where it is told of it."""
_SENDERS_SECONDS = 5.0
"""Real seconds in which a message whose sender has announced it gets into the log."""
_CLEAN = (StopReason.STOP, StopReason.TOOL_USE)


@attrs.frozen
class Ask:
    """A boundary to be decided."""

    point: Point
    turn: Turn
    host: HostFacts


Asking: TypeAlias = Generator[Ask, BoundaryResult, None]
"""Boundaries to be decided one after the other."""


class Senders:
    """Messages that were announced and are not in the log yet."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    @property
    def are_waiting(self) -> bool:
        """Whether there is any."""
        return self._count > 0

    def let_finish(self) -> None:
        """Wait until they are in the log; the lock of the state must not be held."""
        with self._changed:
            self._changed.wait_for(lambda: self._count == 0, _SENDERS_SECONDS)


@attrs.define(kw_only=True, eq=False)
class RunDriver:
    """Drives continuity's run alongside one ``run()`` or ``arun()``."""

    conversation: Any
    run: BaseRun
    memory: Memory
    endings: StreamEndings
    senders: Senders
    ending_tools: Collection[str] | None
    """Tools that end a run on purpose; ``None``: whatever tool ends it does."""
    steps: int = 0
    """Iterations so far, as the loop counts them."""
    halted: str | None = None
    """Why a plugin ended the run."""
    _step: Step | None = None
    _adjust: Adjust | None = None
    _shown: tuple[Shown, ...] = ()
    _is_projected: bool = False
    _seen: str | None = attrs.field(
        default=attrs.Factory(lambda self: self.conversation.state.last_user_message_id, takes_self=True)
    )

    @property
    def recovers(self) -> bool:
        """Whether anything may be done but looking."""
        return self.run.mode is Mode.ON

    @property
    def state(self) -> Any:
        """The conversation's state."""
        return self.conversation.state

    # ---------------------------------------------------------------- in a step

    def begin_step(self, on_event: Any) -> Step:
        """The loop takes a step."""
        self.steps += 1
        self._is_projected = False
        self._step = step = Step(on_event=on_event, veto=self._veto)
        return step

    def begin_call(self, call: ModelCall) -> Adjust | None:
        """The agent asks the model."""
        self._seen = self.state.last_user_message_id
        if not self._is_projected:
            self.run.project(())
        if self._step is not None:
            self._step.call = call
        adjust, self._adjust = self._adjust, None
        return adjust if self.recovers else None

    def project(self, events: Sequence[Any]) -> list[Any] | None:
        """The events of the next request; ``None`` where they stay as they are."""
        self._is_projected = True
        self._shown = tuple(shown_entries(events, self.memory.stops))
        result = self.run.project([one.entry for one in self._shown])
        return projected(self._shown, result) if result.changed else None

    def _veto(self, action: Any) -> None:
        if self.recovers:
            self.state.block_action(action.id, CUT_CALL)

    # ---------------------------------------------------------------- after a step

    def after_step(self, step: Step, error: Exception | None) -> Asking:
        """Decide about the turn of a step that is over, and note on the step whether the loop goes on."""
        waiting = self._status is ConversationExecutionStatus.WAITING_FOR_CONFIRMATION
        if waiting and self._reject_cut_calls(step):
            waiting = False
        turn = step.turn(error, unfinished=waiting)
        if turn is None:
            return
        if turn.entry is not None and turn.stop_reason not in _CLEAN:
            self.memory.note_stop(step.first.id, turn.stop_reason)
        self._do(step, error, (yield Ask(Point.TURN_ENDED, turn, self._facts(step, turn, error))))
        finished = self._status is ConversationExecutionStatus.FINISHED
        if not step.goes_on and (error is not None or finished):
            self._do(step, error, (yield Ask(Point.BEFORE_SETTLE, turn, self._facts(step, turn, error))))

    def cut_short(self, step: Step, error: BaseException) -> Ask | None:
        """The step was cancelled from outside: the run is over; its turn may still be told."""
        self.run.abort()
        turn = step.turn(error, unfinished=False)
        return None if turn is None else Ask(Point.TURN_ENDED, turn, HostFacts(aborted=True))

    def _do(self, step: Step, error: Exception | None, result: BoundaryResult) -> None:
        """Do what was decided. A failed step is made good where the loop is to go on after it."""
        decided = result.outcome not in (Outcome.NONE, Outcome.OBSERVED)
        if self.recovers and (decided or self.memory.is_changed):
            self.memory.save(self.run.state)
        if not self.recovers:
            return
        if self._status is ConversationExecutionStatus.PAUSED and not self.run.aborted:
            if result.resume:
                self.run.unscheduled("the conversation was paused")
            self.run.abort()
        if self.run.aborted:
            self.conversation.pause()  # Does nothing where the conversation has finished.
            step.goes_on = self._status is ConversationExecutionStatus.PAUSED
        elif result.end_run is not None:
            self.halted = result.end_run
            if error is None:
                self.conversation.pause()
        elif result.resume:
            self._leave_out(step, result)
            self._adjust = result.adjust
            self._keep_running(step)
        elif self._has_input(step):
            if error is not None:
                self._keep_running(step)
        elif error is None and step.has_cut_calls:
            # The answer that it is, as the host has it of text that was cut: nothing would answer its calls.
            self.state.execution_status = ConversationExecutionStatus.FINISHED

    def _leave_out(self, step: Step, result: BoundaryResult) -> None:
        """Put into the log that a turn, and the host's answers to it, do not count any more.

        The note also tells the host's guard against monologues that the answers in a row were no monologue.
        """
        if step.first is None:
            return
        omitted = {
            ref.key.removeprefix("id:") for ref, edit in result.edits.items() if isinstance(edit, Omit)
        }
        forgotten = {id for id in omitted if id not in step.ids}
        if step.first.id in omitted:
            forgotten |= step.ids
        response_id = step.call.response_id if step.call is not None else ""
        step.on_event(Condensation(forgotten_event_ids=forgotten, llm_response_id=response_id))

    def _keep_running(self, step: Step) -> None:
        step.goes_on = True
        self.state.execution_status = ConversationExecutionStatus.RUNNING

    def _reject_cut_calls(self, step: Step) -> bool:
        """Nobody is asked whether a cut call may be executed."""
        blocked = [event.id for event in step.events if event.id in self.state.blocked_actions]
        if not blocked:
            return False
        for id in blocked:
            self.state.pop_blocked_action(id)
        events = len(self.state.events)
        self.conversation.reject_pending_actions(CUT_CALL)
        step.events += self.state.events[events:]
        self.state.execution_status = ConversationExecutionStatus.RUNNING
        return True

    # ---------------------------------------------------------------- the facts of the moment

    @property
    def _status(self) -> Any:
        return self.state.execution_status

    def _facts(self, step: Step, turn: Turn, error: Exception | None) -> HostFacts:
        finished = self._status is ConversationExecutionStatus.FINISHED
        by_tool = finished and bool(turn.executable_calls)
        return HostFacts(
            pending_input="steer" if self._has_input(step) else None,
            continuation_requested=error is None and not finished and _is_answered_by_host(step, turn),
            aborted=self.run.aborted,
            output_limit=None if step.call is None else step.call.output_limit,
            retry_follows=False,
            ending_tools=frozenset((FinishTool.name, *(self.ending_tools or ()))),
            ended_on_purpose=by_tool and self.ending_tools is None,
            no_more_turns=self._why_no_more_turns(),
            lookup=self._lookup,
        )

    def _has_input(self, step: Step) -> bool:
        """Whether the user has said something that no request has carried yet."""
        if self.senders.are_waiting:
            return True
        latest = self.state.last_user_message_id
        return latest != self._seen and latest not in step.ids

    def _why_no_more_turns(self) -> str | None:
        """The loop's own limits: beyond them a resumed turn would turn an answer into an error."""
        conversation = self.conversation
        if self.steps >= conversation.max_iteration_per_run:
            return f"the conversation's limit of {conversation.max_iteration_per_run} iterations is reached"
        budget = conversation.max_budget_per_run
        if budget is not None:
            spent = conversation.conversation_stats.get_combined_metrics().accumulated_cost
            if spent >= budget:
                return f"the conversation's budget of ${budget:.4f} is spent"
        return None

    def _lookup(self, ref: EntryRef) -> Entry | None:
        return next((one.entry for one in self._shown if one.entry.ref == ref), None)


def _is_answered_by_host(step: Step, turn: Turn) -> bool:
    """Whether the host itself has asked the model again, in words of its own.

    It does so for an answer without text and calls, for one that its client refuses, and by a condensation
    for a context that is too long. After a length turn its nudge misses the point, and goes with the turn.
    """
    if turn.stop_reason is StopReason.LENGTH:
        return False
    if turn.failure is not None and step.first is None:
        return True
    return any(
        isinstance(event, MessageEvent) and event.source != "agent" and event.llm_message.role == "user"
        for event in step.events
    )
