"""Going on after an answer that was cut at the output cap."""

from __future__ import annotations

from typing import Any

import pytest
from boundaries import at, said_by
from continuity_plugins.length_resume import LengthResume
from runs import answer, bundled, calls, cut, failed, make, ref

from continuity_core import (
    Adjust,
    CauseKind,
    HostFacts,
    Omit,
    Point,
    Reasoning,
    ReasoningEffort,
    Resume,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

CALL = ToolCall("c", "write", '{"path": "a", "text": "hal')
SHAPES = {
    "text": (Text("half an ans"),),
    "reasoning only": (Reasoning("let me"),),
    "empty": (),
    "mixed": (Reasoning("let me"), Text("I wri"), CALL),
    "a tool call": (CALL,),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("point", Point)
def test_every_shape_of_a_cut_turn_is_left_out_and_asked_for_again(shape: str, point: Point) -> None:
    turn = Turn(stop_reason=StopReason.LENGTH, blocks=SHAPES[shape], entry=ref("cut"))
    said = said_by(LengthResume(), at(turn, point=point))
    assert said == [Resume("the output was cut at the output cap"), Omit(ref("cut"), "cut at the output cap")]


def test_the_synthetic_results_of_cut_calls_go_with_them() -> None:
    results = (ToolResult(call_id="c", entry=ref("r"), is_error=True), ToolResult(call_id="d"))
    turn = Turn(stop_reason=StopReason.LENGTH, blocks=(CALL,), results=results, entry=ref("cut"))
    omitted = [one.entry for one in said_by(LengthResume(), at(turn)) if isinstance(one, Omit)]
    assert omitted == [ref("cut"), ref("r")]


def test_a_cap_that_is_reported_as_an_error_is_a_cut_too() -> None:
    assert said_by(LengthResume(), at(failed(), CauseKind.LENGTH))


@pytest.mark.parametrize("turn", [answer(), calls("step"), failed(), answer("")])
def test_other_turns_are_none_of_its_business(turn: Turn) -> None:
    assert said_by(LengthResume(), at(turn)) == []


def test_a_host_without_entries_gets_the_resume_alone() -> None:
    turn = Turn(stop_reason=StopReason.LENGTH, blocks=(Text("half"),))
    assert said_by(LengthResume(), at(turn)) == [Resume("the output was cut at the output cap")]


def adjust_of(options: dict[str, Any], limit: int | None) -> Adjust | None:
    plugin = LengthResume(LengthResume.Options(**options))
    said = said_by(plugin, at(cut(), host=HostFacts(output_limit=limit)))
    return next((one for one in said if isinstance(one, Adjust)), None)


def test_both_options_are_off_by_default() -> None:
    assert adjust_of({}, 1000) is None


@pytest.mark.parametrize(
    ("options", "limit", "adjust"),
    [
        ({"output_limit_factor": 2}, 1000, Adjust(max_output_tokens=2000)),
        ({"output_limit_factor": 1.5}, 999, Adjust(max_output_tokens=1498)),
        ({"output_limit_factor": "64"}, 1000, Adjust(max_output_tokens=64_000)),
        ({"output_limit_factor": 1}, 1000, None),
        ({"output_limit_factor": 2}, None, None),
        ({"reasoning_effort": "low"}, None, Adjust(reasoning_effort=ReasoningEffort.LOW)),
        ({"reasoning_effort": ReasoningEffort.NONE}, None, Adjust(reasoning_effort=ReasoningEffort.NONE)),
        ({"reasoning_effort": "unchanged"}, 1000, None),
        (
            {"reasoning_effort": "minimal", "output_limit_factor": 3},
            100,
            Adjust(max_output_tokens=300, reasoning_effort=ReasoningEffort.MINIMAL),
        ),
    ],
)
def test_the_options_change_the_next_request(
    options: dict[str, Any], limit: int | None, adjust: Adjust | None
) -> None:
    assert adjust_of(options, limit) == adjust


@pytest.mark.anyio
async def test_the_host_is_handed_the_settings_with_the_resume_and_for_that_turn_only() -> None:
    run = make(bundled(length_resume={"output_limit_factor": 2, "reasoning_effort": "low"})).start_run()
    host = HostFacts(output_limit=100)
    result = await run.turn_ended(cut(), host)
    assert result.adjust == Adjust(max_output_tokens=200, reasoning_effort=ReasoningEffort.LOW)
    assert (await run.turn_ended(answer(), host)).adjust is None


@pytest.mark.parametrize("factor", [0, 0.5, -1, 65, "much", None, True, float("nan"), float("inf"), []])
def test_a_factor_that_is_none_is_refused(factor: Any) -> None:
    with pytest.raises(ValueError, match="takes a number from 1"):
        LengthResume.Options(output_limit_factor=factor)


@pytest.mark.parametrize("effort", ["hard", 1, "", True])
def test_an_effort_that_is_none_is_refused_with_those_that_are(effort: Any) -> None:
    with pytest.raises(ValueError, match='"unchanged" or one of "none", "minimal", "low", "medium", "high"'):
        LengthResume.Options(reasoning_effort=effort)
