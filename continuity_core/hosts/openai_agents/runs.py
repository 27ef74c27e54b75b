"""Continuity's runs of the runner's: which of them a model call belongs to, and how they end."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import attrs

from continuity_core.continuity import Continuity
from continuity_core.engine.run import Run
from continuity_core.hosts.openai_agents.warning import Warnings
from continuity_core.hosts.openai_agents.withholding import Delivered
from continuity_core.model.boundary import Mode
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Adjust
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.reading.fields import field, items, text
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.turn import ToolResult, Turn

LOG = logging.getLogger("continuity")

_WHOLE = (CauseKind.FINAL, CauseKind.TOOL_CALLS)


@attrs.define(kw_only=True, eq=False)
class AgentRun:
    """A run of continuity that one ``Runner.run`` takes, or several where one carries on another."""

    runs: AgentRuns
    run: Run
    is_carried: bool = False
    """Somebody else settles it, and may give it to another ``Runner.run`` before."""
    owner: object | None = None
    """The runner's name for the ``Runner.run`` that goes on."""
    above: AgentRun | None = None
    """What was the current run before this one."""
    pending: Turn | None = None
    """The turn that asked for tools; their results are not known yet."""
    adjust: Adjust | None = None
    """Request settings for the next turn."""
    given_up: BaseException | None = None
    """The error that stands although recovery was tried."""
    is_settled: bool = False
    no_more_turns: str | None = None
    """Why nothing more is asked for after the turn that goes on."""

    def end_after_turn(self, why: str) -> None:
        """Ask for nothing after the turn that goes on; a wait ends."""
        self.no_more_turns = why
        self.run.interrupt(why)

    @property
    def is_on(self) -> bool:
        """Whether recovery is on now."""
        return self.run.mode is Mode.ON

    async def tools_ended(self, answered: Callable[[Turn], Turn], facts: HostFacts) -> str | None:
        """The turn that asked for tools has its results: pass its boundary.

        The host goes on by itself. The answer is why it must not: a plugin ends the run.
        """
        turn, self.pending = self.pending, None
        if turn is None:
            return None
        result = await self.run.turn_ended(answered(turn), facts)
        self.adjust = result.adjust
        return result.end_run

    async def settle(self, error: BaseException | None) -> None:
        """The ``Runner.run`` is over, by ``error`` or as it should."""
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            self.run.abort()
        elif self.pending is not None:
            # Nothing can be held or asked for any more: the last turn is only put on record.
            await self.tools_ended(lambda turn: turn, self._over())
        self.settled(error)

    def settled(self, error: BaseException | None) -> None:
        """Settle the run, once. Raises :class:`IncompleteRun` where the settings ask for it."""
        if self.is_settled:
            return
        self.is_settled = True
        failed = error is not None and not self.run.aborted
        whole = self.run.cause is None or self.run.cause in _WHOLE
        try:
            report = self.run.settled(RunOutcome.FAILED if failed and whole else None, error=error)
        except IncompleteRun as incomplete:
            self.runs.report(incomplete.report)
            raise
        self.runs.report(report)

    def _over(self) -> HostFacts:
        return HostFacts(ended_on_purpose=True, continuation_requested=True)


_CURRENT: ContextVar[AgentRun | None] = ContextVar("continuity_agent_run", default=None)
_OF_CONTINUITY: weakref.WeakKeyDictionary[Continuity, AgentRuns] = weakref.WeakKeyDictionary()


class AgentRuns:
    """The runs of one :class:`Continuity`, whichever of its models is asked."""

    def __init__(self, continuity: Continuity) -> None:
        self._continuity = weakref.ref(continuity)
        self.delivered = Delivered()
        self.warnings = Warnings()
        self.listeners: list[Callable[[Report], Any]] = []
        """Told of the report of every run that is settled."""
        self.drop_listeners: list[Callable[[Turn], Any]] = []
        """Told of every turn that is left out."""
        self._by_owner: dict[int, AgentRun] = {}

    @property
    def continuity(self) -> Continuity:
        """Plugins and settings in force; whoever asks for runs keeps it alive."""
        continuity = self._continuity()
        assert continuity is not None
        return continuity

    @classmethod
    def of(cls, continuity: Continuity) -> AgentRuns:
        """The runs of this continuity, the same for all its models: a hand-over may change the model."""
        runs = _OF_CONTINUITY.get(continuity)
        if runs is None:
            runs = _OF_CONTINUITY[continuity] = cls(continuity)
        return runs

    def carried(self, session: str | None, deadline: datetime | None) -> AgentRun:
        """Start a run that may outlive a single ``Runner.run``: one that starts while it is current."""
        return self._start(session, deadline, is_carried=True)

    def of_owner(self, owner: object) -> AgentRun:
        """The run that a model call of this ``Runner.run`` belongs to; it is current from then on."""
        known = self._by_owner.get(id(owner))
        if known is None:
            current = _CURRENT.get()
            if current is not None and current.runs is self and current.is_carried and current.owner is None:
                known = current
            else:
                known = self._start(None, None)
            known.owner = owner
            self._by_owner[id(owner)] = known
        return known if _CURRENT.get() is known else self.enter(known)

    def is_over(self, owner: object) -> bool:
        """Whether the run of this ``Runner.run`` was ended before it: by its parent, or by an abort."""
        known = self._by_owner.get(id(owner))
        return known is not None and known.run.is_over

    def alone(self) -> AgentRun:
        """A run for a model call that no runner makes."""
        return self._start(None, None)

    async def owner_ended(self, owner: object, error: BaseException | None) -> None:
        """The ``Runner.run`` is over."""
        ended = self._by_owner.pop(id(owner), None)
        if ended is None:
            return
        ended.owner = None
        if ended.is_carried:
            return
        self.left(ended)
        try:
            await ended.settle(error)
        except IncompleteRun:
            LOG.debug("run %s is incomplete, which its caller has been told", ended.run.id)

    def has_given_up(self, owner: object, error: BaseException) -> bool:
        """Whether this error stands although recovery was tried."""
        known = self._by_owner.get(id(owner))
        return known is not None and known.given_up is error

    def enter(self, run: AgentRun) -> AgentRun:
        """``run`` is current until it is :meth:`left`."""
        run.above = _CURRENT.get()
        _CURRENT.set(run)
        return run

    def left(self, run: AgentRun) -> None:
        """``run`` is no longer current."""
        if _CURRENT.get() is run:
            _CURRENT.set(run.above)
            run.above = None

    def report(self, report: Report) -> None:
        """Tell the listeners of a run that is settled; what they raise is logged."""
        _tell(self.listeners, report, "on_report")

    def dropped(self, turn: Turn) -> None:
        """Tell the listeners of a turn that is left out; what they raise is logged."""
        _tell(self.drop_listeners, turn, "on_dropped")

    def _start(self, session: str | None, deadline: datetime | None, *, is_carried: bool = False) -> AgentRun:
        current = _CURRENT.get()
        if current is not None and (current.runs is not self or current.run.is_over):
            current = None
        parent = None if current is None else current.run
        run = self.continuity.start_run(session, parent=parent, deadline=deadline)
        return AgentRun(runs=self, run=run, is_carried=is_carried)


def _tell(listeners: list[Callable[[Any], Any]], what: Any, name: str) -> None:
    for listener in listeners:
        try:
            listener(what)
        except Exception:
            LOG.exception("%s failed", name)


def with_results(turn: Turn, items_of_input: Any) -> Turn:
    """The turn with the results that its calls have among these input items, which end in them."""
    missing = {call.id for call in turn.tool_calls} - {result.call_id for result in turn.results}
    found: set[str] = set()
    for item in reversed(items(items_of_input)):
        if missing <= found:
            break
        if text(field(item, "type")).endswith("_output"):
            found.add(text(field(item, "call_id")))
    results = tuple(ToolResult(call_id=call.id) for call in turn.tool_calls if call.id in missing & found)
    return attrs.evolve(turn, results=turn.results + results)
