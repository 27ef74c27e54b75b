"""The state of a run travels through JSON, and what is no state is refused."""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import KindReader, bundled, calls, cut, failed, make, play, ref
from saying import saying

from continuity_core import (
    CauseKind,
    Continuity,
    EntryRef,
    Guidance,
    Inject,
    Mode,
    Omit,
    Outcome,
    Point,
    Remember,
    Replace,
    Resume,
    Run,
    RunState,
    Turn,
)
from continuity_core.engine.state import (
    MAX_EDITS,
    Injection,
    PluginWaits,
    SessionState,
    Streak,
    WindowState,
)
from continuity_core.testing.strategies import (
    causes,
    host_facts,
    json_values,
    reasons,
    references,
    texts,
    turn_facts,
    turns,
)

COUNTS = st.integers(0, 10**6)
SECONDS = st.floats(0, 10**6)
NAMES = st.sampled_from(["stream-recovery", "usage-limit-wait", "mine"])


def edits() -> st.SearchStrategy[Any]:
    omit = st.builds(Omit, references(), reasons())
    replace = st.builds(Replace, references(), reasons(), reasons())
    return st.lists(omit | replace, max_size=4).map(lambda several: {edit.entry: edit for edit in several})


STATES = st.builds(
    RunState,
    run=texts(),
    session_id=texts(),
    started_at=st.datetimes(
        min_value=datetime(1990, 1, 1),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30))]),
    ),
    parent=st.none() | texts(),
    session=st.builds(
        SessionState,
        edits=edits(),
        windows=st.dictionaries(
            NAMES.map(lambda name: f"{name}.window"),
            st.builds(
                WindowState,
                waits=COUNTS,
                held=SECONDS,
                exhausted=st.booleans(),
                closed_in=st.none() | texts(),
            ),
            max_size=2,
        ),
    ),
    turns=COUNTS,
    requests=COUNTS,
    output_tokens=COUNTS,
    resumes=COUNTS,
    charged=COUNTS,
    held=SECONDS,
    spent=st.dictionaries(NAMES.map(lambda name: f"{name}.retries"), COUNTS, max_size=2),
    waits=st.dictionaries(NAMES, st.builds(PluginWaits, count=COUNTS, seconds=SECONDS), max_size=2),
    streak=st.none() | st.builds(Streak, digest=texts(), resumes=COUNTS),
    recent=st.lists(turn_facts(), max_size=3).map(tuple),
    memory=st.dictionaries(NAMES, json_values(), max_size=2),
    injections=st.dictionaries(
        NAMES, st.builds(Injection, text=texts(), after=st.none() | references()), max_size=2
    ),
    halted=st.none() | texts(),
    disabled=st.frozensets(NAMES),
    turn_waited=st.booleans(),
    turn_refused=st.none() | texts(),
)


def as_read(state: RunState) -> Any:
    return json.loads(json.dumps(state.to_json(), allow_nan=False))


def restored(state: RunState) -> RunState:
    return RunState.from_json(as_read(state))


@settings(max_examples=40)
@given(STATES)
def test_a_state_comes_back_from_json_as_it_was(state: RunState) -> None:
    assert restored(state) == state


@settings(max_examples=25)
@given(STATES)
def test_saving_a_state_does_not_touch_it(state: RunState) -> None:
    data = state.to_json()
    before = copy.deepcopy(data)
    for value in (*data["memory"].values(), *data.values()):
        if isinstance(value, dict | list):
            value.clear()
    assert state.to_json() == before


@settings(max_examples=25)
@given(STATES, turns(), host_facts(), st.sampled_from(Point), st.data())
def test_a_restored_state_decides_the_same(
    state: RunState, turn: Turn, host: Any, point: Point, data: st.DataObject
) -> None:
    """Deciding, applying and noting are pure: they never look at anything but what is saved."""
    engine = make(max_resumes=20).engine
    cause = data.draw(causes(turn))
    outcomes = []
    for one in (state, restored(state)):
        noted = engine.note(turn, cause, one)
        boundary = engine.boundary(point, turn, cause, host, noted, state.started_at)
        proposal = engine.decide(boundary, noted)
        assert engine.decide(boundary, noted) == proposal
        outcomes.append((proposal, [engine.apply(noted, proposal, outcome) for outcome in Outcome]))
    assert outcomes[0] == outcomes[1]


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a JSON value but the value itself."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from leaves(value, (*path, key))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(data)
    owner = copied
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    return copied


FULL = RunState(
    run="run",
    session_id="s",
    started_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    parent="parent",
    session=SessionState(
        edits={ref("a"): Omit(ref("a"), "w"), ref("b"): Replace(ref("b"), "c", "w")},
        windows={"p.window": WindowState(waits=1, held=2.5, closed_in="run")},
    ),
    turns=3,
    resumes=2,
    charged=1,
    held=7.5,
    spent={"p.retries": 1},
    waits={"p": PluginWaits(count=1, seconds=5.0)},
    streak=Streak(digest="d", resumes=1),
    injections={"p": Injection(text="t", after=ref("a"))},
    halted="why",
    disabled=frozenset({"p"}),
    turn_refused="why",
)


def full() -> dict[str, Any]:
    """A state in which nothing is empty, as JSON."""
    continuity = make()
    run = continuity.start_run()
    asyncio.run(play(run, [calls("step")]))
    return as_read(attrs.evolve(FULL, recent=run.state.recent))


WRONG: list[Any] = [
    None,
    True,
    -1,
    math.nan,
    math.inf,
    10**400,
    "text",
    "",
    [],
    ["x"],
    {},
    {"x": 1},
    [[]],
    1.5,
]


def test_whatever_is_damaged_a_state_is_refused_or_as_well_typed_as_before() -> None:
    data = full()
    assert as_read(RunState.from_json(data)) == data
    refused = 0
    for path in leaves(data):
        if path[0] == "memory":
            continue
        for wrong in WRONG:
            damaged = changed(data, path, wrong)
            try:
                state = RunState.from_json(damaged)
            except ValueError:
                refused += 1
                continue
            assert as_read(state) == damaged, (path, wrong)
            well_typed(state)
    assert refused > 300


def well_typed(state: RunState) -> None:
    for count in (state.turns, state.requests, state.output_tokens, state.resumes, state.charged):
        assert type(count) is int
        assert count >= 0
    for count in state.spent.values():
        assert type(count) is int
        assert count >= 0
    for waits in state.waits.values():
        assert type(waits.count) is int
        assert math.isfinite(waits.seconds)
    for window in state.session.windows.values():
        assert type(window.waits) is int
        assert 0 <= window.held < math.inf
        assert type(window.exhausted) is bool
    assert 0 <= state.held < math.inf
    assert state.started_at.tzinfo is not None
    assert type(state.turn_waited) is bool
    assert all(text is None or type(text) is str for text in (state.parent, state.halted, state.turn_refused))
    assert all(type(name) is str for name in state.disabled)
    assert state.streak is None or type(state.streak.resumes) is int


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (("turns",), "turns is not a whole number >= 0"),
        (("started_at",), "started_at is not an instant with its zone"),
        (("spent", "p.retries"), "spent.p.retries is not a whole number >= 0"),
        (("session", "edits", 0, "why"), r"session.edits\[0\].why is not text"),
        (
            ("session", "windows", "p.window", "held"),
            "session.windows.p.window.held is not a number of seconds",
        ),
    ],
)
def test_the_place_of_the_damage_is_named(path: tuple[Any, ...], told: str) -> None:
    with pytest.raises(ValueError, match=f"a run state is damaged: {told}; start the run without it"):
        RunState.from_json(changed(full(), path, -1))


@pytest.mark.parametrize("key", sorted(full()))
def test_a_state_without_one_of_its_keys_is_refused(key: str) -> None:
    data = full()
    del data[key]
    with pytest.raises(ValueError, match="state"):
        RunState.from_json(data)


@pytest.mark.parametrize("rubbish", [None, [], "state", 7, {}, {"version": 2}, {"version": None}, b"{}"])
def test_what_is_no_state_at_all_is_refused(rubbish: Any) -> None:
    with pytest.raises(ValueError, match="not a run state of version 1"):
        RunState.from_json(rubbish)


def test_a_damaged_state_starts_no_run_and_leaves_the_session_free() -> None:
    continuity = make()
    data = changed(full(), ("turns",), "many")
    with pytest.raises(ValueError, match="damaged"):
        continuity.start_run("s", state=data)
    with pytest.raises(ValueError, match="belongs to session 's', not 'other'"):
        continuity.start_run("other", state=full())
    continuity.start_run("s").settled()


def test_a_session_keeps_ten_thousand_edits_and_drops_the_oldest() -> None:
    session = SessionState()
    for start in range(0, MAX_EDITS + 100, 100):
        several = [ref(f"entry-{number}") for number in range(start, start + 100)]
        session = session.with_edits({entry: Omit(entry, "w") for entry in several})
    assert len(session.edits) == MAX_EDITS
    assert ref("entry-99") not in session.edits
    assert ref("entry-100") in session.edits


@settings(max_examples=25)
@given(st.lists(edits(), max_size=4))
def test_edits_of_a_session_only_narrow(several: list[dict[EntryRef, Any]]) -> None:
    session = SessionState()
    for more in several:
        before = dict(session.edits)
        session = session.with_edits(more)
        assert session.edits.keys() == before.keys() | more.keys()
        for entry, edit in before.items():
            now = session.edits[entry]
            if isinstance(edit, Omit):
                assert now is edit
            elif isinstance(now, Replace):
                assert len(now.content) <= len(edit.content)


# ---------------------------------------------------------------- restored in another process


def anew() -> Continuity:
    plugins = bundled(guidance=(Guidance(seconds=60),))
    said = saying(Resume("again"), Remember({"n": 1}), Inject("note"), name="mine")
    return make([*plugins, said], allow_injection=("mine",))


@pytest.mark.anyio
async def test_a_run_goes_on_in_another_process_with_what_it_had_spent_held_and_left_out() -> None:
    first = anew().start_run("s")
    turn = cut("same")
    await play(first, [failed(), turn])
    saved = json.dumps(first.state.to_json())

    second: Run = anew().start_run("s", state=json.loads(saved))
    assert second.id == first.id
    assert second.state == first.state
    assert second.state.held == 60
    assert second.state.memory == {"mine": {"n": 1}}
    assert turn.entry is not None
    assert second.is_left_out(turn.entry)
    assert [entry.text for entry in second.project([]).entries] == ["note"]
    played = [await play(run, [cut("same")] * 9) for run in (first, second)]
    assert played[0].resumes == played[1].resumes == 2
    assert second.report().events[0].data["restored"] is True


@pytest.mark.anyio
async def test_a_usage_limit_window_goes_on_where_it_was() -> None:
    continuity = make(bundled(usage_limit_wait={"waits": 3}))
    run = continuity.start_run("s")
    await play(run, [failed(CauseKind.USAGE_LIMIT)] * 2)
    again = make(bundled(usage_limit_wait={"waits": 3})).start_run("s", state=run.state.to_json())
    assert (await play(again, [failed(CauseKind.USAGE_LIMIT)] * 5)).resumes == 1


@pytest.mark.anyio
async def test_a_state_of_plugins_that_are_gone_now_harms_nobody() -> None:
    run = anew().start_run("s")
    await play(run, [failed(), cut()])
    alone = make([KindReader()]).start_run("s", state=run.state.to_json())
    assert not (await alone.turn_ended(cut())).resume
    alone.settled()


def test_a_state_belongs_to_its_moment_and_mode_stays_with_the_process() -> None:
    run = make().start_run("s")
    observed = make(mode=Mode.OBSERVE).start_run("s", state=run.state.to_json())
    assert observed.mode is Mode.OBSERVE
    assert observed.state.started_at == run.state.started_at
