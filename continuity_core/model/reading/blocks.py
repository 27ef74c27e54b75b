"""Collecting the blocks of a streamed chat completion in the order in which they came."""

from __future__ import annotations

import attrs

from continuity_core.model.turn import Block, Reasoning, Text, ToolCall


@attrs.define
class _Prose:
    reasoning: bool
    parts: list[str]
    redacted: bool = False


@attrs.define
class _Call:
    index: int | None
    id: str
    name: str
    arguments: list[str] = attrs.field(factory=list)


@attrs.define
class BlockCollector:
    """Text and reasoning of the same kind in a row become one block; calls are kept apart by their index."""

    _blocks: list[_Prose | _Call] = attrs.field(factory=list)

    def add_text(self, text: str) -> None:
        self._add_prose(text, reasoning=False)

    def add_reasoning(self, text: str) -> None:
        self._add_prose(text, reasoning=True)

    def add_redacted_reasoning(self) -> None:
        """Note opaque reasoning; several pieces in a row count as one."""
        last = self._blocks[-1] if self._blocks else None
        if not (isinstance(last, _Prose) and last.redacted):
            self._blocks.append(_Prose(reasoning=True, parts=[], redacted=True))

    def add_call(self, index: int | None, id: str, name: str, arguments: str) -> None:
        """Begin a call, or go on with one.

        Servers differ: some number no call, some number all of them 0, some repeat id and name in every
        piece. A new id that brings a name begins another call, whatever its number.
        """
        call = self._open_call(index, id, name)
        if call is None:
            call = _Call(index=index, id=id, name=name)
            self._blocks.append(call)
        elif name and name != call.name and not call.arguments:
            call.name += name
        call.id = call.id or id
        if arguments:
            call.arguments.append(arguments)

    def blocks(self, response_id: str) -> tuple[Block, ...]:
        """What was collected; a call without an id gets one from the response's id and its place."""
        blocks: list[Block] = []
        calls = 0
        for block in self._blocks:
            if isinstance(block, _Call):
                calls += 1
                id = block.id or f"{response_id or 'call'}-{calls}"
                blocks.append(ToolCall(id, block.name, "".join(block.arguments)))
            elif block.reasoning:
                blocks.append(Reasoning("".join(block.parts), redacted=block.redacted))
            else:
                blocks.append(Text("".join(block.parts)))
        return tuple(blocks)

    def _add_prose(self, text: str, *, reasoning: bool) -> None:
        if not text:
            return
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, _Prose) and last.reasoning is reasoning and not last.redacted:
            last.parts.append(text)
        else:
            self._blocks.append(_Prose(reasoning=reasoning, parts=[text]))

    def _open_call(self, index: int | None, id: str, name: str) -> _Call | None:
        calls = [block for block in self._blocks if isinstance(block, _Call)]
        if not calls:
            return None
        if id and any(call.id == id for call in calls):
            return next(call for call in calls if call.id == id)
        if index is None:
            return None if name and (id or calls[-1].arguments) else calls[-1]
        same = next((call for call in reversed(calls) if call.index == index), None)
        return None if same is not None and id and same.id and name else same
