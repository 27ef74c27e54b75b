"""pydantic-ai's messages as entries, and what of them is sent.

A response is one entry; each part of a request is one. The messages have no ids: an entry is named by when
it came and what it answers, so that the name stays when a history is saved and loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from continuity_core.engine.project import ProjectionResult
from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.stop_reason import StopReason

METADATA_KEY = "continuity"
"""The key of our note in the metadata of a broken response, and of the empty request that resumes a turn."""
_LEFT_OUT = "left_out"

_ROLES: Mapping[str, Role] = {
    "system-prompt": "system",
    "user-prompt": "user",
    "tool-return": "tool",
    "retry-prompt": "tool",
}
_FINISH_REASONS = {
    "stop": StopReason.STOP,
    "length": StopReason.LENGTH,
    "tool_call": StopReason.TOOL_USE,
    "content_filter": StopReason.ERROR,
    "error": StopReason.ERROR,
}


@attrs.frozen
class Place:
    """Where an entry is: a message, and for a request the part."""

    message: int
    part: int | None = None


Shown: TypeAlias = tuple[Entry, Place]


# ---------------------------------------------------------------- naming


def response_ref(response: ModelResponse) -> EntryRef:
    """The name of a response."""
    return EntryRef.stable(
        f"response/{response.run_id}/{response.timestamp.isoformat()}/{response.provider_response_id}"
    )


def part_ref(part: Any) -> EntryRef:
    """The name of a part of a request."""
    timestamp = getattr(part, "timestamp", None)
    if timestamp is None:
        return EntryRef.positional(0, f"{part.part_kind}/{getattr(part, 'content', '')}")
    return EntryRef.stable(
        f"{part.part_kind}/{timestamp.isoformat()}/{getattr(part, 'tool_call_id', None) or ''}"
    )


# ---------------------------------------------------------------- what plugins see


def entries_of(messages: Sequence[ModelMessage]) -> list[Shown]:
    """The entries with their places."""
    return EntryReader().read(messages)


@attrs.define
class EntryReader:
    """Reads a history that grows: messages that it knows at their place are not read again."""

    _known: dict[int, tuple[ModelMessage, Any, list[Shown]]] = attrs.field(factory=dict)
    """By place: the message, its parts, and what was read."""

    def read(self, messages: Sequence[ModelMessage]) -> list[Shown]:
        """The entries with their places."""
        seen: set[EntryRef] = set()
        shown: list[Shown] = []
        for index, message in enumerate(messages):
            for entry, place in self._read_one(index, message, messages):
                if entry.ref in seen:
                    entry = _renamed(entry, seen)
                seen.add(entry.ref)
                shown.append((entry, place))
        return shown

    def _read_one(
        self, index: int, message: ModelMessage, messages: Sequence[ModelMessage]
    ) -> Sequence[Shown]:
        known = self._known.get(index)
        if known is not None and known[0] is message and known[1] is message.parts:
            return known[2]
        if isinstance(message, ModelResponse):
            left_out = _is_left_out_by(messages, index)
            read = [(_response_entry(message, left_out=left_out), Place(index))]
        else:
            read = [(_part_entry(part), Place(index, number)) for number, part in enumerate(message.parts)]
        if index + 1 < len(messages):
            # What follows a response says whether it was left out.
            self._known[index] = (message, message.parts, read)
        return read


def _renamed(entry: Entry, seen: set[EntryRef]) -> Entry:
    """Entries of one name are told apart by their order."""
    number = 2
    while (ref := EntryRef(f"{entry.ref.key}#{number}")) in seen:
        number += 1
    return attrs.evolve(entry, ref=ref)


def _response_entry(response: ModelResponse, *, left_out: bool) -> Entry:
    return Entry(
        ref=response_ref(response),
        role="assistant",
        text=text_of(response),
        calls=tuple(call.tool_call_id for call in response.tool_calls),
        stop_reason=StopReason.ERROR if left_out else _stop_reason(response),
    )


def text_of(response: ModelResponse) -> str:
    """The readable text of a response."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def _stop_reason(response: ModelResponse) -> StopReason | None:
    if _says_left_out(response):
        return StopReason.ERROR
    if response.finish_reason is None:
        return StopReason.ERROR if response.state == "interrupted" else None
    return _FINISH_REASONS.get(response.finish_reason)


def _part_entry(part: Any) -> Entry:
    call_id = getattr(part, "tool_call_id", None)
    role = _ROLES.get(part.part_kind, "other")
    return Entry(
        ref=part_ref(part),
        role=role,
        text=_part_text(part),
        answers=(call_id,) if role == "tool" and call_id else (),
    )


def _part_text(part: Any) -> str:
    content = getattr(part, "content", "")
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "".join(piece for piece in content if isinstance(piece, str))
    return ""


# ---------------------------------------------------------------- asking for another turn


def resuming_request(*, left_out: bool) -> ModelRequest:
    """An empty request: it adds nothing that a model sees. ``left_out`` concerns the response before it."""
    return ModelRequest(parts=[], metadata={METADATA_KEY: {_LEFT_OUT: left_out}})


def _is_left_out_by(messages: Sequence[ModelMessage], index: int) -> bool:
    """Whether the request after this response says that the response was left out."""
    return index + 1 < len(messages) and _says_left_out(messages[index + 1])


def note_broken(response: ModelResponse) -> None:
    """Note in the history that the response broke off, where the framework took it for whole."""
    response.metadata = {**(response.metadata or {}), METADATA_KEY: {_LEFT_OUT: True}}


def note_abandoned(response: ModelResponse) -> None:
    """Note that the run was cancelled behind the response: behind open calls no other prompt is taken."""
    note_broken(response)
    response.state = "interrupted"


def _says_left_out(message: ModelMessage) -> bool:
    note = (message.metadata or {}).get(METADATA_KEY)
    return isinstance(note, dict) and note.get(_LEFT_OUT) is True


# ---------------------------------------------------------------- what is sent


def projected(
    messages: Sequence[ModelMessage], shown: Sequence[Shown], result: ProjectionResult
) -> list[ModelMessage]:
    """The messages that are sent; those that change are copies."""
    places = {entry.ref: place for entry, place in shown}
    gone = {places[ref] for ref in result.omitted}
    new = {places[ref]: text for ref, text in result.replaced.items()}
    injected = _injections(result, places)
    sent: list[ModelMessage] = list(injected.get(-1, ()))
    for index, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            if Place(index) not in gone:
                sent.append(_narrowed(message, new.get(Place(index))))
        else:
            sent.append(_with_parts(message, index, gone, new))
        sent += injected.get(index, ())
    return sent


def _narrowed(response: ModelResponse, text: str | None) -> ModelResponse:
    if text is None:
        return response
    return dataclasses.replace(response, parts=[TextPart(text)], provider_response_id=None)


def _with_parts(
    request: ModelRequest, index: int, gone: set[Place], new: Mapping[Place, str]
) -> ModelRequest:
    parts = list(_kept_parts(request, index, gone, new))
    unchanged = len(parts) == len(request.parts) and all(
        one is other for one, other in zip(parts, request.parts, strict=True)
    )
    return request if unchanged else dataclasses.replace(request, parts=parts)


def _kept_parts(
    request: ModelRequest, index: int, gone: set[Place], new: Mapping[Place, str]
) -> Iterator[Any]:
    for number, part in enumerate(request.parts):
        place = Place(index, number)
        if place in new:
            yield dataclasses.replace(part, content=new[place])
        elif place not in gone:
            yield part


def _injections(result: ProjectionResult, places: Mapping[EntryRef, Place]) -> dict[int, list[ModelRequest]]:
    """Injected texts as requests of their own, by the message after which they stand."""
    found: dict[int, list[ModelRequest]] = {}
    last = -1
    for entry in result.entries:
        if entry.injected:
            found.setdefault(last, []).append(ModelRequest(parts=[UserPromptPart(entry.text)]))
        else:
            last = places[entry.ref].message
    return found
