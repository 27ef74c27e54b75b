"""Go on where a run would end on a completed tool call and nothing after it."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from continuity_core import (
    Boundary,
    CauseKind,
    Decision,
    Order,
    Proposal,
    Resume,
    Stage,
    Tighten,
    ToolCall,
    flag,
    hookimpl,
    names,
    option,
)


@attrs.frozen(kw_only=True)
class ToolTailOptions:
    """For which tools a run goes on."""

    include: tuple[str, ...] = option((), read=names, help="Only after these tools; empty: after any.")
    exclude: tuple[str, ...] = option((), read=names, tighten=Tighten.MORE, help="Never after these tools.")
    on_purpose: bool = option(False, read=flag, help="Also where the host declares the end as a proper one.")


@attrs.frozen(eq=False)
class ToolTail:
    """Keeps the results and asks for the turn that answers them."""

    Options = ToolTailOptions
    order = Order(stage=Stage.TAIL)

    options: ToolTailOptions = attrs.field(factory=ToolTailOptions)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        if boundary.cause.kind not in (CauseKind.TOOL_CALLS, CauseKind.FINAL):
            return None
        if boundary.ended_on_purpose and not self.options.on_purpose:
            return None
        tools = _tail(boundary)
        if not tools or not all(self._wants(tool) for tool in tools):
            return None
        return [Resume(f"the run would end on the result of {', '.join(tools)}")]

    def _wants(self, tool: str) -> bool:
        if tool in self.options.exclude:
            return False
        return not self.options.include or tool in self.options.include


def _tail(boundary: Boundary) -> tuple[str, ...]:
    """The tools on whose results the run would end; none where text follows them or a result is missing."""
    turn = boundary.turn
    last = turn.last_substantive
    if isinstance(last, ToolCall):
        return tuple(call.name for call in turn.tool_calls) if turn.answered else ()
    if last is not None:
        return ()
    for facts in reversed(boundary.recent[:-1]):
        if facts.cause is CauseKind.TOOL_CALLS and facts.ends_in == "call":
            return facts.tools
        if facts.ends_in is not None or facts.cause is not CauseKind.FINAL:
            break
    return ()
