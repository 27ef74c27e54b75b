"""What the session leaves out by itself is only what every provider refuses."""

from __future__ import annotations

from continuity_core.hosts.reference.context import context, valid
from continuity_core.hosts.reference.history import History, HistoryEntry
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Reasoning, Text, ToolCall, Turn


def answer(*blocks: Text | Reasoning | ToolCall, stop: StopReason = StopReason.STOP) -> Turn:
    failure = Failure(message="broken") if stop is StopReason.ERROR else None
    return Turn(stop_reason=stop, blocks=blocks, failure=failure)


def history_of(*turns: Turn) -> tuple[History, list[HistoryEntry]]:
    history = History()
    history.add_user("do it")
    return history, [history.add_turn(turn, None) for turn in turns]


def test_an_ordinary_history_goes_out_as_it_is() -> None:
    history, (asked,) = history_of(answer(ToolCall("a", "step", "{}"), stop=StopReason.TOOL_USE))
    history.add_result(asked, "a", "RESULT", is_error=False)
    assert context(history, None) == history.entries


def test_the_text_of_a_failed_or_cut_turn_stays() -> None:
    history, _ = history_of(
        answer(Text("half"), stop=StopReason.LENGTH), answer(Text("broken"), stop=StopReason.ERROR)
    )
    assert context(history, None) == history.entries


def test_an_assistant_without_text_and_calls_is_left_out() -> None:
    history, _ = history_of(answer(), answer(Text(" \n")), answer(Reasoning("hm")))
    assert [entry.role for entry in context(history, None)] == ["user"]


def test_a_turn_with_an_unanswered_call_is_left_out_with_its_other_results() -> None:
    history, (asked,) = history_of(
        answer(Text("x"), ToolCall("a", "step", "{}"), ToolCall("b", "step", "{}"), stop=StopReason.LENGTH)
    )
    history.add_result(asked, "a", "RESULT", is_error=False)
    assert [entry.role for entry in context(history, None)] == ["user"]


def test_calls_of_two_turns_with_one_id_are_not_mixed_up() -> None:
    call = ToolCall("call-1", "step", "{}")
    history, (first, second) = history_of(
        answer(call, stop=StopReason.TOOL_USE), answer(call, stop=StopReason.LENGTH)
    )
    result = history.add_result(first, "call-1", "RESULT", is_error=False)
    kept = context(history, None)
    assert first in kept
    assert result in kept
    assert second not in kept


def test_a_result_is_left_out_where_its_call_is() -> None:
    history, (asked,) = history_of(answer(ToolCall("a", "step", "{}"), stop=StopReason.TOOL_USE))
    result = history.add_result(asked, "a", "RESULT", is_error=False)
    assert valid([history.entries[0], asked.showing("shown"), result]) == (
        history.entries[0],
        asked.showing("shown"),
    )


def test_plugins_see_both_halves_of_a_pair() -> None:
    history, (asked,) = history_of(answer(ToolCall("a", "step", "{}"), stop=StopReason.TOOL_USE))
    result = history.add_result(asked, "a", "RESULT", is_error=False)
    shown = [history.lookup(entry.ref) for entry in (asked, result)]
    assert shown[0] is not None
    assert shown[1] is not None
    assert (shown[0].calls, shown[0].partners) == (("a",), (result.ref,))
    assert (shown[1].answers, shown[1].partners) == (("a",), (asked.ref,))


def test_sessions_never_share_the_name_of_an_entry() -> None:
    (first, _), (second, _) = history_of(), history_of()
    assert first.entries[0].ref != second.entries[0].ref
    assert first.lookup(second.entries[0].ref) is None
