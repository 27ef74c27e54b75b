"""One run: turns and tools until the model has answered, the run failed, or the user aborted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio
import attrs

from continuity_core.engine.results import NOTHING, BoundaryResult
from continuity_core.engine.run import Run
from continuity_core.engine.waker import Waker
from continuity_core.hosts.reference.asking import Asking
from continuity_core.hosts.reference.context import context
from continuity_core.hosts.reference.events import (
    InputPickedUp,
    SessionEvent,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnResumed,
)
from continuity_core.hosts.reference.history import History, HistoryEntry
from continuity_core.hosts.reference.inbox import Inbox
from continuity_core.hosts.reference.interruption import interruptible
from continuity_core.hosts.reference.models.base import ModelRequest
from continuity_core.hosts.reference.tools import Toolbox, ToolOutcome
from continuity_core.model.decisions import Adjust
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.turn import ToolCall, ToolResult, Turn

_ABORTED = ToolOutcome("The run was aborted before the tool had ended.", is_error=True)


@attrs.frozen
class _Step:
    """One more turn, and the request settings that continuity asks for in it."""

    adjust: Adjust | None = None


@attrs.define(kw_only=True, eq=False)
class RunLoop:
    """The loop of one run. ``run`` is continuity's run; without it the loop is a plain agent's."""

    asking: Asking
    request: ModelRequest
    """What every request has in common."""
    toolbox: Toolbox
    history: History
    inbox: Inbox
    waker: Waker
    emit: Callable[[SessionEvent], None]
    run: Run | None = None
    turn: Turn | None = None
    """The turn that ended last."""
    error: Exception | None = None
    """What the SDK raised in it."""
    halted: str | None = None
    tools_run: Counter[str] = attrs.field(factory=Counter)
    _output_limit: int | None = None

    def is_aborted(self) -> bool:
        """Whether the user aborted, here or at continuity's run (a parent's abort comes that way)."""
        return self.waker.is_woken() or (self.run is not None and self.run.aborted)

    async def to_end(self, prompt: str) -> None:
        """Run until there is nothing more to do."""
        self.history.add_user(prompt)
        step: _Step | None = _Step()
        while step is not None and not self.is_aborted():
            turn = self.turn = await self._take_turn(step.adjust)
            self.emit(TurnEnded(turn))
            step = await self._next(turn)

    async def _take_turn(self, adjust: Adjust | None) -> Turn:
        request = self._next_request(adjust)
        self._output_limit = request.max_output_tokens
        try:
            answer = await self.asking.ask(request)
        except BaseException:
            cut = self.asking.cut_short()
            if cut is not None:
                self.history.add_turn(cut.turn, cut.wire)
            raise
        self.error = answer.error
        entry = self.history.add_turn(answer.turn, answer.wire)
        results = await self._run_tools(entry, answer.turn.executable_calls)
        return attrs.evolve(answer.turn, entry=entry.ref, results=results)

    def _next_request(self, adjust: Adjust | None) -> ModelRequest:
        request = attrs.evolve(self.request, entries=context(self.history, self.run))
        if adjust is None:
            return request
        limit = adjust.max_output_tokens or request.max_output_tokens
        return attrs.evolve(request, max_output_tokens=limit, reasoning_effort=adjust.reasoning_effort)

    async def _next(self, turn: Turn) -> _Step | None:
        """The next turn, or ``None`` where the run is over."""
        result = await self._turn_ended(turn)
        if self._is_ended_by(result):
            return None
        if self._pick_up_steering() or result.resume or self._goes_on_by_itself(turn):
            return _Step(result.adjust)
        if self.inbox.pending is not None:
            return None
        result = await self._before_settle()
        if self._is_ended_by(result):
            return None
        if self._pick_up_steering() or result.resume:
            return _Step(result.adjust)
        return None

    def _is_ended_by(self, result: BoundaryResult) -> bool:
        self.halted = result.end_run
        if self.is_aborted() or result.end_run is not None:
            return True
        if result.resume:
            said = result.proposal.resume
            self.emit(TurnResumed("" if said is None else said.decision.reason))
        return False

    def _goes_on_by_itself(self, turn: Turn) -> bool:
        """After tools the model is asked again, unless one of them ends the run."""
        ending = self.toolbox.named("on_purpose") | self.toolbox.named("unexplained")
        calls = turn.executable_calls
        return bool(calls) and not any(call.name in ending for call in calls)

    def _pick_up_steering(self) -> bool:
        taken = self.inbox.take_steering()
        for text in taken:
            self.history.add_user(text)
            self.emit(InputPickedUp("steer", text))
        return bool(taken)

    # ---------------------------------------------------------------- continuity's boundaries

    async def _turn_ended(self, turn: Turn) -> BoundaryResult:
        return NOTHING if self.run is None else await self.run.turn_ended(turn, self._facts())

    async def _before_settle(self) -> BoundaryResult:
        return NOTHING if self.run is None else await self.run.before_settle(self._facts())

    def _facts(self) -> HostFacts:
        return HostFacts(
            pending_input=self.inbox.pending,
            aborted=self.is_aborted(),
            output_limit=self._output_limit,
            retry_follows=False,
            ending_tools=self.toolbox.named("on_purpose"),
            lookup=self.history.lookup,
        )

    # ---------------------------------------------------------------- tools

    async def _run_tools(
        self, assistant: HistoryEntry, calls: tuple[ToolCall, ...]
    ) -> tuple[ToolResult, ...]:
        """Run the calls side by side; results stand in the order of the calls.

        A call that an abort cut short has an error result that says so.
        """
        if not calls:
            return ()
        outcomes = [_ABORTED] * len(calls)

        async def run_one(place: int, call: ToolCall) -> None:
            self.tools_run[call.name] += 1
            self.emit(ToolStarted(call))
            outcomes[place] = await self.toolbox.run(call)

        async def run_all() -> None:
            async with anyio.create_task_group() as tasks:
                for place, call in enumerate(calls):
                    tasks.start_soon(run_one, place, call)

        try:
            if not self.is_aborted():
                await interruptible(self.waker, run_all)
        finally:
            results = tuple(
                self._record(assistant, call, outcome) for call, outcome in zip(calls, outcomes, strict=True)
            )
        return results

    def _record(self, assistant: HistoryEntry, call: ToolCall, outcome: ToolOutcome) -> ToolResult:
        entry = self.history.add_result(assistant, call.id, outcome.text, is_error=outcome.is_error)
        self.emit(ToolEnded(call, entry))
        return ToolResult(call_id=call.id, entry=entry.ref, is_error=outcome.is_error)
