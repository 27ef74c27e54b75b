"""No mistake of a plugin reaches the host, and each is named."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import KindReader, answer, bundled, cut, failed, history, make, play, ref
from saying import Classifying, Editing, Saying, Watching, saying

from continuity_core import (
    Cause,
    CauseKind,
    EventKind,
    Halt,
    HostFacts,
    Omit,
    Order,
    Remember,
    Replace,
    Resume,
    Run,
    Stage,
    Usage,
    Wait,
    hookimpl,
)
from continuity_core.engine import chain as chain_module
from continuity_core.engine.chain import ERROR_TEXT_LIMIT, MAX_DECISIONS
from continuity_core.model.proposal import EMPTY_PROPOSAL
from continuity_core.testing.clocks import VirtualClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """Hooks are plain functions: what becomes of their mistakes does not depend on the event loop."""
    return "asyncio"


def raises(error: BaseException) -> Callable[..., Any]:
    def says(*_: object) -> Any:
        raise error

    return says


def in_turn(functions: list[Callable[..., Any]]) -> Callable[..., Any]:
    """A function that is each of these, one call after the other, and then the first again."""
    several = itertools.cycle(functions)

    def call(*arguments: object) -> Any:
        return next(several)(*arguments)

    return call


async def coroutine() -> Resume:
    return Resume("later")


async def async_generator() -> AsyncIterator[Resume]:
    yield Resume("later")


def breaks_half_way(*_: object) -> Iterator[Any]:
    yield Resume("again")
    yield Remember("half")
    raise RuntimeError("half-way")


def endless(*_: object) -> Iterator[Any]:
    for number in itertools.count():
        yield Remember(number)


class Unreadable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Stubborn(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise OSError("cannot be read")


class MyResume(Resume):  # type: ignore[misc]
    pass


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "a text": (lambda *_: "Resume", "returned str"),
    "bytes": (lambda *_: b"Resume", "returned bytes"),
    "a dict": (lambda *_: {"resume": True}, "returned dict"),
    "an empty dict": (lambda *_: {}, "returned dict"),
    "an empty text": (lambda *_: "", "returned str"),
    "false": (lambda *_: False, "returned bool"),
    "a number": (lambda *_: 7, "returned int"),
    "a class": (lambda *_: Resume, "returned type"),
    "a mapping": (lambda *_: MappingProxyType({"a": 1}), "returned str"),
    "a list of texts": (lambda *_: [Resume("again"), "and again"], "returned str"),
    "a nested list": (lambda *_: [[Resume("again")]], "returned list"),
    "a decision of its own": (lambda *_: MyResume("again"), "returned MyResume"),
    "a coroutine": (lambda *_: coroutine(), "remove `async`"),
    "a list with a coroutine": (lambda *_: [Resume("again"), coroutine()], "remove `async`"),
    "an async generator": (lambda *_: async_generator(), "returned async_generator"),
}
RAISED: dict[str, tuple[Callable[..., Any], str]] = {
    "an exception": (raises(KeyError("missing")), "KeyError: 'missing'"),
    "an error without readable text": (raises(Unreadable()), "cannot be read"),
    "a long text": (raises(ValueError("x" * 100_000)), "ValueError: xxx"),
    "SystemExit": (raises(SystemExit(3)), "SystemExit: 3"),
    "RecursionError": (raises(RecursionError("deep")), "RecursionError"),
    "MemoryError": (raises(MemoryError()), "MemoryError"),
    "an exception group": (raises(ExceptionGroup("two", [OSError("a"), ValueError("b")])), "ExceptionGroup"),
    "a generator that breaks half-way": (breaks_half_way, "half-way"),
    "an endless generator": (endless, f"more than {MAX_DECISIONS}"),
    "too many decisions": (
        lambda *_: [Omit(ref(str(n)), "w") for n in range(257)],
        f"more than {MAX_DECISIONS}",
    ),
    "an iterable that cannot be read": (lambda *_: Stubborn(), "OSError: cannot be read"),
    "an invalid decision": (lambda *_: [Resume("")], "ValueError"),
}


def faults_of(run: Run) -> list[Any]:
    return [event.data for event in run.report().events if event.kind is EventKind.PLUGIN_FAULT]


@pytest.mark.parametrize("what", [*WRONG, *RAISED])
async def test_a_plugins_mistake_is_named_and_the_rest_of_the_chain_goes_on(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    says, told = (WRONG | RAISED)[what]
    run = make([*bundled(), Saying("broken", says)]).start_run()
    turn = cut()
    result = await run.turn_ended(turn)
    assert result.resume
    assert result.proposal.resume is not None
    assert result.proposal.resume.plugin == "length-resume"
    assert set(result.edits) == {turn.entry}
    [fault] = faults_of(run)
    assert (fault["plugin"], fault["hook"]) == ("broken", "continuity_turn_ended")
    assert told in fault["error"]
    assert len(fault["error"]) <= ERROR_TEXT_LIMIT
    assert fault["disabled"] is (what in WRONG)
    assert "plugin broken failed in continuity_turn_ended" in caplog.text
    assert "disable = ['broken']" in caplog.text
    gc.collect()


@pytest.mark.parametrize("what", WRONG)
async def test_a_wrong_result_leaves_the_plugin_out_for_the_rest_of_the_run_only(what: str) -> None:
    plugin = Saying("broken", WRONG[what][0])
    continuity = make([KindReader(), plugin])
    run = continuity.start_run("s")
    for number in range(3):
        await run.turn_ended(cut(str(number)))
    assert len(plugin.seen) == 1
    assert run.state.disabled == {"broken"}
    run.settled()
    await continuity.start_run("s").turn_ended(cut())
    assert len(plugin.seen) == 2


async def test_a_plugin_that_is_left_out_is_asked_by_no_hook_anymore() -> None:
    events: list[Any] = []

    class Broken:
        @hookimpl
        def continuity_turn_ended(self) -> str:
            return "rubbish"

        @hookimpl
        def continuity_observe(self, event: Any) -> None:
            events.append(event)

    run = make([KindReader(), Broken()]).start_run()
    await run.turn_ended(cut())
    heard = len(events)
    await run.turn_ended(cut("more"))
    assert heard
    assert events[heard:] == []


@pytest.mark.parametrize("what", RAISED)
async def test_a_plugin_that_raised_is_asked_again_and_logged_once(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = Saying("broken", RAISED[what][0])
    run = make([KindReader(), plugin]).start_run()
    for number in range(3):
        await run.turn_ended(cut(str(number)))
    assert len(plugin.seen) == 3
    assert caplog.text.count("plugin broken failed") == 1
    assert len(faults_of(run)) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit()])
async def test_what_ends_the_process_or_the_task_passes_through(error: BaseException) -> None:
    run = make([KindReader(), Saying("interrupted", raises(error))]).start_run()
    with pytest.raises(type(error)):
        await run.turn_ended(cut())
    assert not (await make([KindReader()]).start_run().turn_ended(cut())).resume


async def test_after_an_interruption_within_a_plugin_the_run_is_still_usable() -> None:
    says = in_turn([raises(KeyboardInterrupt()), lambda *_: Resume("again")])
    run = make([KindReader(), Saying("interrupted", says)]).start_run()
    with pytest.raises(KeyboardInterrupt):
        await run.turn_ended(cut())
    assert (await run.turn_ended(cut())).resume


async def test_the_exact_limit_of_decisions_is_allowed() -> None:
    said = [Resume("again"), *(Remember(number) for number in range(MAX_DECISIONS - 1))]
    run = make([KindReader(), saying(*said)]).start_run()
    assert (await run.turn_ended(cut())).resume
    assert run.state.memory == {"sayer": MAX_DECISIONS - 2}


@pytest.mark.parametrize("empty", [None, [], (), iter(()), set()])
async def test_nothing_or_an_empty_collection_is_no_opinion(empty: Any) -> None:
    run = make([KindReader(), Saying("silent", lambda *_: empty)]).start_run()
    result = await run.turn_ended(cut())
    assert result.proposal.bundles == result.proposal.faults == ()


@pytest.mark.parametrize("as_what", [lambda d: d, lambda d: [d], lambda d: (d,), lambda d: iter([d])])
async def test_one_decision_a_list_a_tuple_and_a_generator_mean_the_same(
    as_what: Callable[[Any], Any],
) -> None:
    run = make([KindReader(), Saying("sayer", lambda *_: as_what(Resume("again")))]).start_run()
    assert (await run.turn_ended(cut())).resume


RUBBISH = st.sampled_from(
    [says for what, (says, _) in (WRONG | RAISED).items() if what != "a list with a coroutine"]
)
TURNS = st.lists(
    st.sampled_from(
        [
            lambda: cut(entry=ref("cut")),
            lambda: failed(entry=ref("failed")),
            lambda: failed(CauseKind.USAGE_LIMIT, entry=ref("limited")),
            lambda: answer("", entry=ref("empty")),
            lambda: answer(entry=ref("whole")),
        ]
    ),
    max_size=4,
)


@settings(max_examples=40)
@given(st.lists(RUBBISH, min_size=1, max_size=3), TURNS, st.sampled_from(Stage), st.integers(0, 2))
def test_a_broken_plugin_changes_nothing_but_its_own_contribution(
    rubbish: list[Callable[..., Any]], turns: list[Callable[[], Any]], stage: Stage, sound: int
) -> None:
    logging.getLogger("continuity").disabled = True
    try:
        hooks = in_turn([*rubbish, *[lambda *_: None] * sound])
        broken = [
            Saying("broken", hooks, order=Order(stage=stage)),
            Editing("broken-too", hooks),
            Classifying("broken-reader", hooks),
            Watching("broken-watcher", hooks),
        ]
        alone, beside = [
            asyncio.run(story_of(make(plugins).start_run(), [turn() for turn in turns]))
            for plugins in (bundled(), [*bundled(), *broken])
        ]
    finally:
        logging.getLogger("continuity").disabled = False
    assert beside == alone


async def story_of(run: Run, turns: list[Any]) -> dict[str, Any]:
    """All that a host and the next run could notice."""
    played = await play(run, turns)
    state = run.state
    return {
        "results": [attrs.evolve(result, proposal=EMPTY_PROPOSAL) for _, result in played.results],
        "projection": run.project(history(*turns[: played.turns])).entries,
        "waits": [(wait.seconds, wait.held) for wait in run.report().waits],
        "spent": (dict(state.spent), state.charged, state.resumes, state.held, state.memory, state.halted),
        "session": state.session,
        "cause": run.cause,
    }


# ---------------------------------------------------------------- classifying


async def test_third_parties_classify_first_and_the_bundled_reader_last() -> None:
    asked: list[str] = []

    def reader(name: str, cause: Cause | None = None) -> Classifying:
        return Classifying(name, lambda turn: asked.append(name) or cause)

    bundled_reader = reader("provider-errors", Cause(kind=CauseKind.PERMANENT, why="the bundled one"))
    run = make([bundled_reader, reader("a"), reader("z")]).start_run()
    await run.turn_ended(failed())
    assert asked == ["a", "z", "provider-errors"]
    assert run.cause is CauseKind.PERMANENT


async def test_the_first_answer_stands_and_nobody_else_is_asked() -> None:
    asked: list[str] = []
    first = Classifying("a", lambda turn: Cause(kind=CauseKind.EMPTY, why="says a"))
    run = make([first, Classifying("b", lambda turn: asked.append("b")), KindReader()]).start_run()
    await run.turn_ended(failed())
    assert run.cause is CauseKind.EMPTY
    assert asked == []
    assert run.report().events[-1].data["cause"]["by"] == "a"


@pytest.mark.parametrize("what", [name for name in WRONG | RAISED if name != "a list with a coroutine"])
async def test_a_classifier_that_is_broken_is_passed_over(what: str) -> None:
    run = make([Classifying("broken", (WRONG | RAISED)[what][0]), KindReader()]).start_run()
    await run.turn_ended(failed())
    assert run.cause is CauseKind.TRANSIENT
    gc.collect()


@pytest.mark.parametrize("aborted", [HostFacts(aborted=True), None])
async def test_nobody_is_asked_about_a_turn_that_the_host_aborted(aborted: HostFacts | None) -> None:
    asked: list[Any] = []
    run = make([Classifying("a", asked.append)]).start_run()
    await run.turn_ended(failed(), aborted or HostFacts())
    assert len(asked) == (aborted is None)


async def test_a_classifier_is_told_the_moment_and_its_own_memory() -> None:
    views: list[Any] = []

    class Reader:
        name = "reader"

        @hookimpl
        def continuity_classify(self, run: Any) -> None:
            views.append(run)

        @hookimpl
        def continuity_turn_ended(self) -> Remember:
            return Remember("mine")

    run = make([Reader()]).start_run()
    await run.turn_ended(cut())
    await run.turn_ended(cut())
    assert [view.memory for view in views] == [None, "mine"]
    assert all(view.now == run.state.started_at for view in views)


@pytest.mark.parametrize(
    "rubbish",
    [
        {"kind": "no such kind", "why": "w"},
        {"kind": CauseKind.LENGTH, "why": None},
        {"kind": CauseKind.LENGTH, "why": "w", "guidance": "7 s"},
        {"kind": CauseKind.LENGTH, "why": "w", "guidance": (7,)},
        {"kind": CauseKind.LENGTH, "why": "w", "rule": 7},
    ],
)
async def test_a_cause_that_is_none_is_refused_where_it_is_made(rubbish: dict[str, Any]) -> None:
    run = make([Classifying("broken", lambda turn: Cause(**rubbish)), KindReader()]).start_run()
    await run.turn_ended(failed())
    assert run.cause is CauseKind.TRANSIENT
    assert len(faults_of(run)) == 1


def test_a_kind_given_as_text_is_the_kind() -> None:
    assert Cause(kind="length", why="w").kind is CauseKind.LENGTH  # type: ignore[arg-type]


# ---------------------------------------------------------------- order, observers, slow ones


async def test_the_chain_is_asked_in_the_declared_order_whatever_the_order_of_registration() -> None:
    asked: list[str] = []

    def plugin(name: str, **order: Any) -> Saying:
        return Saying(name, lambda *_: asked.append(name), order=Order(**order))

    plugins = [
        plugin("guard", stage=Stage.GUARD),
        plugin("z", stage=Stage.RECOVER, runs_before=("a",)),
        plugin("a", stage=Stage.RECOVER),
        plugin("b", stage=Stage.RECOVER),
        plugin("wait", stage=Stage.WAIT),
        plugin("tail", stage=Stage.TAIL),
    ]
    for seed in range(6):
        asked.clear()
        random.Random(seed).shuffle(plugins)
        await make(plugins).start_run().turn_ended(cut())
        assert asked == ["wait", "b", "z", "a", "tail", "guard"]


async def test_each_plugin_sees_the_join_of_those_before_it_and_its_own_memory_only() -> None:
    first = saying(Resume("one"), Remember({"mine": 1}), name="first", stage=Stage.WAIT)
    second = saying(Remember([2]), name="second", stage=Stage.GUARD)
    run = make([first, second]).start_run()
    for number in range(2):
        await run.turn_ended(cut(str(number)))
    assert [proposal.resume for proposal in first.proposals] == [None, None]
    assert [proposal.resume and proposal.resume.plugin for proposal in second.proposals] == ["first", "first"]
    assert [boundary.run.memory for boundary in first.seen] == [None, {"mine": 1}]
    assert [boundary.run.memory for boundary in second.seen] == [None, [2]]


async def test_a_halt_beside_a_resume_in_one_bundle_is_not_lost_when_others_speak_after_it() -> None:
    first = saying(Halt("enough"), Resume("once more"), name="first", stage=Stage.WAIT)
    later = saying(Resume("me too"), name="later", stage=Stage.TAIL)
    run = make([first, later]).start_run()
    assert not (await run.turn_ended(cut())).resume
    assert run.state.halted == "enough"


async def test_a_decision_that_does_not_stand_is_reported_once() -> None:
    turn = cut()
    assert turn.entry is not None
    plugins = [
        saying(Omit(turn.entry, "out"), name="a", stage=Stage.WAIT),
        Saying("b", lambda *_: [Replace(turn.entry, "h", "narrowed")], order=Order(stage=Stage.RECOVER)),
        saying(Remember(1), name="c", stage=Stage.TAIL),
        saying(Remember(1), name="d", stage=Stage.GUARD),
    ]
    run = make(plugins).start_run()
    result = await run.turn_ended(turn)
    assert [(one.plugin, one.what) for one in result.proposal.dropped] == [("b", "Replace")]


@pytest.mark.parametrize("says", [raises(OSError("full")), raises(SystemExit(1)), lambda event: coroutine()])
async def test_an_observer_that_is_broken_is_named_and_harms_nothing(
    says: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    healthy = Watching("healthy")
    run = make([*bundled(), Watching("broken", says), healthy]).start_run()
    assert (await run.turn_ended(cut())).resume
    assert [event.kind for event in healthy.events] == [EventKind.RUN_STARTED, EventKind.BOUNDARY]
    assert caplog.text.count("plugin broken failed in continuity_observe") == 1
    assert {fault["plugin"] for fault in faults_of(run)} == {"broken"}


async def test_an_observer_that_returned_a_coroutine_is_not_asked_again() -> None:
    watcher = Watching("broken", lambda event: coroutine())
    run = make([KindReader(), watcher]).start_run()
    await run.turn_ended(cut())
    assert len(watcher.events) == 1


async def test_results_of_an_observer_are_ignored() -> None:
    watcher = Watching("keen", lambda event: [Resume("more"), Halt("stop")])
    run = make([*bundled(), watcher]).start_run()
    result = await run.turn_ended(answer())
    assert result.proposal.bundles == ()
    assert faults_of(run) == []


async def test_a_slow_plugin_is_named_once_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    times = itertools.count(0.0, 1.0)
    monkeypatch.setattr(chain_module, "perf_counter", lambda: next(times))
    run = make([Saying("slow", lambda *_: None)]).start_run()
    await run.turn_ended(cut())
    await run.turn_ended(cut("more"))
    slow = [event.data for event in run.report().events if event.kind is EventKind.PLUGIN_SLOW]
    assert slow == [{"plugin": "slow", "hook": "continuity_turn_ended", "seconds": 1.0}] * 2
    assert caplog.text.count("plugin slow took 1000 ms in continuity_turn_ended") == 1


async def test_a_plugin_that_is_slow_and_then_raises_is_named_as_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = itertools.count(0.0, 1.0)
    monkeypatch.setattr(chain_module, "perf_counter", lambda: next(times))
    run = make(
        [Classifying("slow", raises(OSError("x"))), Editing("slow-too", raises(OSError("y")))]
    ).start_run()
    await run.turn_ended(cut())
    run.project([])
    named = [(event.kind, event.data["plugin"]) for event in run.report().events if "plugin" in event.data]
    assert named == [
        (EventKind.PLUGIN_FAULT, "slow"),
        (EventKind.PLUGIN_SLOW, "slow"),
        (EventKind.PLUGIN_FAULT, "slow-too"),
        (EventKind.PLUGIN_SLOW, "slow-too"),
    ]


async def test_a_fast_plugin_is_not_called_slow() -> None:
    run = make().start_run()
    await run.turn_ended(cut())
    assert EventKind.PLUGIN_SLOW not in {event.kind for event in run.report().events}


async def test_a_wait_that_a_broken_bundle_brought_is_not_held() -> None:
    def says(*_: object) -> Iterator[Any]:
        yield Resume("again")
        yield Wait(seconds=60, why="we like it")
        raise RuntimeError("half-way")

    run = make([KindReader(), Saying("broken", says)]).start_run()
    assert not (await run.turn_ended(cut())).resume
    assert run.state.held == 0


async def test_a_classifying_plugin_is_shown_the_run_as_the_deciding_ones_are() -> None:
    views: list[Any] = []

    class Looking:
        name = "looking"

        @hookimpl
        def continuity_classify(self, run: Any) -> None:
            views.append(run)

    decides = saying()
    run = make([Looking(), decides], clock=VirtualClock()).start_run()
    for number, usage in enumerate((Usage(output_tokens=7), Usage()), 1):
        await run.turn_ended(answer(usage=usage, requests=3))
        await run.before_settle()
        assert views[-1] == decides.seen[-2].run == decides.seen[-1].run
        assert (views[-1].turns, views[-1].requests, views[-1].output_tokens) == (number, 3 * number, 7)
