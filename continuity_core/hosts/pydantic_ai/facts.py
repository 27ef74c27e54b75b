"""What the agent knows at a boundary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_graph import End

from continuity_core.hosts.pydantic_ai.entries import entries_of
from continuity_core.hosts.pydantic_ai.inbox import pending_input
from continuity_core.hosts.pydantic_ai.models import says_why_it_stops
from continuity_core.model.decisions import Adjust
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.host_facts import HostFacts


@attrs.frozen(kw_only=True)
class Asked:
    """What the last request asked for."""

    output_limit: int | None = None
    output_tools: frozenset[str] = frozenset()
    """Tools by which the model gives the run's answer."""
    must_say_why: bool = False
    """Whether the response has to come with the provider's own word for the stop."""

    @classmethod
    def of(cls, request: ModelRequestContext, *, stop_reason_required: bool) -> Asked:
        """Read the request as it is sent."""
        limit = (request.model_settings or {}).get("max_tokens")
        return cls(
            output_limit=limit if isinstance(limit, int) else None,
            output_tools=frozenset(tool.name for tool in request.model_request_parameters.output_tools),
            must_say_why=(
                stop_reason_required and bool(request.streaming) and says_why_it_stops(request.model)
            ),
        )


def facts_of(ctx: RunContext[Any], asked: Asked, *, ended_on_purpose: bool = False) -> HostFacts:
    """The facts of the moment. The framework has no retry of a failed request that could follow."""

    def lookup(ref: EntryRef) -> Entry | None:
        return next((entry for entry, _ in entries_of(ctx.messages) if entry.ref == ref), None)

    return HostFacts(
        pending_input=pending_input(ctx),
        output_limit=asked.output_limit,
        retry_follows=False,
        ending_tools=asked.output_tools,
        ended_on_purpose=ended_on_purpose,
        deadline=ctx.deadline,
        lookup=lookup,
    )


def is_the_frameworks_own(node: Any, end: Any) -> bool:
    """Whether the agent loop itself came to this end, by its output rules, and not another capability."""
    return isinstance(getattr(node, "_next_node", end), End)


def settings_of(adjust: Adjust) -> Mapping[str, Any]:
    """Request settings that a plugin asks for, in the framework's words."""
    settings: dict[str, Any] = {}
    if adjust.max_output_tokens is not None:
        settings["max_tokens"] = adjust.max_output_tokens
    if adjust.reasoning_effort is not None:
        settings["thinking"] = adjust.reasoning_effort.value
    return settings
