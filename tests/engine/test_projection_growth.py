"""A history that grows is not looked at anew for every request, and what is sent is the same all the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable

import attrs
import pytest
from continuity_plugins.projection_redaction import ProjectionRedaction
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import failed, make, ref
from saying import Editing

from continuity_core import (
    Edit,
    Entry,
    EntryRef,
    Event,
    EventKind,
    Omit,
    Order,
    Projection,
    Replace,
    StopReason,
)
from continuity_core.engine.project import project
from continuity_core.model.proposal import EMPTY_PROPOSAL
from continuity_core.testing.strategies import histories


def user(name: str, text: str = "go") -> Entry:
    return Entry(ref=ref(name), role="user", text=text)


def said(name: str, text: str = "I did", **facts: object) -> Entry:
    return Entry(ref=ref(name), role="assistant", text=text, stop_reason=StopReason.STOP, **facts)  # type: ignore[arg-type]


def looking(edits: Iterable[Edit] = ()) -> Editing:
    return Editing("looker", lambda _: list(edits), order=Order())


def unchanged(plugin: Editing) -> list[int]:
    return [projection.unchanged for projection in plugin.seen]


ENTRIES = [user("u1"), said("a1"), user("u2"), said("a2")]


def test_what_was_left_as_it_was_is_named_at_the_next_request() -> None:
    plugin = looking()
    run = make([plugin]).start_run()
    for length in (2, 2, 3, 4):
        assert list(run.project(ENTRIES[:length]).entries) == ENTRIES[:length]
    assert unchanged(plugin) == [0, 2, 2, 3]
    assert [len(projection.entries) for projection in plugin.seen] == [2, 2, 3, 4]


def test_the_next_run_of_the_session_goes_on_from_what_was_seen() -> None:
    plugin = looking()
    continuity = make([plugin])
    for length in (1, 2, 4):
        with continuity.start_run("one") as run:
            run.project(ENTRIES[:length])
    assert unchanged(plugin) == [0, 1, 2]


def test_of_the_sessions_without_a_run_only_the_last_one_holds_on_to_its_history() -> None:
    continuity = make([ProjectionRedaction()])
    held = {}
    for session in ("one", "two", None):
        entries = [user("u1"), said("a1")]
        with continuity.start_run(session) as run:
            run.project(entries)
        held[session] = weakref.ref(entries[0])
        del entries
    gc.collect()
    assert {session: entry() is not None for session, entry in held.items()} == {
        "one": False,
        "two": True,
        None: False,
    }


def test_a_history_that_is_not_the_one_before_with_more_after_it_is_looked_at_anew() -> None:
    plugin = looking()
    run = make([plugin]).start_run()
    other = said("a1", "something else")
    for entries in (ENTRIES, ENTRIES, [ENTRIES[0], other, *ENTRIES[2:]], ENTRIES[2:], ENTRIES[2:3], []):
        run.project(entries)
    assert unchanged(plugin) == [0, 4, 0, 0, 0, 0]


def test_entries_that_anybody_edited_are_shown_to_all_again() -> None:
    first, second = looking([Omit(ref("a1"), "w")]), Editing("second", lambda _: None, order=Order())
    run = make([first, second]).start_run()
    for _ in range(2):
        assert ENTRIES[1] not in run.project(ENTRIES).entries
    assert unchanged(first) == unchanged(second) == [0, 0]


def test_a_plugin_that_is_switched_on_again_sees_everything() -> None:
    plugin, other = looking(), Editing("other", lambda _: None, order=Order())
    continuity = make([plugin, other])
    run = continuity.start_run()
    continuity.disable("looker")
    run.project(ENTRIES)
    run.project(ENTRIES)
    continuity.enable("looker")
    run.project(ENTRIES)
    run.project(ENTRIES)
    assert unchanged(plugin) == [0, 4]


def test_a_plugin_that_failed_sees_everything_again() -> None:
    def fail_once(projection: Projection) -> None:
        if not projection.unchanged and len(plugin.seen) == 1:
            raise RuntimeError("once")

    plugin = Editing("failing", fail_once, order=Order())
    run = make([plugin]).start_run()
    for _ in range(3):
        run.project(ENTRIES)
    assert unchanged(plugin) == [0, 0, 4]


def test_edits_of_the_session_are_made_in_what_was_added_too() -> None:
    plugin = looking()
    run = make([plugin]).start_run()
    edits: dict[EntryRef, Edit] = {
        ref("a1"): Omit(ref("a1"), "w"),
        ref("a2"): Replace(ref("a2"), "I", "w"),
    }
    run.state = attrs.evolve(run.state, session=run.state.session.with_edits(edits))
    shown = [run.project(ENTRIES[:length]) for length in (2, 3, 4, 4)]
    assert [[entry.text for entry in result.entries] for result in shown] == [
        ["go"],
        ["go", "go"],
        ["go", "go", "I"],
        ["go", "go", "I"],
    ]
    assert [result.omitted for result in shown] == [{ref("a1")}] * 4
    assert [dict(result.replaced) for result in shown] == [{}, {}, {ref("a2"): "I"}, {ref("a2"): "I"}]
    assert unchanged(plugin) == [0, 1, 2, 3]
    run.entry_restored(ref("a1"))
    assert [entry.text for entry in run.project(ENTRIES).entries] == ["go", "I did", "go", "I"]
    assert unchanged(plugin)[-1] == 0


def _kept_after(requests: list[list[Entry]]) -> bool:
    """Whether a run still holds an entry of the last request that nobody else holds."""
    run = make([ProjectionRedaction()]).start_run()
    held = weakref.ref(requests[-1][0])
    while requests:
        run.project(requests.pop(0))
    gc.collect()
    return held() is not None and not run.is_over


def test_a_host_that_makes_its_entries_anew_keeps_none_of_them_in_memory() -> None:
    assert _kept_after([[user("u1")]])
    assert not _kept_after([[user("u1")], [user("u1"), said("a1")]])
    assert not _kept_after([[user("u1")] for _ in range(5)])


def test_a_run_that_is_settled_holds_no_entry() -> None:
    entry = user("u1")
    run = make([ProjectionRedaction()]).start_run()
    run.project([entry])
    run.settled()
    held = weakref.ref(entry)
    del entry
    gc.collect()
    assert held() is None


@pytest.mark.anyio
async def test_a_run_that_waits_holds_no_entry() -> None:
    entry = user("u1")
    held = weakref.ref(entry)
    found: list[object] = []

    def look(event: Event) -> None:
        if event.kind is EventKind.WAIT_STARTED:
            gc.collect()
            found.append(held())

    run = make(on_event=look).start_run()
    run.project([entry])
    del entry
    await run.turn_ended(failed())
    assert found == [None]


@st.composite
def requests(draw: st.DrawFn) -> list[list[Entry]]:
    """Requests of one session: mostly the history with more after it, sometimes another one."""
    entries = list(draw(histories()))
    found = [list(entries)]
    for _ in range(draw(st.integers(1, 4))):
        match draw(st.sampled_from(["more", "more", "same", "less", "changed", "anew", "turned"])):
            case "more":
                entries += draw(histories())
            case "less":
                entries = entries[: draw(st.integers(0, len(entries)))]
            case "changed" if entries:
                place = draw(st.integers(0, len(entries) - 1))
                entries[place] = attrs.evolve(entries[place], text=draw(st.text(max_size=3)), calls=())
            case "anew":
                entries = [attrs.evolve(entry) for entry in entries]
            case "turned":
                entries = entries[::-1]
            case _:
                pass
        found.append(list(entries))
    return found


@given(requests(), st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_sent_does_not_depend_on_what_was_sent_before(
    requests: list[list[Entry]], data: st.DataObject
) -> None:
    continuity = make()
    run = continuity.start_run()
    for entries in requests:
        if entries and data.draw(st.booleans()):
            entry = data.draw(st.sampled_from(entries))
            edits = run.state.session.with_edits({entry.ref: Omit(entry.ref, "w")})
            run.state = attrs.evolve(run.state, session=edits)
        anew = project(entries, continuity.engine.chain, run.state, EMPTY_PROPOSAL)
        assert attrs.evolve(run.project(entries), slow=()) == attrs.evolve(anew, slow=())
