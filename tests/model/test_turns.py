"""Turns, boundaries, failures and reports, as plugins and callers look at them."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import attrs
import pytest
from boundaries import at
from hypothesis import given, settings
from runs import answer, calls, cut, failed, make, play, ref

from continuity_core import (
    CauseKind,
    Entry,
    EntryRef,
    Failure,
    HostFacts,
    IncompleteRun,
    Projection,
    Reasoning,
    Report,
    RunOutcome,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    cause_of_turn,
)
from continuity_core.model.failure import HEADER_LIMIT, TEXT_LIMIT
from continuity_core.testing.strategies import NOW, boundaries, failures, host_facts, turns

STOP, LENGTH, ERROR = StopReason.STOP, StopReason.LENGTH, StopReason.ERROR


def turn(*blocks: Any, stop: StopReason = STOP, **facts: Any) -> Turn:
    return Turn(stop_reason=stop, blocks=blocks, **facts)


CALL = ToolCall("c", "write", "{}")


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (turn(Text("done")), CauseKind.FINAL),
        (turn(Text("I look"), CALL), CauseKind.TOOL_CALLS),
        (turn(CALL, stop=StopReason.TOOL_USE), CauseKind.TOOL_CALLS),
        (turn(CALL, Text("done")), CauseKind.TOOL_CALLS),
        (turn(Text("half"), stop=LENGTH), CauseKind.LENGTH),
        (turn(stop=LENGTH), CauseKind.LENGTH),
        (turn(), CauseKind.EMPTY),
        (turn(Text(" \n")), CauseKind.EMPTY),
        (turn(Reasoning(" ")), CauseKind.EMPTY),
        (turn(Reasoning("hm")), CauseKind.EMPTY),
        (turn(stop=ERROR), CauseKind.UNKNOWN),
        (turn(Text("x"), failure=Failure(message="m")), CauseKind.UNKNOWN),
        (turn(stop=StopReason.ABORTED, failure=Failure(message="terminated")), CauseKind.CANCELLED),
        (turn(unfinished=True), CauseKind.FINAL),
        (turn(stop=LENGTH, unfinished=True), CauseKind.FINAL),
    ],
)
def test_the_stop_reason_and_the_content_say_what_a_turn_was(one: Turn, kind: CauseKind) -> None:
    assert cause_of_turn(one).kind is kind


def test_whether_reasoning_alone_is_an_answer_can_be_chosen() -> None:
    assert cause_of_turn(turn(Reasoning("hm")), reasoning_only_is_empty=False).kind is CauseKind.FINAL
    assert cause_of_turn(turn(), reasoning_only_is_empty=False).kind is CauseKind.EMPTY


@settings(max_examples=50)
@given(turns())
def test_a_turn_can_be_looked_at_whatever_is_in_it(one: Turn) -> None:
    cause = cause_of_turn(one)
    assert cause.why
    assert len(one.content_digest()) == 16
    assert set(one.executable_calls) <= set(one.tool_calls)
    assert len(set(one.entries)) == len(one.entries)
    if one.stop_reason in (LENGTH, ERROR, StopReason.ABORTED):
        assert one.executable_calls == ()
    assert (one.last_substantive is None) is (not one.tool_calls and not one.text.strip())


def test_the_entries_of_a_turn_are_the_answer_and_its_results_each_once() -> None:
    results = [ToolResult(call_id=f"c{n}", entry=entry) for n, entry in enumerate([ref("r"), ref("r"), None])]
    assert turn(CALL, results=tuple(results), entry=ref("t")).entries == (ref("t"), ref("r"))
    assert turn(CALL, results=tuple(results)).entries == (ref("r"),)


def test_the_digest_tells_kinds_of_content_and_their_limits_apart() -> None:
    several = [
        turn(Text("ab")),
        turn(Text("a"), Text("b")),
        turn(Reasoning("ab")),
        turn(ToolCall("c", "a", "b")),
        turn(ToolCall("c", "", "ab")),
        turn(),
    ]
    assert len({one.content_digest() for one in several}) == len(several)
    assert turn(ToolCall("x", "a", "b")).content_digest() == turn(ToolCall("y", "a", "b")).content_digest()
    assert turn(Text("\ud800")).content_digest() != turn(Text("?")).content_digest()


@pytest.mark.parametrize(
    ("limit", "used", "at_cap"),
    [(100, 99, False), (100, 100, True), (100, None, True), (None, 5, True), (None, None, True)],
)
def test_at_cap_is_assumed_where_it_is_not_known_better(
    limit: int | None, used: int | None, at_cap: bool
) -> None:
    boundary = at(cut(usage=Usage(output_tokens=used)), host=HostFacts(output_limit=limit))
    assert boundary.at_cap is at_cap


def test_a_run_ends_on_purpose_where_the_host_says_so_or_an_ending_tool_was_called() -> None:
    assert not at(calls("a")).ended_on_purpose
    assert at(answer(), host=HostFacts(ended_on_purpose=True)).ended_on_purpose
    host = HostFacts(ending_tools=frozenset({"b"}))
    assert at(calls("a", "b"), host=host).ended_on_purpose
    assert not at(calls("a"), host=host).ended_on_purpose


def test_a_host_knows_the_entries_that_it_can_look_up() -> None:
    entry = Entry(ref=ref("a"), role="user")
    host = HostFacts(lookup={entry.ref: entry}.get)
    assert host.knows(ref("a"))
    assert not host.knows(ref("b"))
    assert not HostFacts().knows(ref("a"))


@settings(max_examples=20)
@given(boundaries(), host_facts())
def test_boundaries_are_values(boundary: Any, host: HostFacts) -> None:
    assert attrs.evolve(boundary) == boundary
    assert attrs.evolve(boundary, host=host) == attrs.evolve(attrs.evolve(boundary, host=host))
    assert type(boundary.ended_on_purpose) is type(boundary.at_cap) is bool


def test_results_are_paired_with_the_nearest_call_before_them() -> None:
    entries = [
        Entry(ref=ref("early"), role="tool", answers=("c",)),
        Entry(ref=ref("one"), role="assistant", calls=("c", "d")),
        Entry(ref=ref("r1"), role="tool", answers=("c", "d")),
        Entry(ref=ref("two"), role="assistant", calls=("c",)),
        Entry(ref=ref("r2"), role="tool", answers=("c", "d", "e")),
    ]
    found = [dict(callers) for callers in Projection(tuple(entries)).callers()]
    assert found == [{"c": None}, {}, {"c": 1, "d": 1}, {}, {"c": 3, "d": 1, "e": None}]


@settings(max_examples=40)
@given(failures())
def test_what_is_kept_of_a_failure_is_bounded_and_tells_no_secrets_in_headers(failure: Failure) -> None:
    assert len(failure.message) <= TEXT_LIMIT
    assert failure.body is None or len(failure.body) <= TEXT_LIMIT
    assert "cookie" not in failure.headers
    assert all(name == name.lower() for name in failure.headers)


def test_the_head_and_the_tail_of_a_long_text_are_kept() -> None:
    failure = Failure.from_text("head" + "x" * 100_000 + "tail", body="y" * 100_000)
    assert failure.message.startswith("head")
    assert failure.message.endswith("tail")
    assert "[...]" in failure.message


def test_at_most_a_few_dozen_headers_are_kept() -> None:
    headers = {f"x-ratelimit-{number}": "7" for number in range(1000)}
    assert len(Failure.from_text("m", headers=headers).headers) == HEADER_LIMIT
    assert Failure.from_text("m", headers=[("Retry-After", "7"), ("Cookie", "c")]).headers == {
        "retry-after": "7"
    }


def test_a_turn_of_an_exception_keeps_what_is_known_beside_it() -> None:
    one = Turn.from_exception(TimeoutError("too slow"), blocks=(Text("half"),), entry=EntryRef.stable("t"))
    assert one.stop_reason is ERROR
    assert one.failure is not None
    assert one.failure.exceptions == ("TimeoutError",)
    assert one.text == "half"


@pytest.mark.anyio
async def test_a_report_reads_as_one_sentence_and_travels() -> None:
    run = make().start_run()
    assert str(run.report()) == f"run {run.id}: running; 0 turns, 0 resumes, 0 s held"
    await play(run, [failed(), failed(CauseKind.PERMANENT)])
    report = run.settled()
    assert report.outcome is RunOutcome.FAILED
    assert str(report) == (
        f"run {run.id}: failed; last turn permanent (as the test says); 2 turns, 1 resume, 5 s held"
    )


def test_a_report_says_when_it_would_have_been_possible() -> None:
    report = Report(
        run="r",
        session="s",
        outcome=RunOutcome.FAILED,
        cause=None,
        why=None,
        no_resume="too long",
        possible_at=NOW + timedelta(hours=2),
        turns=1,
        requests=1,
        resumes=0,
        waits=(),
        held_seconds=0,
        events=(),
    )
    assert str(report).endswith("not resumed: too long; possible again at 2026-03-01T14:00:00+00:00")


@pytest.mark.anyio
async def test_an_incomplete_run_survives_being_pickled_with_its_partial() -> None:
    run = make(max_resumes=0).start_run()
    await play(run, [cut("half")])
    error = IncompleteRun(attrs.evolve(run.settled(), events=()), cut("half"))
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, IncompleteRun)
    assert str(again) == str(error)
    assert again.partial is not None
    assert again.partial.text == "half"
