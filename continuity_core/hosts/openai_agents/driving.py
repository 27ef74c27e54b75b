"""One model turn of a ``Runner.run``: attempts, until continuity lets one stand."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import attrs
from agents import AgentsException, MaxTurnsExceeded, ModelResponse, Usage

from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.settings import Incomplete
from continuity_core.hosts.openai_agents.attempts import Attempt, StreamedAttempt, WholeAttempt
from continuity_core.hosts.openai_agents.counting import add_to_response, add_to_terminal, usage_of_dropped
from continuity_core.hosts.openai_agents.events import TurnResumed
from continuity_core.hosts.openai_agents.projecting import projected
from continuity_core.hosts.openai_agents.request import Request
from continuity_core.hosts.openai_agents.runs import AgentRun, with_results
from continuity_core.hosts.openai_agents.withholding import is_broken, nothing_is_left, without_calls
from continuity_core.model.cause import CauseKind
from continuity_core.model.entries import EntryRef
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.reading.fields import field
from continuity_core.model.turn import Text, Turn

_INCOMPLETE = (CauseKind.LENGTH, CauseKind.EMPTY)
_TIMER_SLACK = 0.05
"""Seconds by which the runner's timer may seem to ring early."""


@attrs.define(eq=False)
class ModelTurn:
    """One turn that the runner asks for."""

    agent_run: AgentRun
    request: Request
    dropped: list[Usage] = attrs.field(factory=list)
    """What the turns cost that were left out."""
    resumed: TurnResumed | None = None
    """What consumers are to be told of the resume that was decided last."""
    _started: float = attrs.field(factory=lambda: asyncio.get_running_loop().time())
    _deadline: datetime | None = None
    _sent: Request | None = None
    _turn: Turn | None = None
    _is_deciding: bool = False

    def __attrs_post_init__(self) -> None:
        timeout = self.request.model_settings.timeout
        if timeout is not None:
            # The runner's timer covers whatever is done in here, waits included.
            clock = self.agent_run.runs.continuity.clock
            self._deadline = clock.now() + timedelta(seconds=timeout)

    # ---------------------------------------------------------------- before each attempt

    async def begin(self) -> None:
        """The tools of the turn before have run. Raises where the run was ended meanwhile, or ends here."""
        if self.agent_run.run.is_over:
            raise AgentsException("the run was aborted: nothing more is requested")
        answered = partial(with_results, items_of_input=self.request.input)
        why = await self.agent_run.tools_ended(answered, self._facts(self.request))
        if why is not None:
            self._give_up(MaxTurnsExceeded(f"continuity ended the run: {why}"))

    def next_request(self) -> Request:
        """What the next attempt sends."""
        agent_run = self.agent_run
        adjust, agent_run.adjust = agent_run.adjust, None
        request = self.request
        if not request.builds_on_server:
            remembered = agent_run.runs.delivered.find
            request = request.with_input(projected(agent_run.run, request.input, remembered))
        self._sent = request.adjusted(adjust)
        return self._sent

    # ---------------------------------------------------------------- after each attempt

    async def stands(self, attempt: Attempt) -> bool:
        """Decide about the attempt, hold the wait, and say whether it is the one that stands."""
        sent = self._sent or self.request
        turn = attempt.turn(sent.output_limit)
        if is_broken(turn):
            # What is handed out of it is found again in later requests, under this name.
            turn = attrs.evolve(turn, entry=EntryRef.stable(secrets.token_hex(8)))
        self._turn = turn
        if _goes_on(turn):
            self.agent_run.pending = turn
            return True
        result = await self._decide(turn, sent)
        if not result.resume:
            return True
        said = result.proposal.resume
        self.agent_run.adjust = result.adjust
        self.agent_run.runs.dropped(turn)
        if turn.entry is not None:
            # It never gets into the history: the edit that leaves it out need not be kept.
            self.agent_run.run.entry_restored(turn.entry)
        self.dropped.append(usage_of_dropped(turn))
        self.resumed = TurnResumed(
            reason="" if said is None else said.decision.reason, resumes=self.agent_run.run.state.resumes
        )
        return False

    async def _decide(self, turn: Turn, sent: Request) -> BoundaryResult:
        run, facts = self.agent_run.run, self._facts(sent)
        # The tools of this turn were the provider's own, and the model has answered: a proper end.
        facts = attrs.evolve(facts, ended_on_purpose=bool(turn.tool_calls))
        self._is_deciding = True
        result = await run.turn_ended(turn, facts)
        if not result.resume and result.end_run is None:
            result = await run.before_settle(facts)
        self._is_deciding = False
        return result

    async def cancelled(self, attempt: Attempt) -> None:
        """The caller cancels, or the runner's timer rings. Nothing in here waits."""
        run = self.agent_run.run
        if self.agent_run.is_settled:
            return
        timeout = self.request.model_settings.timeout
        elapsed = asyncio.get_running_loop().time() - self._started
        if timeout is not None and elapsed >= timeout - _TIMER_SLACK:
            # The runner raises an error of its own and may retry; there is no time to wait.
            if not self._is_deciding:
                now = self.agent_run.runs.continuity.clock.now()
                error = TimeoutError(f"ModelSettings.timeout of {timeout:g} s")
                facts = attrs.evolve(self._facts(self.request), deadline=now, retry_follows=None)
                await run.turn_ended(Turn.from_exception(error), facts)
            return
        run.abort()
        if not self._is_deciding:
            await run.turn_ended(attempt.cut_short(), HostFacts(aborted=True))

    # ---------------------------------------------------------------- what the runner gets

    def response_of(self, attempt: WholeAttempt) -> ModelResponse:
        """What the runner gets of the attempt that stands; raises what the framework raised in it."""
        self._raise_if_incomplete(attempt)
        self.raise_error_of(attempt)
        response = attempt.response
        assert response is not None
        response.output = self._harmless(response.output)
        if self.dropped:
            add_to_response(response, self.dropped)
        return response

    def events_of(self, attempt: StreamedAttempt) -> list[Any]:
        """The events that were held, of the attempt that stands. Raises where nothing of it may be shown."""
        self._raise_if_incomplete(attempt)
        for event in attempt.held[:1]:
            response = field(event, "response")
            if response is not None and field(event, "type") == "response.completed":
                response.output = self._harmless(response.output or list(attempt.reader.items))
            if self.dropped:
                add_to_terminal(event, self.dropped)
        return attempt.held

    def raise_error_of(self, attempt: Attempt) -> None:
        """Raise what the framework raised in the attempt that stands, if anything."""
        if attempt.error is None:
            return
        if attempt.had_native_retries:
            self._give_up(attempt.error)
        raise attempt.error

    def _harmless(self, output: list[Any]) -> list[Any]:
        """The output without the calls of a broken turn."""
        turn = self._turn
        if turn is None or not self.agent_run.is_on or not is_broken(turn):
            return output
        kept = without_calls(output)
        if output and not kept:
            self._give_up(nothing_is_left(turn))
        self.agent_run.runs.delivered.note(kept, turn)
        return kept

    def _raise_if_incomplete(self, attempt: Attempt) -> None:
        """Settle here where the settings want an error for a half: the framework would return it."""
        run = self.agent_run.run
        ended = self.agent_run.pending is None
        if not (ended and self.agent_run.is_on) or run.aborted:
            return
        if self.agent_run.runs.continuity.settings.incomplete is not Incomplete.RAISE:
            return
        failed = run.last_turn is not None and run.last_turn.failure is not None
        if failed or run.cause in _INCOMPLETE:
            try:
                self.agent_run.settled(attempt.error)
            except Exception as incomplete:
                self._give_up(incomplete)

    def _give_up(self, error: Exception) -> None:
        self.agent_run.given_up = error
        raise error

    # ---------------------------------------------------------------- facts

    def _facts(self, sent: Request) -> HostFacts:
        retried = self.agent_run.is_on or not sent.retries_natively
        return HostFacts(
            output_limit=sent.output_limit,
            retry_follows=False if retried else None,
            deadline=self._deadline,
            no_more_turns=self.agent_run.no_more_turns,
        )


def _goes_on(turn: Turn) -> bool:
    """Whether the runner asks the model again by itself: for tools, or after a provider's without a word."""
    calls = turn.executable_calls
    if not calls:
        return False
    answered = {result.call_id for result in turn.results}
    said_something = any(isinstance(block, Text) for block in turn.blocks)
    return not said_something or any(call.id not in answered for call in calls)
