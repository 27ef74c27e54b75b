"""What the next request carries: nothing broken, never more than before, and the history as it was."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from continuity_plugins.projection_redaction import ProjectionRedaction
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import KindReader, bundled, calls, cut, history, make, ref
from saying import Editing, saying

from continuity_core import (
    Continuity,
    Entry,
    EntryRef,
    EventKind,
    Mode,
    Omit,
    Order,
    Projection,
    Replace,
    Resume,
    Run,
    Stage,
    StopReason,
)
from continuity_core.engine.state import Injection
from continuity_core.testing.strategies import histories

Plugins = list[object]

CHOICES: dict[str, Any] = {
    "all plugins": make,
    "redaction only": lambda: make([ProjectionRedaction()]),
    "no budgets left": lambda: make(max_resumes=0, no_progress=0, ceiling_resumes=0, ceiling_held=0),
    "an invalid configuration": lambda: Continuity.load_or_closed(settings={"max_resumes": "plenty"}),
    "somebody else's edits": lambda: make([*bundled(), Editing("early", omit_every_other, order=Order())]),
}


def omit_every_other(projection: Projection) -> list[Omit]:
    """Edits that are refused more often than not."""
    return [Omit(entry.ref, "every other") for entry in projection.entries[::2]]


def problems_of(entries: Sequence[Entry]) -> list[str]:
    """What a provider would refuse, and what must never be sent."""
    problems: list[str] = []
    open_calls: dict[str, int] = {}
    answered: set[tuple[int, str]] = set()
    sent = {entry.ref for entry in entries}
    for place, entry in enumerate(entries):
        if entry.artefact:
            problems.append(f"{place}: an artefact")
        if entry.belongs_to is not None and entry.belongs_to not in sent:
            problems.append(f"{place}: belongs to what is not sent")
        if entry.role == "assistant":
            if entry.stop_reason in (StopReason.ERROR, StopReason.ABORTED):
                problems.append(f"{place}: an incomplete turn")
            if entry.stop_reason is StopReason.LENGTH and entry.calls:
                problems.append(f"{place}: cut calls")
            if not entry.calls and not entry.text.strip():
                problems.append(f"{place}: an empty turn")
        for call in entry.answers:
            if call not in open_calls:
                problems.append(f"{place}: a result without its call")
            else:
                answered.add((open_calls[call], call))
        open_calls.update(dict.fromkeys(entry.calls, place))
    problems += [
        f"{place}: an unanswered call"
        for place, entry in enumerate(entries)
        for call in entry.calls
        if (place, call) not in answered
    ]
    return problems


def run_of(choice: str) -> Run:
    continuity: Continuity = CHOICES[choice]()
    return continuity.start_run()


@settings(max_examples=25)
@pytest.mark.parametrize("choice", CHOICES)
@given(entries=histories())
def test_nothing_broken_is_ever_sent(choice: str, entries: tuple[Entry, ...]) -> None:
    projected = run_of(choice).project(entries)
    assert problems_of(projected.entries) == []
    if choice != "somebody else's edits":
        assert projected.dropped == ()


@settings(max_examples=25)
@given(entries=histories())
def test_a_projection_only_leaves_out_and_shortens_and_the_history_stays_as_it_is(
    entries: tuple[Entry, ...],
) -> None:
    given_list = list(entries)
    before = copy.deepcopy(given_list)
    projected = make().start_run().project(given_list)
    assert given_list == before
    by_ref = {entry.ref: entry for entry in entries}
    places = [entries.index(by_ref[entry.ref]) for entry in projected.entries]
    assert places == sorted(places)
    for entry in projected.entries:
        assert len(entry.text) <= len(by_ref[entry.ref].text)
        assert set(entry.calls) <= set(by_ref[entry.ref].calls)
    assert projected.omitted == by_ref.keys() - {entry.ref for entry in projected.entries}
    assert projected.replaced.keys() <= {entry.ref for entry in projected.entries}


@settings(max_examples=25)
@given(entries=histories())
def test_projecting_a_projection_changes_nothing_more(entries: tuple[Entry, ...]) -> None:
    run = make().start_run()
    once = run.project(entries)
    assert run.project(once.entries).entries == once.entries
    assert run.project(entries) == once


@settings(max_examples=25)
@given(entries=histories())
def test_users_and_the_system_are_always_heard(entries: tuple[Entry, ...]) -> None:
    projected = make().start_run().project(entries)
    said = [entry for entry in entries if entry.role in ("user", "system") and not entry.artefact]
    assert [entry for entry in projected.entries if entry.role in ("user", "system")] == said


@settings(max_examples=25)
@given(entries=histories())
def test_what_is_whole_is_left_alone(entries: tuple[Entry, ...]) -> None:
    whole = make().start_run().project(entries).entries
    again = make().start_run().project(whole)
    assert again.entries == whole
    assert not again.changed


@settings(max_examples=25)
@given(entries=histories())
def test_switched_off_only_artefacts_are_left_out(entries: tuple[Entry, ...]) -> None:
    off = make(mode=Mode.OFF).start_run().project(entries)
    assert off.entries == tuple(entry for entry in entries if not entry.artefact)
    assert off.changed is any(entry.artefact for entry in entries)


@settings(max_examples=25)
@given(entries=histories())
def test_in_observe_mode_everything_is_sent_as_it_is(entries: tuple[Entry, ...]) -> None:
    observed = make(mode=Mode.OBSERVE).start_run().project(entries)
    assert observed.entries == entries
    assert not observed.changed


@settings(max_examples=25)
@given(entries=histories(), data=st.data())
def test_an_entry_that_was_left_out_never_returns_while_the_history_grows(
    entries: tuple[Entry, ...], data: st.DataObject
) -> None:
    continuity = make([ProjectionRedaction()])
    run = continuity.start_run()
    refs = data.draw(st.sets(st.sampled_from([entry.ref for entry in entries]))) if entries else set()
    edits = {entry: Omit(entry, "left out") for entry in refs}
    run.state = attrs.evolve(run.state, session=run.state.session.with_edits(edits))
    for length in range(len(entries) + 1):
        assert refs.isdisjoint(entry.ref for entry in run.project(entries[:length]).entries)


def test_a_projection_that_changes_nothing_is_the_same_entries() -> None:
    entries = history(calls("step"))
    result = make().start_run().project(entries)
    assert list(result.entries) == entries
    assert not result.changed


# ---------------------------------------------------------------- pairs


def assistant(name: str, *ids: str, stop: StopReason | None = None, text: str = "") -> Entry:
    return Entry(ref=ref(name), role="assistant", calls=ids, stop_reason=stop, text=text)


def result(name: str, *ids: str) -> Entry:
    return Entry(ref=ref(name), role="tool", answers=ids, text="42")


USER = Entry(ref=ref("user"), role="user", text="go")


def sent(*entries: Entry) -> list[str]:
    return [entry.ref.key.removeprefix("id:") for entry in make().start_run().project(entries).entries]


def test_ids_that_are_used_again_in_every_turn_pair_with_the_nearest_call() -> None:
    broken = assistant("broken", "c", stop=StopReason.LENGTH)
    history_ = [USER, broken, result("r1", "c"), assistant("whole", "c"), result("r2", "c")]
    assert sent(*history_) == ["user", "whole", "r2"]


def test_a_broken_later_turn_does_not_take_the_results_of_an_earlier_one() -> None:
    broken = assistant("broken", "c", stop=StopReason.ERROR)
    history_ = [USER, assistant("whole", "c"), result("r1", "c"), broken, result("r2", "c")]
    assert sent(*history_) == ["user", "whole", "r1"]


def test_a_batch_of_results_goes_whole_and_takes_its_calls_with_it() -> None:
    first, second = assistant("a", "c0"), assistant("b", "c1", text="I look it up")
    later = attrs.evolve(USER, ref=ref("later"))
    entries = [USER, first, second, result("batch", "c0", "c1", "unknown"), later]
    projected = make().start_run().project(entries)
    assert [entry.ref for entry in projected.entries] == [USER.ref, second.ref, later.ref]
    assert projected.replaced == {second.ref: "I look it up"}


def test_a_batch_of_results_for_whole_turns_stays() -> None:
    assert sent(USER, assistant("a", "c0", "c1"), result("batch", "c1", "c0")) == ["user", "a", "batch"]


def test_a_result_that_comes_before_its_call_is_none() -> None:
    assert sent(USER, result("early", "c"), assistant("late", "c")) == ["user"]


def test_a_call_that_is_answered_by_an_artefact_only_is_not_answered() -> None:
    stale = attrs.evolve(result("stale", "c"), artefact=True)
    assert sent(USER, assistant("a", "c"), stale) == ["user"]


def test_what_belongs_to_a_turn_goes_with_it_whoever_left_it_out() -> None:
    turn = cut("")
    assert turn.entry is not None
    signature = Entry(ref=ref("signature"), role="other", text="c2ln", belongs_to=turn.entry)
    of_signature = Entry(ref=ref("note"), role="other", text="n", belongs_to=signature.ref)
    entries = [*history(turn), signature, of_signature]
    run = make().start_run()
    assert [entry.ref for entry in run.project(entries).entries] == [ref("user")]
    edits = {turn.entry: Omit(turn.entry, "cut")}
    run.state = attrs.evolve(run.state, session=run.state.session.with_edits(edits))
    assert [entry.ref for entry in run.project(entries).entries] == [ref("user")]


def test_the_readable_text_of_a_cut_turn_that_the_user_has_seen_stays_and_its_calls_go() -> None:
    cut = assistant("cut", "c", stop=StopReason.LENGTH, text="half an ans")
    entries = [USER, cut, result("r", "c"), attrs.evolve(USER, ref=ref("later"))]
    projected = make().start_run().project(entries)
    assert [(entry.text, entry.calls) for entry in projected.entries] == [
        ("go", ()),
        ("half an ans", ()),
        ("go", ()),
    ]


# ---------------------------------------------------------------- other plugins' edits


def project_with(edits: Any, *entries: Entry, **facts: Any) -> tuple[list[str], Run]:
    run = make([Editing("editor", edits, **facts)]).start_run()
    shown = run.project(entries)
    return [entry.text for entry in shown.entries], run


def whys(run: Run) -> list[str]:
    return [event.data["why"] for event in run.report().events if event.kind is EventKind.EDIT_REFUSED]


CALL, RESULT = assistant("call", "c", text="I look"), result("result", "c")


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([Omit(ref("nowhere"), "w")], "not in the projection"),
        ([Omit(USER.ref, "w")], "without declaring edits_user_input"),
        ([Omit(CALL.ref, "w")], "a result without its call"),
        ([Omit(RESULT.ref, "w")], "a call without its result"),
        ([Replace(CALL.ref, "I", "w")], "a result without its call"),
        ([Replace(RESULT.ref, "forty-two", "w")], "a Replace may only narrow"),
    ],
)
def test_an_edit_that_may_not_be_made_is_refused_with_an_event_and_the_others_of_its_call(
    edits: list[Any], why: str
) -> None:
    extra = Entry(ref=ref("extra"), role="assistant", text="fine")
    shown, run = project_with(lambda _: [Omit(extra.ref, "w"), *edits], USER, CALL, RESULT, extra)
    assert shown == ["go", "I look", "42", "fine"]
    assert len(whys(run)) == 1
    assert why in whys(run)[0]


def test_whole_pairs_narrowed_results_and_declared_edits_of_user_input_stand() -> None:
    pair = [Omit(CALL.ref, "w"), Omit(RESULT.ref, "w")]
    assert project_with(lambda _: pair, USER, CALL, RESULT)[0] == ["go"]
    narrowed = [Replace(CALL.ref, "I", "w"), Omit(RESULT.ref, "w")]
    assert project_with(lambda _: narrowed, USER, CALL, RESULT)[0] == ["go", "I"]
    assert project_with(lambda _: Replace(RESULT.ref, "4", "w"), USER, CALL, RESULT)[0] == [
        "go",
        "I look",
        "4",
    ]
    assert project_with(lambda _: Replace(USER.ref, "g", "w"), USER, edits_user_input=True)[0] == ["g"]
    assert project_with(lambda _: Omit(USER.ref, "w"), attrs.evolve(USER, artefact=True))[0] == []


def test_a_pair_that_was_half_before_may_be_tidied_by_halves() -> None:
    assert project_with(lambda _: Omit(CALL.ref, "w"), USER, CALL)[0] == ["go"]
    assert project_with(lambda _: Omit(RESULT.ref, "w"), USER, RESULT)[0] == ["go"]
    twice = [CALL, RESULT, result("again", "c")]
    assert project_with(lambda _: Omit(ref("again"), "w"), *twice)[0] == ["I look", "42"]


def test_an_omission_beats_a_replacement_of_the_same_call() -> None:
    both = [Replace(CALL.ref, "I", "w"), Omit(CALL.ref, "w")]
    assert project_with(lambda _: both, USER, CALL)[0] == ["go"]


def test_each_plugin_sees_what_those_before_it_left() -> None:
    first = Editing("a", lambda _: Replace(RESULT.ref, "4", "w"), order=Order(stage=Stage.RECOVER))
    second = Editing("b", lambda _: [Omit(CALL.ref, "w"), Omit(RESULT.ref, "w")])
    third = Editing("c", lambda _: None)
    result_ = make([first, second, third]).start_run().project([USER, CALL, RESULT])
    assert [len(plugin.seen[0].entries) for plugin in (first, second, third)] == [3, 3, 1]
    assert second.seen[0].entries[2].text == "4"
    assert result_.omitted == {CALL.ref, RESULT.ref}
    assert result_.replaced == {}


def test_decisions_that_are_no_edits_do_not_belong_before_a_request() -> None:
    shown, run = project_with(lambda _: [Omit(CALL.ref, "w"), Resume("again")], USER, CALL)
    assert shown == ["go", "I look"]
    assert run.state.disabled == {"editor"}
    run.project([USER])
    assert len([event for event in run.report().events if event.kind is EventKind.PLUGIN_FAULT]) == 1


def test_edits_of_a_long_history_are_not_too_many() -> None:
    entries = [assistant(f"a-{number}", text="x") for number in range(600)]
    shown, _ = project_with(lambda p: [Omit(entry.ref, "w") for entry in p.entries[1:]], USER, *entries)
    assert shown == ["go"]
    many, run = project_with(lambda p: [Omit(USER.ref, "w")] * 257, USER, edits_user_input=True)
    assert many == ["go"]
    assert "more than 256 edits" in run.report().events[-1].data["error"]


def test_redaction_of_a_long_history_stays_quick_even_where_everything_hangs_together() -> None:
    chain: list[Entry] = [USER]
    for number in range(150):
        chain += [assistant(f"a-{number}", f"x{number}", f"y{number}")]
    chain += [result(f"r-{number}", f"y{number}", f"x{number + 1}") for number in range(149)]
    chain += [result("last", "y149")]
    assert sent(*chain) == ["user"]


@pytest.mark.anyio
async def test_a_committed_edit_is_kept_over_runs_of_the_session_until_the_entry_is_restored() -> None:
    turn = cut()
    assert turn.entry is not None
    continuity = make([KindReader(), saying(Resume("again"), Omit(turn.entry, "cut"))])
    with continuity.start_run("s") as run:
        await run.turn_ended(turn)
    later = continuity.start_run("s")
    assert turn.entry not in {entry.ref for entry in later.project(history(turn)).entries}
    later.entry_restored(turn.entry)
    later.entry_restored(EntryRef.stable("unknown"))
    assert turn.entry in {entry.ref for entry in later.project(history(turn)).entries}


@pytest.mark.anyio
async def test_a_committed_replacement_that_would_show_more_than_is_there_now_is_not_made() -> None:
    entry = Entry(ref=ref("r"), role="tool", text="short")
    run = make([]).start_run()
    edits = {entry.ref: Replace(entry.ref, "much longer than that", "w")}
    run.state = attrs.evolve(run.state, session=run.state.session.with_edits(edits))
    assert [shown.text for shown in run.project([entry]).entries] == ["short"]


def test_a_projection_with_nothing_new_but_a_text_of_ours_is_changed() -> None:
    run = make([]).start_run()
    assert not run.project([USER]).changed
    run.state = attrs.evolve(run.state, injections={"quoter": Injection(text="so far")})
    result = run.project([USER])
    assert [entry.injected for entry in result.entries] == [False, True]
    assert result.injected
    assert result.changed
