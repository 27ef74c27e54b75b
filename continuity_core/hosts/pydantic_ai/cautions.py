"""What is said at the start of a run where the agent's own parts and continuity are in each other's way."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pydantic_ai.tools import RunContext

from continuity_core.hosts.adapting import Cautions

LOG = logging.getLogger("continuity.pydantic_ai")

RUN_STREAM = (
    "agent.run_stream() hands out a response before it is whole, and recovery could not take it back: use "
    "agent.run_stream_events() or agent.run(event_stream_handler=...), which are recovered, or give "
    'ContinuityCapability(run_stream="unprotected") to use it without recovery of responses that break'
)
_BY_HAND = (
    "a response is streamed by hand (node.stream() or run_stream()): where it breaks, the error reaches your "
    "code and nothing is recovered; agent.run(event_stream_handler=...) and run_stream_events() are recovered"
)
_DURABLE = (
    "%s: recovery is off, since its waits are not part of the durable workflow; let the engine's own retry "
    "policy retry model requests, and run ContinuityCapability on agents that it does not run"
)
_SERVER_HELD = (
    "openai_conversation_id: the provider holds the history, so that an interrupted response stays in it and "
    "cannot be left out; use openai_previous_response_id='auto', or send the history"
)
CAUTIONS = Cautions(LOG)
"""What was said in this process."""


def warn_of_hand_driven_stream() -> None:
    """The error of a broken stream will be raised in the caller's own loop."""
    CAUTIONS.tell(_BY_HAND)


def is_durable(ctx: RunContext[Any]) -> bool:
    """Whether a durable execution engine drives the run; said once an engine."""
    for capability in (ctx.capabilities or {}).values():
        for base in type(capability).__mro__:
            if base.__module__.startswith("pydantic_ai.durable_exec."):
                CAUTIONS.tell(_DURABLE, type(capability).__name__)
                return True
    return False


def warn_of_server_held_history(settings: Mapping[str, Any]) -> None:
    """What is not sent cannot be left out."""
    if settings.get("openai_conversation_id"):
        CAUTIONS.tell(_SERVER_HELD)
