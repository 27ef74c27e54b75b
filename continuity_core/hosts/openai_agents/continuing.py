"""What becomes of a run of the runner's that has ended: whether it goes on, and with what."""

from __future__ import annotations

from typing import Any

import attrs
from agents import Usage
from agents.items import ToolCallOutputItem
from agents.result import RunResultBase
from agents.run import DEFAULT_MAX_TURNS

from continuity_core.hosts.openai_agents.runs import AgentRun, with_results
from continuity_core.model.host_facts import HostFacts

_ON_SERVER = ("conversation_id", "previous_response_id", "auto_previous_response_id")


@attrs.define(kw_only=True, eq=False)
class Course:
    """One run of continuity on its way through several of the runner's."""

    agent_run: AgentRun
    options: dict[str, Any]
    """The options of the runner."""
    _turns_left: int | None = None

    def __attrs_post_init__(self) -> None:
        self._turns_left = self.options.get("max_turns", DEFAULT_MAX_TURNS)

    async def goes_on_after(self, result: RunResultBase) -> bool:
        """Pass the boundaries of the runner's end, and say whether there is to be one more turn."""
        agent_run = self.agent_run
        if self._turns_left is not None:
            self._turns_left -= len(result.raw_responses)
        if agent_run.pending is None or agent_run.run.is_over:
            return False
        facts = HostFacts(
            ended_on_purpose=is_on_purpose(result), ending_tools=_ending_tools(result), retry_follows=False
        )
        results = [item.raw_item for item in result.new_items if isinstance(item, ToolCallOutputItem)]
        why = await agent_run.tools_ended(lambda pending: with_results(pending, results), facts)
        if why is not None or agent_run.run.is_over:
            return False
        decided = await agent_run.run.before_settle(facts)
        agent_run.adjust = decided.adjust
        if not decided.resume:
            return False
        if self._cannot_go_on():
            agent_run.run.unscheduled("max_turns are spent, or the provider keeps the history")
            return False
        return True

    def input_after(self, result: RunResultBase) -> Any:
        """The input of the next run of the runner: no message is added."""
        return [] if self.options.get("session") is not None else result.to_input_list()

    def options_after(self) -> dict[str, Any]:
        """The options of the next run of the runner: what is left of its turns."""
        return {**self.options, "max_turns": self._turns_left}

    def _cannot_go_on(self) -> bool:
        spent = self._turns_left is not None and self._turns_left <= 0
        return spent or any(self.options.get(name) for name in _ON_SERVER)


def is_on_purpose(result: RunResultBase) -> bool:
    """Whether a run that ended on a tool's result, or before one, was meant to end there."""
    if result.interruptions:
        return True
    behaviour = result.last_agent.tool_use_behavior
    if not callable(behaviour):
        return True
    output = result.final_output
    # The runner makes text of the output of a function that gave none.
    return not (output is None or (isinstance(output, str) and output in ("", "None")))


def _ending_tools(result: RunResultBase) -> frozenset[str]:
    behaviour = result.last_agent.tool_use_behavior
    return frozenset(behaviour.get("stop_at_tool_names", ())) if isinstance(behaviour, dict) else frozenset()


def add_usage(earlier: RunResultBase, result: RunResultBase) -> None:
    """Add what the earlier run of the runner cost to the totals of the later one."""
    total = Usage()
    total.add(earlier.context_wrapper.usage)
    total.add(result.context_wrapper.usage)
    result.context_wrapper.usage = total
