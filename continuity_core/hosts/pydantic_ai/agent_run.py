"""One agent run as a run of continuity: how it begins, ends, and is gone on with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import attrs
from pydantic_ai.tools import RunContext

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import RunError
from continuity_core.engine.run import Run
from continuity_core.hosts.pydantic_ai.cautions import is_durable
from continuity_core.hosts.pydantic_ai.inbox import watch
from continuity_core.model.boundary import Mode
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report, RunOutcome
from continuity_core.model.stop_reason import StopReason

_ENCLOSING: ContextVar[AgentRun | None] = ContextVar("continuity_enclosing_run", default=None)
"""The agent run that goes on here: a run inside it is a sub-agent's."""


@attrs.define(kw_only=True, eq=False)
class AgentRun:
    """Continuity's run alongside one agent run; a queued follow-up starts the next one."""

    continuity: Continuity
    on_report: Callable[[str, Report], None]
    """Called with the agent run's id and each report."""
    empty_is_answer: bool | None = None
    """Whether an empty response is a proper answer; ``None``: where the agent's output type allows none."""
    run: Run | None = None
    _parent: Run | None = None
    _is_over: bool = False
    """What comes next is another real user request."""

    @property
    def recovers(self) -> bool:
        """Whether anything may be done but looking."""
        return self.run is not None and not self.run.is_over and self.run.mode is Mode.ON

    async def around(self, ctx: RunContext[Any], handler: Callable[[], Awaitable[Any]]) -> Any:
        """Run the agent, and settle whatever comes of it."""
        if is_durable(ctx):
            return await handler()
        enclosing = _ENCLOSING.get()
        self._parent = None if enclosing is None else enclosing.run
        self.run = self._start(ctx)
        watch(ctx, self._input_arrived)
        token = _ENCLOSING.set(self)
        try:
            result = await handler()
        except BaseException as error:
            self.run.__exit__(type(error), error, None)
            raise
        else:
            self.run.settled(self._outcome())
        finally:
            _ENCLOSING.reset(token)
            self._report(ctx)
        return result

    def _start(self, ctx: RunContext[Any]) -> Run:
        """A run in the session of the conversation, or beside it where another one is going on there."""
        try:
            return self._start_in(ctx.conversation_id, ctx)
        except RunError:
            return self._start_in(f"{ctx.conversation_id}/{ctx.run_id}", ctx)

    def _start_in(self, session: str | None, ctx: RunContext[Any]) -> Run:
        parent = None if self._parent is None or self._parent.is_over else self._parent
        return self.continuity.start_run(session, parent=parent, deadline=ctx.deadline)

    def _start_next(self, ctx: RunContext[Any]) -> None:
        """What was queued goes on after an end: another real user request, with budgets of its own."""
        assert self.run is not None
        with suppress(IncompleteRun):
            self.run.settled(self._outcome())
        self._report(ctx)
        self._is_over = False
        self.run = self._start(ctx)

    def _outcome(self) -> RunOutcome | None:
        """An empty answer that the output type allows is a whole one."""
        assert self.run is not None
        turn = self.run.last_turn
        empty = turn is not None and turn.failure is None and turn.last_substantive is None
        whole = empty and turn is not None and turn.stop_reason is StopReason.STOP and self.empty_is_answer
        return RunOutcome.COMPLETED if whole and not self.run.aborted else None

    def _report(self, ctx: RunContext[Any]) -> None:
        if self.run is not None and ctx.run_id is not None:
            self.on_report(ctx.run_id, self.run.report())

    def _input_arrived(self, kind: InputKind) -> None:
        if self.run is not None and not self.run.is_over:
            self.run.input_arrived(kind)
