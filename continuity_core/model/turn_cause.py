"""What a turn was, read from its stop reason and content alone."""

from __future__ import annotations

from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

_FINAL = Cause(kind=CauseKind.FINAL, why="The model gave an answer and stopped.", rule="stop")
_UNFINISHED = Cause(
    kind=CauseKind.FINAL, why="The turn is not over and belongs to the host.", rule="unfinished"
)
_TOOL_CALLS = Cause(kind=CauseKind.TOOL_CALLS, why="The model called tools.", rule="tool_calls")
_LENGTH = Cause(kind=CauseKind.LENGTH, why="The output was cut at the output cap.", rule="length")
_EMPTY = Cause(kind=CauseKind.EMPTY, why="The answer has neither text nor a call.", rule="empty")
_REASONING_ONLY = Cause(
    kind=CauseKind.EMPTY, why="The answer has reasoning but neither text nor a call.", rule="reasoning_only"
)
_CANCELLED = Cause(kind=CauseKind.CANCELLED, why="The turn was aborted.", rule="aborted")
_UNREAD = Cause(kind=CauseKind.UNKNOWN, why="The turn failed and nothing read its error.", rule="unread")


def cause_of_turn(turn: Turn, *, reasoning_only_is_empty: bool = True) -> Cause:
    """What the turn was, without reading its failure: a failed turn is ``unknown`` here.

    ``reasoning_only_is_empty`` says whether an answer of reasoning alone is ``empty`` or ``final``.
    """
    if turn.stop_reason is StopReason.ABORTED:
        return _CANCELLED
    if turn.unfinished:
        return _UNFINISHED
    if turn.failure is not None or turn.stop_reason is StopReason.ERROR:
        return _UNREAD
    if turn.stop_reason is StopReason.LENGTH:
        return _LENGTH
    if turn.last_substantive is None:
        if not turn.reasoning.strip():
            return _EMPTY
        return _REASONING_ONLY if reasoning_only_is_empty else _FINAL
    return _TOOL_CALLS if turn.tool_calls else _FINAL
