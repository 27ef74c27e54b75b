"""What the user, a tool or anybody else enqueued while the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai.tools import RunContext

from continuity_core.model.host_facts import InputKind


def pending_input(ctx: RunContext[Any]) -> InputKind | None:
    """The kind of what is delivered next: ``asap`` steers the run, ``when_idle`` follows it."""
    priorities = {message.priority for message in ctx.pending_messages or ()}
    if "asap" in priorities:
        return "steer"
    return "follow_up" if priorities else None


def deliver_follow_ups(ctx: RunContext[Any]) -> None:
    """Let what was to follow the run go into the next request, as it does where a run ends well."""
    for message in list(ctx.pending_messages or ()):
        if hasattr(ctx, "set_enqueue_priority"):
            ctx.set_enqueue_priority(message.enqueue_id, "asap")
        else:  # before 2.66
            message.priority = "asap"


def watch(ctx: RunContext[Any], arrived: Callable[[InputKind], None]) -> None:
    """Call ``arrived`` before each message is enqueued, from whatever thread that is done.

    pydantic-ai has no hook for it; the queue of this one run is given an ``append`` that tells.
    """
    queue: Any = ctx.pending_messages
    if queue is None or type(queue) is list:
        return
    append = queue.append

    def tell(message: Any) -> None:
        arrived("steer" if message.priority == "asap" else "follow_up")
        append(message)

    queue.append = tell
