"""What a run does at the agent's hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from langchain.agents.middleware import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.structured_output import StructuredOutputError
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from continuity_core.engine.results import NOTHING, BoundaryResult
from continuity_core.hosts.langchain.collisions import warn_of_server_held_history
from continuity_core.hosts.langchain.driving import Ask, BeforeSettle, Steps, TurnEnded
from continuity_core.hosts.langchain.facts import adjusted, direct_tools_of, verdict_of
from continuity_core.hosts.langchain.listening import Listener
from continuity_core.hosts.langchain.live import Invocation, Live
from continuity_core.hosts.langchain.lives import Lives
from continuity_core.hosts.langchain.projecting import History, ref_of
from continuity_core.hosts.langchain.reading import blocks_of, failed_turn, results_for, turn_of
from continuity_core.hosts.langchain.truncation import without_cut_calls
from continuity_core.model.boundary import Mode
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Adjust
from continuity_core.model.failure import FailurePlace
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.report import RunOutcome
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

STATE = "continuity"
"""The private key of the agent's state under which a run is kept."""


@attrs.define(kw_only=True, eq=False)
class Outcome:
    """What one call of the model gave: a response, an error, or an error that somebody made a response of."""

    turn: Turn
    response: ModelResponse[Any] | None = None
    error: Exception | None = None
    answer: AIMessage | None = None
    """The model's message in the response."""

    @property
    def goes_on(self) -> bool:
        """Whether the graph goes on with this answer by itself: with tools, or with a result of its own."""
        answer = self.answer
        if answer is None or self.turn.stop_reason not in (StopReason.STOP, StopReason.TOOL_USE):
            return False
        return bool(answer.tool_calls)


@attrs.frozen(kw_only=True, eq=False)
class Hooks:
    """The steps of each hook for one live run."""

    lives: Lives
    live: Live
    invocation: Invocation
    ending_tools: frozenset[str]

    # ---------------------------------------------------------------- a model call

    def model_call(self, request: ModelRequest[Any], saved: Mapping[str, Any] | None) -> Steps:
        """Ask the model until the turn is good, is left to the graph, or the budgets are spent."""
        live = self.live
        live.busy = True
        try:
            return (yield from self._model_call(request, saved))
        except GraphBubbleUp:
            raise
        except Exception as error:
            self.lives.give_up(live, error)
            raise
        except BaseException:
            live.run.abort()
            self.lives.settle(live, RunOutcome.ABORTED)
            raise
        finally:
            live.busy = False

    def _model_call(self, request: ModelRequest[Any], saved: Mapping[str, Any] | None) -> Steps:
        live, run = self.live, self.live.run
        if run.state.turns == 0:
            warn_of_server_held_history(request.model, request.model_settings, run.mode)
        live.direct_tools = direct_tools_of(request)
        history = live.reader.read(request.messages)
        result = yield from self._tools_ran(history, saved, self._facts(history, request))
        while True:
            if live.end is not None or (run.aborted and run.mode is Mode.ON):
                return self._ended()
            listener = Listener()
            sent = self._sent(request, history, result.adjust)
            try:
                outcome = self._answered((yield Ask(sent, listener)), listener)
            except GraphBubbleUp:
                raise
            except asyncio.CancelledError:
                # Nothing is waited for any more, so that a cancelled task can tell of it.
                run.abort()
                yield TurnEnded(self._cut_short(listener), self._facts(history, sent))
                raise
            except Exception as error:
                outcome = self._failed(error, listener)
            if outcome.goes_on:
                assert outcome.answer is not None
                live.waiting_for_tools = (outcome.answer.id, outcome.turn)
                return self._kept(outcome)
            facts = self._facts(history, sent, outcome)
            result = yield TurnEnded(outcome.turn, facts)
            if not result.resume and not self._is_ended_by(result):
                result = yield BeforeSettle(facts)
            if self._is_ended_by(result) or not result.resume:
                return self._given(outcome)
            if outcome.turn.entry is not None:
                # The turn does not reach the history: nothing is to be left out of it.
                run.entry_restored(outcome.turn.entry)

    def _sent(self, request: ModelRequest[Any], history: History, adjust: Adjust | None) -> ModelRequest[Any]:
        projection = self.live.run.project(history.entries())
        request = adjusted(request, adjust)
        return request.override(messages=history.projected(projection)) if projection.changed else request

    def _answered(self, response: Any, listener: Listener) -> Outcome:
        if isinstance(response, AIMessage):
            response = ModelResponse(result=[response])
        answer = next((m for m in reversed(response.result) if isinstance(m, AIMessage)), None)
        if listener.error is not None and not (answer is not None and answer.tool_calls):
            # A middleware further in made an answer of the failure, and not one to go on with.
            turn = failed_turn(listener.error, listener.partial(), requests=listener.calls)
            return Outcome(turn=turn, response=response, answer=answer)
        if answer is None:
            return Outcome(turn=Turn(stop_reason=StopReason.STOP, unfinished=True), response=response)
        entry = ref_of(answer, 0) if answer.id is not None else None
        turn = turn_of(answer, entry=entry, requests=max(1, listener.calls))
        if self.live.run.aborted:
            turn = attrs.evolve(turn, stop_reason=StopReason.ABORTED)
        return Outcome(turn=turn, response=response, answer=answer)

    def _failed(self, error: Any, listener: Listener) -> Outcome:
        requests = max(1, listener.calls)
        if isinstance(error, StructuredOutputError):
            # The answer does not fit the schema. That is the model's doing only where it was cut.
            turn = turn_of(error.ai_message, requests=requests)
            if turn.stop_reason in (StopReason.LENGTH, StopReason.ERROR):
                return Outcome(turn=turn, error=error)
            return Outcome(
                turn=failed_turn(error, error.ai_message, where="host", requests=requests), error=error
            )
        # What no model call raised is a fault of the agent's own parts: nothing is to be gained by waiting.
        where: FailurePlace = "host" if listener.error is None else "model"
        turn = failed_turn(error, listener.partial(), where=where, requests=requests)
        return Outcome(turn=turn, error=error)

    def _cut_short(self, listener: Listener) -> Turn:
        partial = listener.partial()
        return Turn(
            stop_reason=StopReason.ABORTED,
            blocks=() if partial is None else blocks_of(partial),
            requests=max(1, listener.calls),
        )

    def _given(self, outcome: Outcome) -> Any:
        """What the framework gets where nothing is resumed: its own result or error."""
        if outcome.error is not None:
            self.lives.settle(self.live, error=outcome.error)
            raise outcome.error
        return self._kept(outcome)

    def _kept(self, outcome: Outcome) -> Any:
        response = outcome.response
        assert response is not None
        if self.live.run.mode is Mode.ON and not outcome.goes_on:
            response = without_cut_calls(response)
        if not self.is_checkpointed:
            return response
        return ExtendedModelResponse(model_response=response, command=Command(update=self.update()))

    def _ended(self) -> ExtendedModelResponse[Any]:
        """End the loop without a request.

        The jump is lost where several middlewares have ``after_model`` hooks; then an answer without content
        ends the loop in its stead.
        """
        self.live.end_tries += 1
        result = [AIMessage("")] if self.live.end_tries > 1 else []
        return ExtendedModelResponse(
            model_response=ModelResponse(result=result),
            command=Command(update={**self.update(), "jump_to": "end"}),
        )

    # ---------------------------------------------------------------- the end of the graph

    def end(self, state: Mapping[str, Any]) -> Steps:
        """Go on where a tool tail was left, else settle; gives the update of the state."""
        live, run = self.live, self.live.run
        history = live.reader.read(state["messages"])
        facts = self._facts(history, None, on_purpose=self._is_on_purpose(state))
        result = yield from self._tools_ran(history, state.get(STATE), facts)
        outcome = RunOutcome.INCOMPLETE if self._leaves_call_open(state) else None
        if live.tail == run.state.turns:
            run.unscheduled("a middleware of the agent ended the loop again")
            outcome = RunOutcome.ABORTED if run.aborted else RunOutcome.COMPLETED
        elif run.last_turn is not None and run.last_turn.tool_calls and not self._is_ended_by(result):
            result = yield BeforeSettle(facts)
            if result.resume and not self._is_ended_by(result):
                live.tail = run.state.turns
                return {**self.update(), "jump_to": "model"}
        self.lives.settle(live, outcome)
        return self.update()

    def _leaves_call_open(self, state: Mapping[str, Any]) -> bool:
        """Whether the agent ends with a call that it cannot read: it executes none of that answer."""
        run, last = self.live.run, state["messages"][-1:]
        is_open = any(isinstance(message, AIMessage) and message.invalid_tool_calls for message in last)
        return is_open and run.cause is CauseKind.TOOL_CALLS and not run.aborted

    def _is_on_purpose(self, state: Mapping[str, Any]) -> bool:
        messages: Sequence[BaseMessage] = state["messages"]
        if state.get("structured_response") is not None or not messages:
            return True
        tail: list[ToolMessage] = []
        for message in reversed(messages):
            if not isinstance(message, ToolMessage):
                break
            tail.append(message)
        direct = self.live.direct_tools
        return not tail or (bool(direct) and all(message.name in direct for message in tail))

    # ---------------------------------------------------------------- common to both

    def _tools_ran(self, history: History, saved: Mapping[str, Any] | None, facts: HostFacts) -> Steps:
        """The turn whose calls the graph executed ends when their results are there."""
        live = self.live
        waiting, live.waiting_for_tools = live.waiting_for_tools or self._left_waiting(saved, history), None
        if waiting is None:
            return NOTHING
        live.noted, turn = waiting
        results = results_for(turn, history.after(live.noted), history.ref)
        result = yield TurnEnded(attrs.evolve(turn, results=results), facts)
        self._is_ended_by(result)
        return result

    def _left_waiting(
        self, saved: Mapping[str, Any] | None, history: History
    ) -> tuple[str | None, Turn] | None:
        """The turn that another process left waiting for its tools."""
        name = None if saved is None else saved.get("waiting")
        if not name or name == self.live.noted:
            return None
        for message in history.messages:
            if message.id == name and isinstance(message, AIMessage):
                return name, turn_of(message, entry=history.ref(message))
        return None

    def _is_ended_by(self, result: BoundaryResult) -> bool:
        if result.end_run is not None:
            self.live.end = result.end_run
        return result.end_run is not None

    def _facts(
        self,
        history: History,
        request: ModelRequest[Any] | None,
        outcome: Outcome | None = None,
        *,
        on_purpose: bool = False,
    ) -> HostFacts:
        error = None if outcome is None else outcome.error
        return HostFacts(
            aborted=self.invocation.drained,
            output_limit=None if request is None else self.live.limits.of(request),
            classification=None if error is None else verdict_of(error),
            retry_follows=False,
            ending_tools=self.ending_tools,
            ended_on_purpose=on_purpose,
            lookup=history.lookup,
        )

    @property
    def is_checkpointed(self) -> bool:
        """Whether the graph may go on with this run in another invocation."""
        return self.invocation.thread is not None

    def update(self) -> dict[str, Any]:
        """The update of the agent's state that keeps the run: its name, and all of it for a checkpoint."""
        live = self.live
        if not self.is_checkpointed:
            return {STATE: {"run": live.run.id}}
        waiting = None if live.waiting_for_tools is None else live.waiting_for_tools[0]
        return {STATE: {"run": live.run.id, "state": live.run.state.to_json(), "waiting": waiting}}
