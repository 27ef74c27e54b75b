"""An agent of OpenHands with a tool, against a provider that cuts, breaks off and limits; and it finishes.

Run it with the extra ``openhands`` (Python 3.12 or later). Waits pass a hundred times as fast here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # Ask no network for the prices of models.
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import LLM, Agent, Conversation
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.tool import Action, Observation, Tool, ToolDefinition, ToolExecutor, register_tool

from continuity_core import Continuity
from continuity_core.hosts.openhands import ContinuityConversation
from continuity_core.testing.clocks import ScaledClock
from continuity_core.testing.fault_server import FaultServer

LIMIT: dict[str, Any] = {
    "http": 429,
    "headers": {"retry-after": "20"},
    "body": {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}},
}
SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 1}'}], "stop": "length"},
    {"tool_calls": [{"name": "high_water", "arguments": '{"day": 12}'}]},
    {"text": "High water is", "cut": "rst"},
    LIMIT,
    {"text": "High water is at 05:41 on the 12th."},
]


class HighWaterAction(Action):
    """What the model says."""

    day: int


class HighWaterObservation(Observation):
    """What it is told."""


class HighWaterExecutor(ToolExecutor[HighWaterAction, HighWaterObservation]):
    """Looks the time up."""

    def __call__(self, action: HighWaterAction, conversation: Any = None) -> HighWaterObservation:
        print(f"the tool runs for day {action.day}")
        return HighWaterObservation.from_text(f"05:41 on day {action.day}")


class HighWaterTool(ToolDefinition[HighWaterAction, HighWaterObservation]):
    """Time of high water on a day of this month."""

    name = "high_water"

    @classmethod
    def create(cls, conv_state: Any = None, **params: Any) -> Sequence[Any]:
        return [
            cls(
                description="Time of high water on a day of this month.",
                action_type=HighWaterAction,
                observation_type=HighWaterObservation,
                executor=HighWaterExecutor(),
            )
        ]


async def main() -> None:
    """Ask once; every turn but two fails in a way of its own."""
    logging.getLogger("openhands").setLevel(logging.ERROR)
    register_tool("high_water", HighWaterTool)
    with tempfile.TemporaryDirectory() as folder:
        async with FaultServer(SCRIPT) as server:
            llm = LLM(
                model="openai/any",
                base_url=server.base_url,
                api_key="unused",
                usage_id="example",
                num_retries=1,
                stream=True,
            )
            conversation = ContinuityConversation(
                Conversation(
                    agent=Agent(llm=llm, tools=[Tool(name="high_water")]),
                    workspace=folder,
                    visualizer=None,
                    token_callbacks=[lambda chunk: None],
                ),
                continuity=Continuity.load(clock=ScaledClock(100)),
            )
            conversation.send_message("When is high water on the 12th?")
            await conversation.arun()
            print(get_agent_final_response(conversation.state.events))
            print(conversation.report)
            conversation.close()


if __name__ == "__main__":
    asyncio.run(main())
