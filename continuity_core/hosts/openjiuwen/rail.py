"""The rail: what continuity does at each hook of the agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from weakref import WeakSet

from openjiuwen.core.foundation.llm import ToolMessage
from openjiuwen.core.runner.callback.errors import AbortError
from openjiuwen.core.single_agent.rail.base import AgentCallbackContext, AgentCallbackEvent, AgentRail

from continuity_core.continuity import Continuity
from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.settings import Incomplete
from continuity_core.hosts.adapting import continuity_of
from continuity_core.hosts.openjiuwen.live import CUT_CALL, Live, is_being_cancelled
from continuity_core.hosts.openjiuwen.lives import CURRENT, LIVE, Lives
from continuity_core.hosts.openjiuwen.projecting import is_cut
from continuity_core.model.cause import CauseKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.model.report import Report, RunOutcome

_INSPECTORS = "_stream_chunk_inspectors"
_LAST = -10_000
_FIRST = 10_000
_MAX_ITERATIONS = "Max iterations reached without completion"
"""What the agent gives where its limit on iterations is reached."""
_STOPPED = ("aborted", "cancelled", "completion_timeout")
"""What a loop over tasks says of a round that it did not let end."""


class ContinuityRail(AgentRail):
    """Keeps the runs of an agent alive: ``await agent.register_rail(ContinuityRail())``.

    For a ``ReActAgent`` or a ``DeepAgent``; one rail may serve several agents. ``settings`` and ``plugins``
    are those of :meth:`Continuity.load`; ``continuity`` is an object that was made already, and excludes
    them. ``ending_tools`` are the tools after which a run that ends has ended on purpose; without them every
    end after a tool is taken for that, since the agent itself ends after none.
    """

    priority = _LAST

    def __init__(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        continuity: Continuity | None = None,
        ending_tools: Iterable[str] | None = None,
    ) -> None:
        self.continuity = continuity_of(continuity, settings=settings, plugins=plugins)
        """Plugins and settings in force, and its switches."""
        self.report: Report | None = None
        """The story of the run that ended last."""
        self._ending_tools = None if ending_tools is None else frozenset(ending_tools)
        self._lives = Lives(self.continuity, self._ending_tools)
        # A rail may serve subagents that are made for one task each, and must not keep what they leave.
        self._engines: WeakSet[Any] = WeakSet()

    def callback_priority(self, event: AgentCallbackEvent) -> int:
        """After every other rail, but for the hooks at which something is to be kept from happening."""
        first = (AgentCallbackEvent.BEFORE_TOOL_CALL, AgentCallbackEvent.BEFORE_INVOKE)
        return _FIRST if event in first else _LAST

    # ---------------------------------------------------------------- a run begins

    async def before_invoke(self, ctx: AgentCallbackContext) -> None:
        """Start a run, unless the agent is invoked again for one that goes on."""
        self._lives.begin(ctx)

    async def before_task_iteration(self, ctx: AgentCallbackContext) -> None:
        """A DeepAgent's loop over tasks takes a round, and gives it so much time."""
        live = self._lives.of(ctx)
        seconds = getattr(ctx.agent.deep_config, "completion_timeout", None)
        if live is not None and seconds is not None:
            live.deadline = self.continuity.clock.now() + timedelta(seconds=seconds)

    # ---------------------------------------------------------------- a model call

    async def before_model_call(self, ctx: AgentCallbackContext) -> None:
        """Listen to the answer, and see to it that the request is projected."""
        live = self._lives.of(ctx)
        if live is None:
            return
        CURRENT.set(live)
        live.begin_call(ctx.agent, ctx.context)
        inspectors = ctx.extra.setdefault(_INSPECTORS, [])
        if isinstance(inspectors, list) and _listen not in inspectors:
            inspectors.append(_listen)
        engine = ctx.agent.context_engine
        if engine not in self._engines:
            self._engines.add(engine)
            engine.register_window_mutator(self._narrow)

    async def _narrow(self, context: Any, window: Any) -> Any:
        for live in self._lives.in_context(context):
            live.project(window)
        return window

    async def on_model_exception(self, ctx: AgentCallbackContext) -> None:
        """Decide about a failed call after the agent's own rails have."""
        live = self._lives.of(ctx)
        error = ctx.exception
        if live is None or error is None or ctx.has_force_finish_request:
            return
        retry = ctx.consume_retry_request()
        facts = live.facts(ctx, retry_follows=retry is not None)
        if retry is not None:
            ctx.request_retry(retry.delay_seconds)
        requests = live.requests
        result = await live.turn_ended(ctx, live.failed(error), facts)
        if retry is not None:
            live.requests = requests
            self._end_if_halted(ctx, live, result)
            return
        if not result.resume and result.end_run is None:
            result = await live.run.before_settle(live.facts(ctx, retry_follows=False))
        if result.resume:
            ctx.request_retry()
        elif live.recovers and ctx.has_pending_steering() and not live.run.aborted:
            # The loop takes input up before a call only, and a failed call ends it.
            live.again = True
            ctx.request_force_finish({})
        elif live.recovers and self._raises_incomplete and live.run.cause is not CauseKind.CONTEXT_OVERFLOW:
            live.error = error
            ctx.request_force_finish({})

    async def after_model_call(self, ctx: AgentCallbackContext) -> None:
        """Decide about an answer; one with calls is decided when their results are there."""
        live = self._lives.of(ctx)
        message = getattr(ctx.inputs, "response", None)
        if live is None or message is None or ctx.exception is not None:
            return
        turn = live.answered(message, stream=bool(ctx.extra.get("_streaming")))
        if turn.tool_calls:
            live.await_tools(turn)
            return
        requested = ctx.consume_model_continue_request()
        if requested:
            ctx.request_model_continue()
        requested = requested or bool(ctx.extra.get("_last_image_unsupported"))
        on_purpose = ctx.has_force_finish_request
        facts = live.facts(ctx, requested=requested, on_purpose=on_purpose)
        result = await live.turn_ended(ctx, turn, facts)
        if not result.resume and result.end_run is None and not (requested or ctx.has_pending_steering()):
            result = await live.run.before_settle(live.facts(ctx, requested=requested, on_purpose=on_purpose))
        if result.resume:
            live.is_extra = True
            if self._is_last_iteration(ctx, live):
                live.again = True
            else:
                ctx.request_model_continue()

    # ---------------------------------------------------------------- tools

    async def before_tool_call(self, ctx: AgentCallbackContext) -> None:
        """Keep a call from being executed whose turn did not end well."""
        live = self._lives.of(ctx)
        call = ctx.inputs.tool_call
        if live is None or not live.recovers:
            return
        if call.id not in live.vetoed and not is_cut(call.id, ctx.context):
            return
        ctx.inputs.tool_msg = ToolMessage(content=CUT_CALL, tool_call_id=call.id or "")
        if call.id:
            ctx.extra.setdefault("_skip_tool_calls", {})[call.id] = True
        else:
            ctx.extra["_skip_tool"] = True

    async def after_react_iteration(self, ctx: AgentCallbackContext) -> None:
        """A turn with calls ended: its results are there, and the agent asks the model again."""
        live = self._lives.of(ctx)
        turn = None if live is None else live.with_results()
        if live is None or turn is None:
            return
        result = await live.turn_ended(ctx, turn, live.facts(ctx))
        if result.resume:
            live.is_extra = True
            live.again = self._is_last_iteration(ctx, live)
        if self._end_if_halted(ctx, live, result) or not live.recovers:
            return
        if live.is_again and not live.again and live.own_turns >= _limit(live):
            ctx.request_force_finish({"output": _MAX_ITERATIONS, "result_type": "error"})

    def _end_if_halted(self, ctx: AgentCallbackContext, live: Live, result: BoundaryResult) -> bool:
        why = result.end_run
        if why is None and live.run.aborted and live.recovers:
            why = "The run was aborted."
        if why is None:
            return False
        ctx.request_force_finish({"output": why, "result_type": "error"})
        return True

    # ---------------------------------------------------------------- a run ends

    async def after_invoke(self, ctx: AgentCallbackContext) -> None:
        """Invoke the agent again where its loop is over and the run is not; else settle."""
        live = self._lives.of(ctx)
        if live is None or live.is_again:
            return
        CURRENT.set(live.parent)
        error = ctx.exception if ctx.inputs.result is None else None
        try:
            if _is_stopped(ctx.inputs.result):
                live.run.abort()
            elif ctx.inputs.result is not None:
                await self._go_on(ctx, live)
            elif error is None or is_being_cancelled():
                await live.cut_short(ctx)
                error = None
            error = error or live.error
        except Exception as raised:
            error = raised
            raise AbortError("the agent failed when it was invoked again", cause=raised) from raised
        except BaseException:
            live.run.abort()
            raise
        finally:
            self._settle(ctx, live, error)

    async def _go_on(self, ctx: AgentCallbackContext, live: Live) -> None:
        while live.agent is not None and live.recovers and not live.run.aborted:
            if not (live.again or await self._goes_on_after_tools(ctx, live)):
                return
            live.again, live.is_again = False, True
            try:
                ctx.inputs.result = await live.agent.invoke(
                    {
                        "query": "",
                        "_resume_continuation": True,
                        "_steering_queue": ctx.steering_queue,
                        "conversation_id": getattr(ctx.inputs, "conversation_id", None),
                    },
                    ctx.session,
                    _streaming=bool(ctx.extra.get("_streaming")),
                    _stream_lifecycle_owner=True,
                )
            finally:
                live.is_again = False

    async def _goes_on_after_tools(self, ctx: AgentCallbackContext, live: Live) -> bool:
        """Whether a run that ended after a tool is to go on."""
        result = ctx.inputs.result
        is_interrupt = isinstance(result, list) or result.get("result_type") == "interrupt"
        on_purpose = self._ending_tools is None or is_interrupt
        turn = live.with_results()
        if turn is not None:
            facts = live.facts(ctx, on_purpose=on_purpose)
            decided = await live.turn_ended(ctx, turn, facts)
            if decided.end_run is not None:
                return False
            if decided.resume:
                live.is_extra = True
                return True
        if _is_out_of_iterations(result):
            return live.own_turns < _limit(live)
        last = live.run.last_turn
        if last is None or not last.tool_calls:
            return False
        decided = await live.run.before_settle(live.facts(ctx, on_purpose=on_purpose))
        live.is_extra = decided.resume
        return decided.resume

    def _settle(self, ctx: AgentCallbackContext, live: Live, error: BaseException | None) -> None:
        outcome: RunOutcome | None = None
        if live.run.aborted:
            outcome = RunOutcome.ABORTED
        elif error is not None:
            outcome = RunOutcome.FAILED
        elif _is_out_of_iterations(ctx.inputs.result):
            outcome = RunOutcome.INCOMPLETE
        try:
            self._lives.settle(ctx, live, outcome, error)
        except IncompleteRun as incomplete:
            raise AbortError("the run is incomplete", cause=incomplete) from incomplete
        finally:
            self.report = live.run.report()

    # ---------------------------------------------------------------- small helpers

    @property
    def _raises_incomplete(self) -> bool:
        return self.continuity.settings.incomplete is Incomplete.RAISE

    def _is_last_iteration(self, ctx: AgentCallbackContext, live: Live) -> bool:
        return int(ctx.extra.get("_react_iteration", 0)) >= _limit(live)


async def _listen(ctx: AgentCallbackContext, chunk: Any) -> None:
    live = ctx.extra.get(LIVE)
    if live is not None:
        live.heard(chunk)


def _limit(live: Live) -> int:
    return int(live.agent._config.max_iterations)


def _is_out_of_iterations(result: Any) -> bool:
    return isinstance(result, dict) and result.get("output") == _MAX_ITERATIONS


def _is_stopped(result: Any) -> bool:
    """Whether a loop over tasks was told to stop, or has waited long enough for its round."""
    return isinstance(result, dict) and result.get("error") in _STOPPED
