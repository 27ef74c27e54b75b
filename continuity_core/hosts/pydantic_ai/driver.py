"""What happens in the graph of an agent run, told to continuity, and what continuity wants done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import attrs
from pydantic_ai import CallToolsNode, ModelRequestNode, exceptions
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_graph import End

from continuity_core.engine.results import BoundaryResult
from continuity_core.hosts.pydantic_ai.agent_run import AgentRun
from continuity_core.hosts.pydantic_ai.cautions import warn_of_server_held_history
from continuity_core.hosts.pydantic_ai.entries import (
    EntryReader,
    note_abandoned,
    note_broken,
    projected,
    resuming_request,
)
from continuity_core.hosts.pydantic_ai.events import TurnResumed
from continuity_core.hosts.pydantic_ai.facts import Asked, facts_of, is_the_frameworks_own, settings_of
from continuity_core.hosts.pydantic_ai.failing import failed_turn, is_of_the_model
from continuity_core.hosts.pydantic_ai.inbox import deliver_follow_ups, pending_input
from continuity_core.hosts.pydantic_ai.output import accepts_nothing
from continuity_core.hosts.pydantic_ai.reading import results_in, turn_of
from continuity_core.model.boundary import Mode
from continuity_core.model.decisions import Adjust, Omit
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

Handler: TypeAlias = Callable[[Any], Awaitable[Any]]


@attrs.define(kw_only=True, eq=False)
class RunDriver(AgentRun):
    """Passes the boundaries of an agent run at the nodes of its graph."""

    ending_tools: frozenset[str] = frozenset()
    """Tools after which another capability ends the run on purpose."""
    stop_reason_required: bool = True
    """Whether a stream that ends without the provider's word for it is a failure."""
    in_node: bool = False
    """Whether a node is being run with all its hooks; ``run_stream`` and hand-driven streams do not."""
    _response: ModelResponse | None = None
    """The response that was looked at last."""
    _called: Turn | None = None
    """Its turn, where that waits for the results of its calls."""
    _not_to_run: frozenset[str] = frozenset()
    """Calls that are never executed."""
    _end_run: str | None = None
    _refused: str | None = None
    """Why the next request is not to be made. Raised when it is in the history: it carries the results."""
    _adjust: Adjust | None = None
    _asked: Asked = Asked()
    _entries: EntryReader = attrs.field(factory=EntryReader)

    # ---------------------------------------------------------------- before every request

    def prepare(self, ctx: RunContext[Any], request: ModelRequestContext) -> ModelRequestContext:
        """Note what is asked for, and leave out of the request what must not reach the model."""
        if self.run is None:
            return request
        refused, self._refused = self._refused, None
        if refused is not None and self.recovers:
            raise exceptions.UsageLimitExceeded(refused)
        if self._adjust is not None:
            request.model_settings = {**(request.model_settings or {}), **settings_of(self._adjust)}
        self._asked = Asked.of(request, stop_reason_required=self.stop_reason_required)
        if self.recovers:
            warn_of_server_held_history(request.model_settings or {})
        if self.empty_is_answer is None:
            self.empty_is_answer = accepts_nothing(ctx.agent)
        shown = self._entries.read(request.messages)
        result = self.run.project([entry for entry, _ in shown])
        if result.changed:
            request.messages = projected(request.messages, shown, result)
        return request

    # ---------------------------------------------------------------- one node

    async def step(self, ctx: RunContext[Any], node: Any, handler: Handler) -> Any:
        """Run one node of the graph; what is returned is the next one, or the end."""
        if self.run is None:
            return await handler(node)
        if self._is_over:
            self._start_next(ctx)
        if self.run.is_over:  # It ended with its parent.
            return await handler(node)
        before, self.in_node = self.in_node, True
        try:
            if isinstance(node, ModelRequestNode):
                result = await self._request(ctx, node, handler)
            elif isinstance(node, CallToolsNode):
                result = await self._call_tools(ctx, node, handler)
            else:
                result = await handler(node)
        finally:
            self.in_node = before
        if isinstance(result, End):  # the framework goes on where something steers it
            ended = self._end_run is not None or self.run.aborted
            self._is_over = ended or pending_input(ctx) != "steer"
        return result

    async def _request(self, ctx: RunContext[Any], node: Any, handler: Handler) -> Any:
        known = len(ctx.messages)
        try:
            result = await self._asked_once(handler, node)
        except Exception as error:
            following = await self._request_failed(ctx, error, known)
            if following is None:
                raise
            return following
        except asyncio.CancelledError as cancelled:
            await self._request_aborted(ctx, cancelled, known)
            raise
        if isinstance(result, CallToolsNode):
            return await self._responded(ctx, result)
        return result

    async def _asked_once(self, handler: Handler, node: Any) -> Any:
        """The request, by all candidates that it takes: what was to be different for it ends with it."""
        try:
            return await handler(node)
        finally:
            self._adjust = None

    async def _request_failed(self, ctx: RunContext[Any], error: Exception, known: int) -> Any:
        """The node that goes on after a failed request; ``None``: the error is the caller's."""
        assert self.run is not None
        if self.run.is_over or not is_of_the_model(error):
            return None
        run, turn = self.run, failed_turn(error, _interrupted(ctx, known))
        self._response = None
        result = await run.turn_ended(turn, facts_of(ctx, self._asked))
        if not result.resume and result.end_run is None and not run.aborted:
            result = await run.before_settle(facts_of(ctx, self._asked))
        if result.resume:
            return await self._resume(ctx, turn, result)
        return self._go_on_with_input(ctx, result.end_run)

    def _go_on_with_input(
        self, ctx: RunContext[Any], end_run: str | None
    ) -> ModelRequestNode[Any, Any] | None:
        """What the user said meanwhile goes on; raised now, an error would take it with it."""
        return ModelRequestNode(resuming_request(left_out=True)) if self._takes_input(ctx, end_run) else None

    def _takes_input(self, ctx: RunContext[Any], end_run: str | None) -> bool:
        """Whether something was said; behind a run that was ended also steering is a request of its own."""
        assert self.run is not None
        said = pending_input(ctx)
        if said is None or not self.recovers or self.run.aborted:
            return False
        if said == "follow_up":
            deliver_follow_ups(ctx)
        self._is_over = said == "follow_up" or end_run is not None
        return True

    async def _request_aborted(self, ctx: RunContext[Any], cancelled: BaseException, known: int) -> None:
        """Tell of the turn that was cut off; nothing is waited for, so that a cancelled task can do it."""
        assert self.run is not None
        if self.run.is_over:
            return
        turn = failed_turn(cancelled, _interrupted(ctx, known))
        self.run.abort()
        await self.run.turn_ended(
            attrs.evolve(turn, stop_reason=StopReason.ABORTED), facts_of(ctx, self._asked)
        )

    async def _responded(self, ctx: RunContext[Any], node: Any) -> Any:
        """Decide about a response before anything is done with it."""
        assert self.run is not None
        if self.run.is_over:
            return node
        self._response = node.model_response
        turn = turn_of(node.model_response, must_say_why=self._asked.must_say_why)
        self._called, self._not_to_run, self._end_run = None, frozenset(), None
        if turn.executable_calls and not turn.unfinished:
            self._called = turn
            return node
        facts = facts_of(ctx, self._asked, ended_on_purpose=self._is_answer(turn))
        try:
            result = await self.run.turn_ended(turn, facts)
        except asyncio.CancelledError:
            if self.recovers:
                note_abandoned(node.model_response)
            raise
        if turn.failure is not None and not (result.resume or result.end_run or self.run.aborted):
            # The framework takes it for a good one, and has no recovery of its own that could go first.
            result = await self.run.before_settle(facts)
        if result.resume:
            return await self._resume(ctx, turn, result)
        if turn.failure is not None and self.recovers:
            note_broken(node.model_response)
        self._end_run = result.end_run
        if self.recovers and not turn.unfinished:
            self._not_to_run = frozenset(call.id for call in turn.tool_calls)
        return node

    async def _call_tools(self, ctx: RunContext[Any], node: Any, handler: Handler) -> Any:
        assert self.run is not None
        if node.model_response is not self._response:
            following = await self._from_history(ctx, node)
            if following is not node:
                return following
        turn, self._called = self._called, None
        try:
            result = await handler(node)
        except Exception as error:
            if turn is not None and not self.run.is_over:
                await self._tool_failed(ctx, turn, error)
            if turn is None and isinstance(error, exceptions.UnexpectedModelBehavior):
                following = self._go_on_with_input(ctx, self._end_run)
                if following is not None:
                    return following
            raise
        if self.run.is_over:
            return result
        end_run = self._end_run
        if turn is not None:
            ended = attrs.evolve(turn, results=_results(ctx, result))
            boundary = await self.run.turn_ended(ended, facts_of(ctx, self._asked))
            self._end_run = end_run = boundary.end_run
        if isinstance(result, End):
            return await self._ending(ctx, node, result)
        if end_run is not None and not self._takes_input(ctx, end_run):
            self._refused = end_run
        return result

    async def _from_history(self, ctx: RunContext[Any], node: Any) -> Any:
        """A response that this run did not ask for: its calls were left open, or answered by the caller."""
        self._asked = Asked()
        if node.tool_call_results is None:
            return await self._responded(ctx, node)
        self._response, self._called = node.model_response, turn_of(node.model_response)
        return node

    async def _tool_failed(self, ctx: RunContext[Any], turn: Turn, error: Exception) -> None:
        """Nobody but the caller can go on after what a tool raised."""
        assert self.run is not None
        failure = Failure.from_exception(error, where="tool")
        failed = attrs.evolve(turn, stop_reason=StopReason.ERROR, failure=failure)
        result = await self.run.turn_ended(failed, facts_of(ctx, self._asked))
        if result.resume:
            self.run.unscheduled("what a tool raised ends an agent run of pydantic-ai")

    async def _ending(self, ctx: RunContext[Any], node: Any, end: Any) -> Any:
        """The agent would settle."""
        assert self.run is not None
        turn = self.run.last_turn
        if turn is None or self.run.aborted:
            return end
        on_purpose = (
            is_the_frameworks_own(node, end)
            or self._is_answer(turn)
            or any(call.name in self.ending_tools for call in turn.tool_calls)
        )
        result = await self.run.before_settle(facts_of(ctx, self._asked, ended_on_purpose=on_purpose))
        return await self._resume(ctx, turn, result) if result.resume else end

    async def _resume(self, ctx: RunContext[Any], turn: Turn, result: BoundaryResult) -> Any:
        self._adjust = result.adjust
        left_out = turn.entry is not None and isinstance(result.edits.get(turn.entry), Omit)
        said = result.proposal.resume
        reason = "" if said is None else said.decision.reason
        await ctx.emit(TurnResumed(reason=reason, left_out=left_out))
        return ModelRequestNode(resuming_request(left_out=left_out))

    # ---------------------------------------------------------------- truncated calls

    def check_call(self, call: ToolCallPart | None) -> None:
        """Raise where the response of this call was cut or filtered: the call may not be what it seems."""
        if self.run is None or self.run.mode is not Mode.ON or call is None:
            return
        if call.tool_call_id in self._not_to_run:
            limit = self._asked.output_limit or "provider default"
            raise exceptions.IncompleteToolCall(
                f"The response that calls {call.tool_name!r} was cut (model token limit: {limit}): the call "
                "may be incomplete and was not executed. Increase the `max_tokens` model setting, or "
                "simplify the prompt to result in a shorter response that will fit within the limit."
            )

    def _is_answer(self, turn: Turn) -> bool:
        """Whether an empty turn is an answer that the output type allows."""
        empty = turn.failure is None and turn.last_substantive is None
        return empty and turn.stop_reason is StopReason.STOP and bool(self.empty_is_answer)


def _interrupted(ctx: RunContext[Any], known: int) -> ModelResponse | None:
    """What had come of a stream that broke, as the framework put it into the history."""
    for message in reversed(ctx.messages[known:]):
        if isinstance(message, ModelResponse):
            return message if message.state == "interrupted" else None
    return None


def _results(ctx: RunContext[Any], result: Any) -> tuple[Any, ...]:
    """The results of the calls: in the next request, or where the run ends in the history."""
    request = ctx.messages[-1] if isinstance(result, End) else getattr(result, "request", None)
    return () if request is None or isinstance(request, ModelResponse) else results_in(request)
