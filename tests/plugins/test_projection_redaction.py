"""Keeping what is broken out of every request. That nothing broken passes is tested with the projection."""

from __future__ import annotations

import pytest
from continuity_plugins import projection_redaction
from continuity_plugins.projection_redaction import ProjectionRedaction, is_clean
from hypothesis import given, settings
from runs import answer, calls, cut, failed, history, make, play, ref

from continuity_core import (
    CauseKind,
    Continuity,
    Edit,
    Entry,
    Mode,
    Omit,
    Projection,
    Proposal,
    Replace,
    StopReason,
    Text,
    Turn,
)
from continuity_core.testing.strategies import histories

USER = Entry(ref=ref("user"), role="user", text="go")
LATER = Entry(ref=ref("later"), role="user", text="go on")


def edits_of(*entries: Entry) -> list[Edit]:
    plugin = ProjectionRedaction()
    return list(plugin.continuity_project(projection=Projection(entries), proposal=Proposal()) or ())


def assistant(**facts: object) -> Entry:
    return Entry(ref=ref("turn"), role="assistant", **facts)  # type: ignore[arg-type]


RESULT = Entry(ref=ref("result"), role="tool", text="42", answers=("c",))


@pytest.mark.parametrize("stop", [StopReason.ERROR, StopReason.ABORTED])
def test_failed_and_aborted_turns_go_with_their_text_and_results(stop: StopReason) -> None:
    found = edits_of(USER, assistant(text="half", calls=("c",), stop_reason=stop), RESULT)
    assert found == [
        Omit(ref("turn"), f"a turn that ended in {stop.value}"),
        Omit(ref("result"), "a result without its call"),
    ]


def test_a_cut_turn_that_was_handed_out_keeps_its_readable_text_and_loses_its_calls() -> None:
    cut = assistant(text="half", calls=("c",), stop_reason=StopReason.LENGTH)
    found = edits_of(USER, cut, RESULT, LATER)
    assert found == [
        Replace(ref("turn"), "half", "its calls were cut"),
        Omit(RESULT.ref, "a result without its call"),
    ]


@pytest.mark.parametrize("after", [(), (Entry(ref=ref("next"), role="assistant", text="whole"),)])
def test_a_cut_turn_after_which_the_host_goes_on_by_itself_goes_with_its_text(
    after: tuple[Entry, ...],
) -> None:
    """A request that ended with the half would be none."""
    cut = assistant(text="half", calls=("c",), stop_reason=StopReason.LENGTH)
    assert edits_of(USER, cut, RESULT, *after) == [
        Omit(ref("turn"), "its calls were cut"),
        Omit(RESULT.ref, "a result without its call"),
    ]


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_cut_turn_with_nothing_but_calls_goes(text: str) -> None:
    found = edits_of(USER, assistant(text=text, calls=("c",), stop_reason=StopReason.LENGTH))
    assert found == [Omit(ref("turn"), "its calls were cut")]


def test_the_text_of_a_cut_turn_that_was_handed_out_stays_in_later_runs() -> None:
    assert edits_of(USER, assistant(text="half", stop_reason=StopReason.LENGTH), USER) == []


@pytest.mark.parametrize("stop", [None, StopReason.STOP, StopReason.TOOL_USE])
def test_calls_without_an_answer_go_whatever_the_stop_reason(stop: StopReason | None) -> None:
    found = edits_of(USER, assistant(text="I look", calls=("c", "d"), stop_reason=stop), RESULT, LATER)
    assert found == [
        Replace(ref("turn"), "I look", "its calls were never answered"),
        Omit(RESULT.ref, "a result without its call"),
    ]


def test_turns_without_content_go() -> None:
    assert edits_of(USER, assistant(text="\n")) == [Omit(ref("turn"), "an assistant turn without content")]


@pytest.mark.parametrize("role", ["user", "system", "assistant", "tool", "other"])
def test_artefacts_of_earlier_versions_go_in_every_role(role: str) -> None:
    stale = Entry(ref=ref("stale"), role=role, text="[note]", artefact=True)  # type: ignore[arg-type]
    assert edits_of(USER, stale) == [Omit(ref("stale"), "left behind by an earlier run")]


def test_what_is_whole_is_left_alone() -> None:
    assert edits_of(USER, assistant(calls=("c",), stop_reason=StopReason.TOOL_USE), RESULT) == []
    assert edits_of() == []
    assert ProjectionRedaction().continuity_project(projection=Projection(()), proposal=Proposal()) is None


def test_what_a_user_said_stays_even_where_it_claims_to_be_a_result() -> None:
    odd = Entry(ref=ref("odd"), role="user", text="42", answers=("nothing",), belongs_to=ref("gone"))
    assert edits_of(odd) == []


@settings(max_examples=25)
@given(histories())
def test_each_entry_is_edited_at_most_once(entries: tuple[Entry, ...]) -> None:
    found = [edit.entry for edit in edits_of(*entries)]
    assert len(found) == len(set(found))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [CauseKind.TRANSIENT, CauseKind.PERMANENT])
async def test_the_next_runs_request_is_clean_after_a_failed_run_whose_raw_history_stays(
    kind: CauseKind,
) -> None:
    continuity = make(max_resumes=0)
    turn = failed(kind, blocks=(Text("half"),))
    entries = history(turn)
    with continuity.start_run("s") as run:
        await play(run, [turn])
    later = continuity.start_run("s")
    assert [entry.text for entry in later.project(entries).entries] == ["Finish the task"]
    assert [entry.text for entry in entries] == ["Finish the task", "half"]


@pytest.mark.parametrize("turn", [calls("step", answered=False), cut(""), failed()])
def test_it_stays_on_when_the_configuration_is_invalid(turn: Turn) -> None:
    continuity = Continuity.load_or_closed(settings={"max_resumes": "plenty"})
    assert continuity.error is not None
    run = continuity.start_run()
    assert [entry.ref for entry in run.project(history(turn)).entries] == [ref("user")]


def test_switched_off_the_host_sends_what_it_would_send_without_us() -> None:
    run = make(mode=Mode.OFF).start_run()
    entries = history(failed())
    assert list(run.project(entries).entries) == entries


@given(histories())
def test_the_short_way_for_clean_histories_never_overlooks_an_edit(entries: tuple[Entry, ...]) -> None:
    if is_clean(entries):
        assert projection_redaction.edits_of(Projection(entries)) == []


def test_an_ordinary_conversation_takes_the_short_way() -> None:
    turn = calls("step", "look")
    assert is_clean(history(turn, answer()))
    assert is_clean(history())
    assert not is_clean(history(turn)[:-1])
    assert not is_clean(history(failed()))
