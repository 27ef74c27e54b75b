"""The loop guard, played as runs without a provider and without time."""

from __future__ import annotations

from typing import Any

import pytest
from continuity_core import ConfigurationError, EventKind, RunOutcome
from continuity_core.testing import Played, check_plugin, play
from continuity_loop_guard import LoopGuard

DONE = {"text": "done"}


def call(path: str = "a", name: str = "read") -> dict[str, Any]:
    """A turn that calls a tool."""
    return {"tool_calls": [{"name": name, "arguments": f'{{"path": "{path}"}}'}]}


def read(path: str) -> str:
    """A tool that answers the same every time."""
    return f"content of {path}"


def poll(path: str) -> str:
    """A tool that is called until something has come."""
    return "not yet"


def played(script: list[Any], **options: Any) -> Played:
    """The script, played with the guard under these options."""
    settings = {"plugins": {"loop-guard": options}} if options else {}
    return play(script, plugins=[LoopGuard], tools=[read, poll], settings=settings)


def test_it_keeps_the_contract() -> None:
    check_plugin(LoopGuard)


def test_a_run_that_repeats_itself_is_ended() -> None:
    run = played([call()] * 4)
    assert len(run.requests) == 4
    halts = [event.data["halt"] for event in run.of_kind(EventKind.BOUNDARY) if event.data["halt"]]
    assert halts == [
        {"plugin": "loop-guard", "reason": "4 turns in a row called read with the same arguments"}
    ]


def test_a_run_that_makes_progress_is_left_alone() -> None:
    run = played([call("a"), call("b"), call("a"), call("b"), call("a"), DONE])
    assert run.outcome.text == "done"
    assert run.report.outcome is RunOutcome.COMPLETED


def test_fewer_repetitions_than_the_limit_are_no_loop() -> None:
    assert played([call()] * 3 + [DONE]).outcome.text == "done"


def test_the_limit_is_an_option() -> None:
    assert len(played([call()] * 2, turns=2).requests) == 2


def test_an_excluded_tool_may_be_called_for_ever() -> None:
    assert played([call(name="poll")] * 6 + [DONE], exclude=["poll"]).outcome.text == "done"


def test_without_end_run_the_host_goes_on_but_nothing_is_resumed() -> None:
    run = played([call()] * 4 + [{"text": "cut", "stop": "length"}], end_run=False)
    assert len(run.requests) == 5
    assert run.resumes == ()
    assert "4 turns in a row called read" in str(run.report.no_resume)


@pytest.mark.parametrize("turns", [1, 17, True, "many", None])
def test_a_limit_that_means_nothing_is_refused(turns: object) -> None:
    with pytest.raises(ConfigurationError, match=r"loop-guard\.turns: takes a whole number from 2 to 16"):
        played([DONE], turns=turns)
