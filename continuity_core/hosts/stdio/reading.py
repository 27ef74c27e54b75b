"""Turns, facts of the host and entries, from their JSON form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from continuity_core.hosts.stdio.fields import Fields
from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.failure import Failure, FailurePlace
from continuity_core.model.host_facts import HostFacts, InputKind
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

STOP_REASONS = tuple(reason.value for reason in StopReason)
INPUT_KINDS = ("steer", "follow_up")
ROLES = ("system", "user", "assistant", "tool", "other")
PLACES = ("model", "tool", "host")


def turn_of(fields: Fields) -> Turn:
    """A turn."""
    usage, failure = fields.optional_object("usage"), fields.optional_object("failure")
    return Turn(
        stop_reason=StopReason(fields.word("stop_reason", STOP_REASONS)),
        blocks=fields.each("blocks", _block_of),
        results=fields.each("results", _result_of),
        usage=Usage() if usage is None else _usage_of(usage),
        failure=None if failure is None else _failure_of(failure),
        entry=_ref(fields.optional_text("entry")),
        provider_stop=fields.optional_text("provider_stop"),
        unfinished=fields.yes("unfinished"),
        requests=fields.count("requests", 1),
    )


def _block_of(fields: Fields) -> Block:
    return _BLOCKS[fields.word("type", tuple(_BLOCKS))](fields)


_BLOCKS: Mapping[str, Callable[[Fields], Block]] = {
    "text": lambda fields: Text(fields.text("text")),
    "reasoning": lambda fields: Reasoning(fields.text("text", ""), fields.yes("redacted")),
    "tool_call": lambda fields: ToolCall(
        fields.text("id"), fields.text("name"), fields.text("arguments", "")
    ),
}


def _result_of(fields: Fields) -> ToolResult:
    return ToolResult(
        call_id=fields.text("call_id"),
        entry=_ref(fields.optional_text("entry")),
        is_error=fields.yes("is_error"),
    )


def _usage_of(fields: Fields) -> Usage:
    return Usage(
        input_tokens=fields.optional_count("input_tokens"),
        output_tokens=fields.optional_count("output_tokens"),
        cached_input_tokens=fields.optional_count("cached_input_tokens"),
        reasoning_tokens=fields.optional_count("reasoning_tokens"),
    )


def _failure_of(fields: Fields) -> Failure:
    return Failure.from_text(
        fields.text("message", ""),
        status=fields.optional_count("status"),
        headers=fields.pairs("headers"),
        body=fields.optional_text("body"),
        code=fields.optional_text("code"),
        type=fields.optional_text("type"),
        where=cast(FailurePlace, fields.optional_word("where", PLACES) or "model"),
    )


def facts_of(fields: Fields, lookup: Callable[[EntryRef], Entry | None]) -> HostFacts:
    """The facts of the moment; entries are looked up among those that the client projected."""
    return HostFacts(
        pending_input=input_kind(fields, "pending_input"),
        continuation_requested=fields.yes("continuation_requested"),
        aborted=fields.yes("aborted"),
        output_limit=fields.optional_count("output_limit"),
        recovers_length=fields.yes("recovers_length"),
        retry_follows=fields.optional_yes("retry_follows"),
        ending_tools=frozenset(fields.texts("ending_tools")),
        ended_on_purpose=fields.yes("ended_on_purpose"),
        no_more_turns=fields.optional_text("no_more_turns"),
        deadline=fields.instant("deadline"),
        lookup=lookup,
    )


def input_kind(fields: Fields, key: str) -> InputKind | None:
    """A kind of user input, or ``None``."""
    return cast("InputKind | None", fields.optional_word(key, INPUT_KINDS))


def entry_of(fields: Fields) -> Entry:
    """An entry of the history."""
    stop = fields.optional_word("stop_reason", STOP_REASONS)
    return Entry(
        ref=EntryRef.stable(fields.text("ref")),
        role=cast(Role, fields.word("role", ROLES)),
        text=fields.text("text", ""),
        calls=fields.texts("calls"),
        answers=fields.texts("answers"),
        stop_reason=None if stop is None else StopReason(stop),
        belongs_to=_ref(fields.optional_text("belongs_to")),
        artefact=fields.yes("artefact"),
    )


def _ref(id: str | None) -> EntryRef | None:
    return None if id is None else EntryRef.stable(id)
