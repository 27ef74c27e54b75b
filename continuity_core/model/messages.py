"""Plain message lists, in the OpenAI chat or Anthropic format, as entries of a projection and back.

Both formats are read message by message, so a list may mix them; messages may be dicts or SDK objects. A
message is one entry, but for an Anthropic user message with tool results: each result is an entry of its own,
and what the user said beside them is another. The caller's list and messages are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from continuity_core.model.entries import Entry, EntryRef, Role
from continuity_core.model.reading.fields import as_json, field, items, plain, text

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


@attrs.frozen
class _Part:
    """An entry, the place of its message, and the content blocks of it that are its own."""

    entry: Entry
    message: int
    blocks: tuple[Any, ...] | None = None
    """``None`` where the entry is the whole message."""


def entries_of(messages: Sequence[Any]) -> tuple[Entry, ...]:
    """The entries of a message list; a reference holds while its message and its place stay the same."""
    return tuple(part.entry for part in _parts(messages))


def apply_projection(
    messages: Sequence[Any],
    entries: Sequence[Entry],
    replaced: Mapping[EntryRef, str] | None = None,
) -> list[Any]:
    """The messages that the projection leaves, in its order.

    ``messages`` are those that :func:`entries_of` was given, ``entries`` what the projection made of its
    entries: one that is missing is left out, an injected one becomes a user message. The text in ``replaced``
    becomes an entry's only content; an assistant or user message without any content left is left out.
    Messages that nothing edits are the caller's own objects.
    """
    replaced = replaced or {}
    parts = {part.entry.ref: part for part in _parts(messages)}
    total: dict[int, int] = {}
    for part in parts.values():
        total[part.message] = total.get(part.message, 0) + 1
    result: list[Any] = []
    for group in _grouped(entries, parts):
        first = group[0]
        if isinstance(first, Entry):
            result.append({"role": "user", "content": first.text})
            continue
        message = messages[first.message]
        kept = [part for part in group if isinstance(part, _Part)]
        untouched = len(kept) == total[first.message]
        if untouched and not any(part.entry.ref in replaced for part in kept):
            result.append(message)
        elif (edited := _edited(message, kept, replaced)) is not None:
            result.append(edited)
    return result


def _parts(messages: Sequence[Any]) -> Iterator[_Part]:
    for place, message in enumerate(messages):
        results = [block for block in items(field(message, "content")) if _is_result(block)]
        if not results:
            yield _Part(_entry(place, message), place)
            continue
        digest = as_json(message)
        for number, block in enumerate(results):
            yield _Part(
                Entry(
                    ref=EntryRef.positional(place, f"{digest}#{number}"),
                    role="tool",
                    text=_readable(field(block, "content")),
                    answers=(text(field(block, "tool_use_id")),),
                ),
                place,
                (block,),
            )
        rest = tuple(block for block in items(field(message, "content")) if not _is_result(block))
        if rest:
            ref = EntryRef.positional(place, f"{digest}#user")
            yield _Part(Entry(ref=ref, role="user", text=_readable(rest)), place, rest)


def _entry(place: int, message: Any) -> Entry:
    role = _ROLES.get(text(field(message, "role")), "other")
    content = field(message, "content")
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    if role == "assistant":
        asked = [*items(field(message, "tool_calls"))]
        asked += [block for block in items(content) if field(block, "type") == "tool_use"]
        calls = tuple(text(field(call, "id")) for call in asked)
    elif role == "tool" and (answered := text(field(message, "tool_call_id"))):
        answers = (answered,)
    return Entry(
        ref=EntryRef.positional(place, as_json(message)),
        role=role,
        text=_readable(content),
        calls=calls,
        answers=answers,
    )


def _is_result(block: Any) -> bool:
    return bool(field(block, "type") == "tool_result")


def _readable(content: Any) -> str:
    """The readable text of a message's or a result's content."""
    if isinstance(content, str):
        return content
    return "".join(
        block if isinstance(block, str) else text(field(block, "text")) for block in items(content)
    )


def _grouped(entries: Sequence[Entry], parts: Mapping[EntryRef, _Part]) -> Iterator[list[_Part | Entry]]:
    """The parts of one message together, wherever they stand in a row; injected entries by themselves."""
    group: list[_Part | Entry] = []
    for entry in entries:
        found: _Part | Entry | None = entry if entry.injected else parts.get(entry.ref)
        if found is None:
            continue
        last = group[-1] if group else None
        if isinstance(last, _Part) and isinstance(found, _Part) and last.message == found.message:
            group.append(found)
            continue
        if group:
            yield group
        group = [found]
    if group:
        yield group


def _edited(message: Any, kept: Sequence[_Part], replaced: Mapping[EntryRef, str]) -> dict[str, Any] | None:
    """A new message of the parts that are kept; ``None`` where nothing is left to send."""
    if kept[0].blocks is None:
        return _narrowed(message, kept[0].entry, replaced[kept[0].entry.ref])
    content: list[Any] = []
    for part in kept:
        assert part.blocks is not None
        shown = replaced.get(part.entry.ref)
        if shown is None:
            content.extend(part.blocks)
        elif part.entry.role == "tool":
            content.append({**_as_dict(part.blocks[0]), "content": shown})
        elif shown.strip():
            content.append({"type": "text", "text": shown})
    return {**_as_dict(message), "content": content} if content else None


def _narrowed(message: Any, entry: Entry, shown: str) -> dict[str, Any] | None:
    if entry.role == "assistant":
        return {"role": "assistant", "content": shown} if shown.strip() else None
    if entry.role == "user" and not shown.strip():
        return None
    return {**_as_dict(message), "content": shown}


def _as_dict(message: Any) -> dict[str, Any]:
    simpler = plain(message)
    if not isinstance(simpler, dict):
        raise TypeError(
            f"a {type(message).__qualname__} cannot be edited: messages must be dicts or objects of an SDK"
        )
    return simpler
