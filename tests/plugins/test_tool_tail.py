"""Going on where a run would end on a completed tool call and nothing after it."""

from __future__ import annotations

from typing import Any

import pytest
from boundaries import at, said_by
from continuity_plugins.tool_tail import ToolTail
from runs import answer, bundled, calls, cut, failed, make, play

from continuity_core import CauseKind, HostFacts, Point, Reasoning, StopReason, Text, Turn
from continuity_core.engine.note import facts_of
from continuity_core.model.turn_cause import cause_of_turn

SETTLE = Point.BEFORE_SETTLE


def goes_on(turn: Turn, *before: Turn, host: HostFacts | None = None, **options: Any) -> bool:
    """Whether the run goes on after these turns, the last of them first named."""
    recent = tuple(
        facts_of(one, cause_of_turn(one, reasoning_only_is_empty=False)) for one in (*before, turn)
    )
    kind = cause_of_turn(turn, reasoning_only_is_empty=False).kind
    boundary = at(turn, kind, point=SETTLE, recent=recent, host=host)
    return bool(said_by(ToolTail(ToolTail.Options(**options)), boundary))


def thought() -> Turn:
    return Turn(stop_reason=StopReason.STOP, blocks=(Reasoning("hm"),))


def with_after(turn: Turn, *blocks: Any) -> Turn:
    return Turn(stop_reason=StopReason.STOP, blocks=(*turn.blocks, *blocks), results=turn.results)


@pytest.mark.parametrize("stop", [StopReason.STOP, StopReason.TOOL_USE])
def test_a_completed_call_at_the_end_is_a_tail_by_both_stop_reasons(stop: StopReason) -> None:
    assert goes_on(calls("step", stop=stop))


@pytest.mark.parametrize("after", [Reasoning("hm"), Text(""), Text(" \n\t\u2003")])
def test_reasoning_and_white_space_after_the_call_are_not_substantive(after: Any) -> None:
    assert goes_on(with_after(calls("step"), after))


def test_text_after_the_call_is() -> None:
    assert not goes_on(with_after(calls("step"), Text("done")))


def test_every_call_needs_its_result() -> None:
    both = calls("one", "two")
    assert goes_on(both)
    half = Turn(stop_reason=StopReason.TOOL_USE, blocks=both.blocks, results=both.results[:1])
    assert not goes_on(half)


def test_a_last_turn_without_substance_after_a_call_is_still_a_tail() -> None:
    assert goes_on(thought(), calls("step"))
    assert goes_on(thought(), calls("step"), thought())


def test_a_last_turn_without_substance_after_text_or_nothing_is_none() -> None:
    assert not goes_on(thought(), answer())
    assert not goes_on(thought())
    assert not goes_on(thought(), calls("step"), answer())


@pytest.mark.parametrize("between", [cut(""), failed()])
def test_a_broken_turn_in_between_ends_the_tail(between: Turn) -> None:
    assert not goes_on(thought(), calls("step"), between)


@pytest.mark.parametrize(
    "kind", [CauseKind.LENGTH, CauseKind.TRANSIENT, CauseKind.EMPTY, CauseKind.PERMANENT]
)
def test_broken_turns_are_left_to_the_other_plugins(kind: CauseKind) -> None:
    assert said_by(ToolTail(), at(calls("step"), kind, point=SETTLE)) == []


def test_when_a_turn_ends_it_says_nothing_since_the_host_goes_on_by_itself() -> None:
    assert said_by(ToolTail(), at(calls("step"))) == []


@pytest.mark.parametrize(
    ("tools", "options", "resumes"),
    [
        (("a",), {"include": ["a"]}, True),
        (("a",), {"include": ["b"]}, False),
        (("a",), {"exclude": ["a"]}, False),
        (("a",), {"exclude": ["b"]}, True),
        (("a", "b"), {"include": ["a"]}, False),
        (("a", "b"), {"exclude": ["b"]}, False),
        (("a",), {"include": ["a"], "exclude": ["a"]}, False),
        (("a", "b"), {"include": "a, b"}, True),
    ],
)
def test_the_lists_count_for_every_tool_of_the_tail(
    tools: tuple[str, ...], options: dict[str, Any], resumes: bool
) -> None:
    assert goes_on(calls(*tools), **options) is resumes


@pytest.mark.parametrize("host", [HostFacts(ended_on_purpose=True), HostFacts(ending_tools=frozenset({"b"}))])
def test_an_end_on_purpose_is_final_unless_told_otherwise(host: HostFacts) -> None:
    assert not goes_on(calls("a", "b"), host=host)
    assert goes_on(calls("a", "b"), host=host, on_purpose=True)


def test_an_ending_tool_that_was_not_called_ends_nothing() -> None:
    assert goes_on(calls("a"), host=HostFacts(ending_tools=frozenset({"b"})))


@pytest.mark.parametrize("options", [{"include": 7}, {"exclude": [1]}, {"on_purpose": "perhaps"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="takes"):
        ToolTail.Options(**options)


@pytest.mark.anyio
async def test_the_results_are_kept_and_a_model_that_never_answers_is_bounded() -> None:
    run = make(max_resumes=3).start_run()
    resumes = 0
    for number in range(6):
        result = await run.turn_ended(calls("step", entry=None))
        assert not result.resume
        result = await run.before_settle()
        assert result.edits == {}
        resumes += result.resume
        assert result.resume is (number < 3)
    assert resumes == 3


@pytest.mark.anyio
async def test_switched_off_the_run_ends_as_the_host_says() -> None:
    run = make(bundled(without=("tool_tail",))).start_run()
    await run.turn_ended(calls("step"))
    assert not (await run.before_settle()).resume


@pytest.mark.anyio
async def test_ordinary_tool_progress_costs_nothing() -> None:
    run = make().start_run()
    assert (await play(run, [calls("a"), calls("b"), answer()])).resumes == 0
