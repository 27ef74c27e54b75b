"""The runs that go on at a time, of all agents that one rail serves."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from openjiuwen.core.single_agent.rail.base import AgentCallbackContext

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import RunError
from continuity_core.engine.run import Run
from continuity_core.hosts.openjiuwen.live import Live
from continuity_core.hosts.openjiuwen.memory import Memory, work_of
from continuity_core.model.boundary import Mode
from continuity_core.model.report import RunOutcome

LOG = logging.getLogger("continuity.openjiuwen")

LIVE = "continuity"
"""Where the run stands in ``ctx.extra``."""
CURRENT: ContextVar[Live | None] = ContextVar("continuity_openjiuwen_run", default=None)
"""The run in whose tools a sub-agent may be invoked."""


class Lives:
    """Starts runs, finds them again, and ends them."""

    def __init__(self, continuity: Continuity, ending_tools: frozenset[str] | None) -> None:
        self._continuity = continuity
        self._ending_tools = ending_tools
        self._lives: list[Live] = []

    def begin(self, ctx: AgentCallbackContext) -> None:
        """An agent was invoked. It may be so again for a run that goes on."""
        session = _session_of(ctx)
        live = self._find(ctx)
        if live is not None:
            if not live.is_again:
                LOG.warning("session %s has a run going on: this one is not kept alive", session)
            ctx.extra[LIVE] = live if live.is_again else None
            return
        parent = CURRENT.get()
        if parent is not None and parent.run.is_over:
            parent = None
        ctx.extra[LIVE] = None
        try:
            run = self._start(ctx, session, parent)
        except RunError as error:
            LOG.warning("this run is not kept alive: %s", error)
            return
        live = Live(run=run, owner=ctx.agent, session=session, ending_tools=self._ending_tools, parent=parent)
        self._lives.append(live)
        ctx.extra[LIVE] = live

    def _start(self, ctx: AgentCallbackContext, session: str, parent: Live | None) -> Run:
        """A run in the session; agents that share its name, e.g. by having none, have a session each."""
        above = None if parent is None else parent.run
        state = None
        if self._continuity.mode is Mode.ON:
            now = self._continuity.clock.now()
            state = Memory(ctx.session).run_state(session, work_of(ctx.agent), now)
        try:
            return self._continuity.start_run(session, parent=above, state=state)
        except RunError:
            return self._continuity.start_run(f"{session}/{ctx.agent.card.id}", parent=above)

    def of(self, ctx: AgentCallbackContext) -> Live | None:
        """The run that the hook is called in; ``None`` where it is not kept alive."""
        if LIVE not in ctx.extra:
            # A DeepAgent's inner agent has a context of its own.
            ctx.extra[LIVE] = self._find(ctx)
        live: Live | None = ctx.extra[LIVE]
        return live

    def _find(self, ctx: AgentCallbackContext) -> Live | None:
        """The run that goes on in this session of this agent, or of the agent whose inner one it is."""
        session, agent = _session_of(ctx), ctx.agent
        return next((live for live in self._lives if live.session == session and live.is_run_by(agent)), None)

    def in_context(self, context: Any) -> Iterator[Live]:
        """The runs whose messages are in this context of the framework."""
        return (live for live in self._lives if live.context is context)

    def settle(
        self,
        ctx: AgentCallbackContext,
        live: Live,
        outcome: RunOutcome | None,
        error: BaseException | None,
    ) -> None:
        """The run is over. Raises :class:`IncompleteRun` where the settings ask for it."""
        self._lives.remove(live)
        try:
            live.run.settled(outcome, error=error)
        finally:
            if live.recovers:
                Memory(ctx.session).save(live.run, work_of(ctx.agent))


def _session_of(ctx: AgentCallbackContext) -> str:
    session = ctx.session
    return "default_session" if session is None else str(session.get_session_id())
