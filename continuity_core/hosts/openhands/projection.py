"""The event log as entries, and what of it goes into the next request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from openhands.sdk.context.view import View
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    MessageEvent,
    SystemPromptEvent,
)
from openhands.sdk.event.llm_convertible import ObservationBaseEvent
from openhands.sdk.llm import Message, TextContent, content_to_str

from continuity_core.engine.project import ProjectionResult
from continuity_core.hosts.openhands.stand_in import StandIn
from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.stop_reason import StopReason


@attrs.frozen
class Shown:
    """An entry, and the events that it stands for: the actions of one response are one entry."""

    entry: Entry
    events: tuple[Any, ...]


def ref_of(event: Any) -> EntryRef:
    """The name of the entry that begins with this event."""
    return EntryRef.stable(event.id)


def shown_entries(events: Sequence[Any], stops: Mapping[str, StopReason]) -> list[Shown]:
    """The entries of these events in order; ``stops`` says, by first event, which turns did not end well."""
    groups: list[list[Any]] = []
    for event in events:
        if groups and _is_same_response(groups[-1][-1], event):
            groups[-1].append(event)
        else:
            groups.append([event])
    return [Shown(_entry(group, stops.get(group[0].id)), tuple(group)) for group in groups]


def projected(shown: Sequence[Shown], result: ProjectionResult) -> list[Any]:
    """The events that the projection leaves; what is shown otherwise becomes an event for this request."""
    by_ref = {one.entry.ref: one for one in shown}
    kept: list[Any] = []
    for entry in result.entries:
        if entry.injected:
            kept.append(_message("environment", "user", entry.text))
        elif entry.ref in result.replaced:
            kept.append(_showing(by_ref[entry.ref].events[0], result.replaced[entry.ref]))
        else:
            kept.extend(by_ref[entry.ref].events)
    return kept


class ProjectingCondenser(StandIn):
    """Stands for the agent's condenser in one step: that one goes first, then its view is projected."""

    def __init__(self, condenser: Any, project: Callable[[Sequence[Any]], list[Any] | None]) -> None:
        super().__init__(condenser)
        self._continuity_project = project

    def condense(self, view: Any, agent_llm: Any = None) -> Any:
        """The projected view, or a condensation that the agent's condenser asks for."""
        return self._continuity_projected(self._continuity_own.condense(view, agent_llm=agent_llm))

    async def acondense(self, view: Any, agent_llm: Any = None) -> Any:
        """The same for ``arun``."""
        return self._continuity_projected(await self._continuity_own.acondense(view, agent_llm=agent_llm))

    def _continuity_projected(self, view: Any) -> Any:
        if isinstance(view, Condensation):
            return view
        events = self._continuity_project(view.events)
        return view if events is None else View(events=events)


def _is_same_response(before: Any, event: Any) -> bool:
    return (
        isinstance(before, ActionEvent)
        and isinstance(event, ActionEvent)
        and before.llm_response_id == event.llm_response_id
    )


def _entry(group: Sequence[Any], stop: StopReason | None) -> Entry:
    first = group[0]
    if isinstance(first, ActionEvent):
        return Entry(
            ref=ref_of(first),
            role="assistant",
            text="".join(part.text for event in group for part in event.thought),
            calls=tuple(event.tool_call_id for event in group),
            stop_reason=stop,
        )
    if isinstance(first, ObservationBaseEvent):
        text = "".join(content_to_str(first.to_llm_message().content))
        return Entry(ref=ref_of(first), role="tool", text=text, answers=(first.tool_call_id,))
    return Entry(ref=ref_of(first), role=_role_of(first), text=_text_of(first), stop_reason=stop)


def _role_of(event: Any) -> Role:
    if isinstance(event, SystemPromptEvent):
        return "system"
    if isinstance(event, MessageEvent) and event.source == "agent":
        return "assistant"
    # What the framework says in the user's role, e.g. a nudge, is not the user's.
    return "user" if isinstance(event, MessageEvent) and event.source == "user" else "other"


def _text_of(event: Any) -> str:
    if isinstance(event, MessageEvent):
        return "".join(content_to_str(event.llm_message.content))
    if isinstance(event, SystemPromptEvent):
        return str(event.system_prompt.text)
    return "".join(content_to_str(event.to_llm_message().content))


def _showing(event: Any, text: str) -> Any:
    """An event of the same role whose only content is ``text``."""
    if isinstance(event, ObservationBaseEvent):
        return AgentErrorEvent(error=text, tool_name=event.tool_name, tool_call_id=event.tool_call_id)
    if isinstance(event, SystemPromptEvent):
        return event.model_copy(update={"system_prompt": TextContent(text=text), "dynamic_context": None})
    if _role_of(event) == "assistant" or isinstance(event, ActionEvent):
        return _message("agent", "assistant", text)
    return _message("user" if _role_of(event) == "user" else "environment", "user", text)


def _message(source: Any, role: Any, text: str) -> Any:
    return MessageEvent(source=source, llm_message=Message(role=role, content=[TextContent(text=text)]))
