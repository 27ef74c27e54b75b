"""A run that goes on, and what this host has to remember of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import attrs

from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.run import Run
from continuity_core.hosts.openjiuwen.projecting import ID, STOP, projected, shown_entries
from continuity_core.hosts.openjiuwen.reading import aborted_turn, failed_turn, results_of, turn_of
from continuity_core.model.boundary import Mode
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

CUT_CALL = "The call was not executed: the response that it belongs to was cut off."
"""What the model is told of a call of a turn that did not end well, where it is told of it."""
_CLEAN = (StopReason.STOP, StopReason.TOOL_USE)


@attrs.define(kw_only=True, eq=False)
class Live:
    """One run; an agent's rails are called in its context one after the other."""

    run: Run
    owner: Any
    """The agent that was invoked."""
    session: str
    """The framework's name of the conversation."""
    ending_tools: frozenset[str] | None
    """Tools that end a run on purpose; ``None``: whatever ends it after a tool does."""
    parent: Live | None = None
    is_again: bool = False
    """The agent was invoked once more for the same run."""
    agent: Any = None
    """The ReAct agent whose loop it is."""
    context: Any = None
    partial: Any = None
    """What has arrived of the answer."""
    told: str | None = None
    """The provider's own word for the stop, where a chunk had one."""
    requests: int = 0
    """Requests of the turn that goes on."""
    is_asking: bool = False
    """The model is being asked."""
    deadline: datetime | None = None
    """When the framework stops waiting for the round that goes on."""
    own_turns: int = 0
    """Iterations of the agent that continuity did not ask for."""
    is_extra: bool = False
    """The turn that goes on was asked for by continuity."""
    waiting: Turn | None = None
    """A turn whose calls the agent executes."""
    vetoed: set[str] = attrs.field(factory=set)
    """Ids of the calls of that turn which are not to be executed."""
    again: bool = False
    """The loop is over or about to be, and the agent is to be invoked once more."""
    error: Exception | None = None
    """What the run failed with, where the framework was kept from raising it."""

    def is_run_by(self, agent: Any) -> bool:
        """Whether it is the agent that was invoked, or the one inside of a DeepAgent that was."""
        return self.owner is agent or getattr(self.owner, "react_agent", None) is agent

    @property
    def recovers(self) -> bool:
        """Whether anything may be done but looking."""
        return self.run.mode is Mode.ON

    # ---------------------------------------------------------------- a model call

    def begin_call(self, agent: Any, context: Any) -> None:
        """The agent is about to ask the model."""
        self.agent, self.context = agent, context
        self.partial = self.told = None
        self.again = False
        self.is_asking = True
        self.requests += 1

    def heard(self, chunk: Any) -> None:
        """A piece of a streamed answer arrived."""
        self.partial = chunk if self.partial is None else self.partial + chunk
        told = (getattr(chunk, "provider_metadata", None) or {}).get("stop_reason")
        self.told = str(told) if told else self.told

    def answered(self, message: Any, *, stream: bool) -> Turn:
        """The model answered; the answer is named before it gets into the context."""
        told = self.told or (getattr(message, "provider_metadata", None) or {}).get("stop_reason")
        entry = None
        turn = turn_of(message, told=told, stream=stream, entry=None, requests=max(1, self.requests))
        if self.recovers:
            entry = self._named(message, turn)
        self.requests, self.is_asking = 0, False
        self.own_turns += not self.is_extra
        self.is_extra = False
        return attrs.evolve(turn, entry=entry)

    def _named(self, message: Any, turn: Turn) -> EntryRef:
        from openjiuwen.core.context_engine.context.context_utils import ContextUtils

        ContextUtils.ensure_context_message_ids([message])
        if turn.stop_reason not in _CLEAN:
            message.metadata[STOP] = turn.stop_reason.value
        return EntryRef.stable(str(message.metadata[ID]))

    def failed(self, error: BaseException) -> Turn:
        """The model call failed."""
        turn = failed_turn(error, self.partial, requests=max(1, self.requests))
        self.requests, self.is_asking = 0, False
        return turn

    async def cut_short(self, ctx: Any) -> None:
        """The run was cancelled: nothing more is requested, and its turn is told as far as it got."""
        self.run.abort()
        turn = self.with_results()
        if self.is_asking:
            turn = aborted_turn(self.partial, requests=max(1, self.requests))
        if turn is not None:
            await self.run.turn_ended(turn, self.facts(ctx))

    def await_tools(self, turn: Turn) -> None:
        """The agent executes the turn's calls, but for those of a turn that did not end well."""
        self.waiting = turn
        self.vetoed = set() if turn.executable_calls else {call.id for call in turn.tool_calls}

    def with_results(self) -> Turn | None:
        """The turn that waited for its tools, once."""
        turn, self.waiting = self.waiting, None
        if turn is None or turn.entry is None:
            return turn
        return attrs.evolve(turn, results=results_of(turn, self.messages(), self.vetoed))

    # ---------------------------------------------------------------- the context

    def messages(self) -> list[Any]:
        """The whole context."""
        return [] if self.context is None else list(self.context.get_messages())

    def project(self, window: Any) -> None:
        """Narrow the messages that the next request carries."""
        shown = shown_entries(window.context_messages)
        result = self.run.project([one.entry for one in shown])
        if result.changed:
            window.context_messages = projected(shown, result)

    def lookup(self, ref: EntryRef) -> Entry | None:
        """Find an entry of the context."""
        return next((one.entry for one in shown_entries(self.messages()) if one.entry.ref == ref), None)

    # ---------------------------------------------------------------- the facts of the moment

    def facts(
        self, ctx: Any, *, retry_follows: bool = False, on_purpose: bool = False, requested: bool = False
    ) -> HostFacts:
        """What the agent knows now."""
        return HostFacts(
            pending_input="steer" if ctx.has_pending_steering() else None,
            continuation_requested=requested,
            aborted=self.run.aborted or is_being_cancelled(),
            output_limit=_output_limit(self.agent),
            retry_follows=retry_follows,
            ending_tools=self.ending_tools or frozenset(),
            ended_on_purpose=on_purpose,
            deadline=self.deadline,
            lookup=self.lookup,
        )

    async def turn_ended(self, ctx: Any, turn: Turn, facts: HostFacts) -> BoundaryResult:
        """Tell of the turn. Steering that arrives while a wait is held ends it."""
        with _listening(ctx.steering_queue, lambda: self.run.input_arrived("steer")):
            return await self.run.turn_ended(turn, facts)


@contextmanager
def _listening(queue: Any, tell: Callable[[], None]) -> Iterator[None]:
    """Hear of what is put into the queue, before it is."""
    if queue is None:
        yield
        return
    put = queue.put_nowait

    def put_nowait(item: Any) -> None:
        tell()
        put(item)

    queue.put_nowait = put_nowait
    try:
        yield
    finally:
        del queue.put_nowait


def is_being_cancelled() -> bool:
    """Whether this task was cancelled, though the framework's client may have lost it on the way."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _output_limit(agent: Any) -> int | None:
    config = getattr(getattr(agent, "config", None), "model_config_obj", None)
    limit = getattr(config, "max_tokens", None)
    return limit if isinstance(limit, int) else None
