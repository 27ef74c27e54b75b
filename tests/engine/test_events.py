"""What is recorded of a run: enough to explain it, bounded, without secrets, fit for a terminal."""

from __future__ import annotations

import json
import logging
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import KindReader, answer, boundary_events, bundled, calls, cut, failed, history, make, play, ref
from saying import Classifying, Saying, Watching, saying

from continuity_core import (
    Adjust,
    Cause,
    CauseKind,
    EntryRef,
    Event,
    EventKind,
    Failure,
    Halt,
    HostFacts,
    Inject,
    Mode,
    Omit,
    Proposal,
    Remember,
    Replace,
    Resume,
    StopReason,
    ToolCall,
    Turn,
    Wait,
)
from continuity_core.engine.recorder import KEPT_EVENTS
from continuity_core.testing.strategies import causes, decisions, host_facts, turns

pytestmark = pytest.mark.anyio

LARGEST_EVENT = 256 * 1024
"""Bytes of JSON that a boundary with everything at its worst stays under; a journal's line may have 8 MiB."""

BOUNDARY_KEYS = {
    "point",
    "mode",
    "turn",
    "cause",
    "said",
    "dropped",
    "faults",
    "halt",
    "outcome",
    "resume",
    "no_resume",
    "possible_at",
    "hold_seconds",
    "held_seconds",
    "resumes",
    "spent",
}


@pytest.fixture
def anyio_backend() -> str:
    """What is recorded does not depend on the event loop."""
    return "asyncio"


def as_json(event: Event) -> str:
    return json.dumps(event.to_dict(), allow_nan=False)


def strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from strings(value)


def unprintable(text: str) -> list[str]:
    return [character for character in text if unicodedata.category(character)[0] == "C"]


# ---------------------------------------------------------------- what an event says


async def test_every_boundary_gives_one_event_with_the_keys_of_the_reference() -> None:
    run = make().start_run()
    played = await play(run, [failed(), calls("step"), answer()])
    events = boundary_events(run.report().events)
    assert len(events) == len(played.results)
    assert all(set(event) == BOUNDARY_KEYS for event in events)


async def test_a_boundary_event_explains_itself() -> None:
    run = make(bundled(without=("partial_checkpoint",))).start_run()
    turn = failed(failure={"status": 503, "type": "overloaded_error", "exceptions": ("httpx.ReadError",)})
    await play(run, [turn, answer()])
    deferred, scheduled, *_ = boundary_events(run.report().events)
    assert deferred["turn"]["failure"] == {
        "message": "it failed: transient",
        "status": 503,
        "code": "transient",
        "type": "overloaded_error",
        "exceptions": ["httpx.ReadError"],
        "where": "model",
    }
    assert deferred["cause"] == {
        "kind": "transient",
        "why": "as the test says",
        "rule": None,
        "by": "provider-errors",
    }
    assert (deferred["outcome"], deferred["hold_seconds"], deferred["held_seconds"]) == ("deferred", 5, 5)
    assert scheduled["spent"] == {"stream-recovery.retries": 1}
    assert [one["plugin"] for one in scheduled["said"]] == ["stream-recovery"]
    assert turn.entry is not None
    assert scheduled["said"][0]["decisions"][1] == {
        "decision": "Omit",
        "entry": turn.entry.key,
        "why": "the provider or the connection failed",
    }


async def test_each_kind_of_decision_is_told_and_of_texts_only_the_length() -> None:
    turn = cut("half an answer")
    assert turn.entry is not None
    said = [
        Resume("again"),
        Wait(seconds=7, why="rest", stated=True),
        Replace(turn.entry, "secret part", "shorter"),
        Adjust(max_output_tokens=5, reasoning_effort="low"),
        Inject("secret note"),
        Remember({"secret": "memory"}),
    ]
    run = make([KindReader(), saying(*said)], allow_injection=("sayer",)).start_run()
    await run.turn_ended(turn)
    [event] = boundary_events(run.report().events)
    assert event["said"] == [
        {
            "plugin": "sayer",
            "decisions": [
                {"decision": "Resume", "reason": "again", "budget": None},
                {"decision": "Wait", "seconds": 7.0, "stated": True, "why": "rest"},
                {"decision": "Replace", "entry": turn.entry.key, "characters": 11, "why": "shorter"},
                {"decision": "Adjust", "max_output_tokens": 5, "reasoning_effort": "low"},
                {"decision": "Inject", "characters": 11},
                {"decision": "Remember"},
            ],
        }
    ]
    assert "secret" not in json.dumps(event)


async def test_a_halt_and_what_fell_with_it_are_told() -> None:
    run = make(
        [KindReader(), saying(Resume("again"), name="a"), saying(Halt("enough", True), name="b")]
    ).start_run()
    await run.turn_ended(cut())
    [event] = boundary_events(run.report().events)
    assert event["halt"] == {"plugin": "b", "reason": "enough"}
    assert event["dropped"] == [{"plugin": "a", "what": "Resume", "why": "b halted recovery: enough"}]
    assert event["said"][0]["decisions"] == [{"decision": "Halt", "reason": "enough", "end_run": True}]
    assert event["no_resume"] == "b halted recovery: enough"


async def test_in_observe_mode_the_event_says_what_would_have_been_done() -> None:
    run = make(mode=Mode.OBSERVE).start_run()
    await run.turn_ended(failed())
    [event] = boundary_events(run.report().events)
    assert (event["mode"], event["outcome"]) == ("observe", "observed")
    assert (event["hold_seconds"], event["held_seconds"]) == (5, 0)
    assert event["resume"]["plugin"] == "stream-recovery"


async def test_events_carry_the_run_the_session_and_the_moment() -> None:
    run = make().start_run("s")
    await run.turn_ended(answer())
    for event in run.report().events:
        assert (event.run, event.session) == (run.id, "s")
        assert event.to_dict()["at"] == "2026-03-01T12:00:00+00:00"


async def test_an_event_stays_what_it_was_while_the_run_goes_on() -> None:
    run = make().start_run()
    await run.turn_ended(cut("a"))
    event = run.report().events[-1]
    before = as_json(event)
    await run.turn_ended(cut("b"))
    run.abort()
    assert as_json(event) == before


async def test_a_run_keeps_its_last_events_only() -> None:
    run = make().start_run()
    for number in range(KEPT_EVENTS + 10):
        await run.turn_ended(calls(f"tool-{number}"))
    events = run.report().events
    assert len(events) == KEPT_EVENTS
    assert events[-1].data["turn"]["number"] == KEPT_EVENTS + 10


# ---------------------------------------------------------------- hostile content


def hostile(text: str) -> Turn:
    failure = Failure(message=text, code=text, type=text, exceptions=(text,) * 50)
    return Turn(
        stop_reason=StopReason.ERROR,
        blocks=tuple(ToolCall(f"c{number}", text[:1000], text[:1000]) for number in range(200)),
        failure=failure,
        entry=EntryRef.stable(text[:10_000]),
        provider_stop=text,
    )


HOSTILE = {
    "a lone surrogate": "\ud800 and \udfff",
    "escape sequences": "\x1b[2J\x1b]0;title\x07\x1b[31mred\x9b31m",
    "control characters": "".join(map(chr, [*range(32), *range(127, 160)])),
    "line separators": "a\u2028b\u2029c\x0bd\x0ce\x85f",
    "hidden characters": "a\u202eb\u200bc\u2066d\ufefff",
    "two megabytes": "x" * 2_000_000,
    "megabytes of wide characters": "\U0001f600" * 500_000,
    "megabytes of what looks like keys": "sk-" * 300_000 + "password=password=" * 50_000,
    "megabytes of what looks like tokens": "-eyJaaaaaaaa" * 100_000,
    "megabytes of escapes": "\x1b[" * 500_000,
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_hostile_text_makes_a_bounded_printable_json_event_quickly(what: str) -> None:
    text, plugin = HOSTILE[what], Watching()
    reads = Classifying("reader", lambda turn: Cause(kind=CauseKind.TRANSIENT, why=text or "x", rule=text))
    said = Saying(
        "sayer",
        lambda *_: [
            Resume(f"r {text}"),
            Wait(seconds=1, why=f"w {text}"),
            *([Omit(ref(text[:9000]), "w")] * 40),
        ],
    )
    broken = Saying("broken", raising(text))
    start = time.process_time()
    run = make([*bundled(), reads, said, broken, plugin]).start_run()
    await play(run, [hostile(text), answer()])
    lines = [as_json(event) for event in run.report().events]
    assert time.process_time() - start < 5
    assert max(map(len, lines)) < LARGEST_EVENT
    for line in lines:
        line.encode("ascii")
        found = [text for text in strings(json.loads(line)) if unprintable(text)]
        assert found == []
    assert len(plugin.events) == len(lines)


async def test_a_refused_edit_of_an_entry_with_a_hostile_name_is_told_in_one_printable_line() -> None:
    name = EntryRef.stable("\x1b[31m\ud800" + "x" * 100_000)
    run = make([KindReader(), saying(Resume("again"), Omit(name, "w"))]).start_run()
    await run.turn_ended(cut())
    [dropped] = boundary_events(run.report().events)[0]["dropped"]
    assert len(dropped["why"]) <= 500
    assert unprintable(dropped["why"]) == []


@settings(max_examples=20)
@given(turns(), host_facts(), st.data())
def test_whatever_happened_its_event_is_json(turn: Turn, host: HostFacts, data: st.DataObject) -> None:
    logging.getLogger("continuity").disabled = True
    try:
        cause = data.draw(causes(turn))
        said = data.draw(st.lists(decisions(turn.entries), max_size=3))
        plugins = [*bundled(), Classifying("reader", lambda _: cause), Saying("sayer", lambda *_: said)]
        run = make(plugins, allow_injection=("sayer",)).start_sync_run()
        run.turn_ended(turn, host)
        run.before_settle(host)
        for event in run.report().events:
            assert len(as_json(event)) < LARGEST_EVENT
        json.dumps(run.settled().to_dict(), allow_nan=False)
    finally:
        logging.getLogger("continuity").disabled = False


# ---------------------------------------------------------------- secrets

SECRETS = {
    "sk-proj-abcdefghijklmnop": "an API key",
    "AKIAIOSFODNN7EXAMPLE": "an AWS key",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv": "a Google key",
    "Authorization: Bearer abcdefghijklmnop": "a header",
    '"api_key": "0123456789abcdef"': "a JSON field",
    "password=correct-horse-battery": "a password",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef": "a token",
    "ghp-0123456789abcdefghij": "a token of a forge",
}


@pytest.mark.parametrize("secret", SECRETS, ids=SECRETS.get)
async def test_secrets_reach_neither_events_nor_the_log_nor_the_report(
    secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = f"401 with {secret} was sent"
    plugins = [
        *bundled(),
        Classifying("reader", lambda turn: Cause(kind=CauseKind.RATE_LIMIT, why=text)),
        saying(Resume(text), Wait(seconds=9, why=text), name="sayer"),
        saying(Resume("more"), Omit(ref("x"), text), name="refused"),
        Saying("broken", raising(text)),
    ]
    run = make(plugins).start_run()
    turn = Turn(stop_reason=StopReason.ERROR, failure=Failure.from_text(text), entry=ref("t"))
    assert (await play(run, [turn])).resumes == 1
    run.unscheduled(text)
    report = run.settled()
    told = json.dumps(report.to_dict()) + caplog.text + str(report)
    hidden = secret.split()[-1].split("=")[-1].strip('"')
    assert hidden not in told
    assert "***" in told


def raising(text: str) -> Any:
    def says(*_: object) -> Any:
        raise ValueError(text)

    return says


# ---------------------------------------------------------------- the log and the observers


async def test_log_lines_are_single_and_printable(caplog: pytest.LogCaptureFixture) -> None:
    text = "a\nb\x1b[31m\u2028c\ud800"
    run = make(
        [KindReader(), Saying("raising", raising(text)), saying(Resume("r"), Wait(seconds=1, why=text))]
    )
    started = run.start_run()
    await started.turn_ended(cut())
    started.unscheduled(text)
    for record in caplog.records:
        assert unprintable(record.getMessage()) == []
    assert len(caplog.records) == 3


async def test_observers_are_told_in_chain_order_with_a_view_of_their_own_and_after_the_callable() -> None:
    order: list[str] = []
    first = Watching("a", lambda event: order.append("a"))
    second = Watching("b", lambda event: order.append("b"))
    run = make([second, first], on_event=lambda event: order.append("callable")).start_run()
    assert order == ["callable", "a", "b"]
    await run.turn_ended(answer())
    assert [view.turns for view in first.views] == [0, 1]
    assert first.views[0].id == run.id


async def test_a_refused_edit_before_a_request_is_an_event_of_its_own() -> None:
    from saying import Editing

    run = make([Editing("editor", lambda _: Omit(ref("nowhere"), "w"))]).start_run()
    run.project(history(cut()))
    [event] = [event for event in run.report().events if event.kind is EventKind.EDIT_REFUSED]
    assert event.data["plugin"] == "editor"
    assert event.data["what"] == "Omit"
    assert "id:nowhere" in event.data["why"]


async def test_the_kinds_of_events_of_a_lively_run() -> None:
    continuity = make([*bundled(), Saying("broken", raising("x"))])
    run = continuity.start_run()
    run.input_arrived("steer")
    run.project([])
    await run.turn_ended(failed())
    continuity.disable()
    continuity.enable()
    run.abort()
    run.settled()
    assert [event.kind.value for event in run.report().events] == [
        "run_started",
        "input_arrived",
        "plugin_fault",
        "wait_started",
        "wait_ended",
        "boundary",
        "mode_changed",
        "mode_changed",
        "aborted",
        "run_settled",
    ]
    for event in run.report().events:
        as_json(event)


async def test_an_observer_may_look_but_its_view_cannot_be_changed() -> None:
    watcher = Watching()
    run = make([watcher]).start_run()
    await run.turn_ended(answer())
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        watcher.views[0].turns = 7  # type: ignore[misc]
    with pytest.raises(TypeError):
        watcher.views[0].spent["x.y"] = 1  # type: ignore[index]


async def test_a_proposal_that_a_plugin_is_shown_cannot_be_changed() -> None:
    caught: list[type[Exception]] = []

    def says(boundary: Any, proposal: Proposal) -> None:
        changes: list[Callable[[], Any]] = [
            lambda: setattr(proposal, "resume", None),
            lambda: proposal.edits.pop(entry),  # type: ignore[attr-defined]
            lambda: proposal.memory.update(b=1),  # type: ignore[attr-defined]
            lambda: setattr(boundary.turn, "blocks", ()),
        ]
        for change in changes:
            try:
                change()
            except (AttributeError, TypeError) as error:
                caught.append(type(error))

    turn = cut()
    entry = turn.entry
    assert entry is not None
    early = saying(Resume("again"), Omit(entry, "cut"), Remember(1), name="a")
    run = make([KindReader(), early, Saying("b", says)]).start_run()
    result = await run.turn_ended(turn)
    assert result.resume
    assert set(result.edits) == {entry}
    assert run.state.memory == {"a": 1}
    assert len(caught) == 4
