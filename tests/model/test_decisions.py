"""Decisions, causes, budgets and orders say what they mean, or are refused where they are made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core import (
    Adjust,
    Budget,
    Cause,
    CauseKind,
    EntryRef,
    Guidance,
    Halt,
    Inject,
    Omit,
    Order,
    ReasoningEffort,
    Replace,
    Resume,
    Stage,
    Wait,
    Window,
)
from continuity_core.model.checks import LONGEST_SECONDS
from continuity_core.testing.strategies import NOW, decisions, guidance

A = EntryRef.stable("a")


class Nowhere(tzinfo):
    """A zone that knows no offset: its instants cannot be compared."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None


NO_SECONDS = [-1, -0.001, float("nan"), float("inf"), "5", True, LONGEST_SECONDS * 2, [], 10**400]
NO_INSTANTS = [datetime(2026, 3, 1), datetime(2026, 3, 1, tzinfo=Nowhere()), "2026-03-01", 5]  # noqa: DTZ001
NO_TEXTS = ["", " \n\t", None, 5, b"text"]


@pytest.mark.parametrize("seconds", NO_SECONDS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize(
    "make",
    [
        lambda value: Wait(seconds=value, why="w"),
        lambda value: Wait(seconds=1, why="w", cap=value),
        lambda value: Guidance(seconds=value),
        lambda value: Window(name="w", waits=1, held=value, later_waits=1, later_held=1),
    ],
)
def test_a_number_of_seconds_is_finite_and_not_negative(make: Callable[[Any], Any], seconds: Any) -> None:
    with pytest.raises(ValueError, match="must be a number of seconds"):
        make(seconds)


@pytest.mark.parametrize("until", NO_INSTANTS)
@pytest.mark.parametrize(
    "make", [lambda value: Wait(until=value, why="w"), lambda value: Guidance(until=value)]
)
def test_an_instant_knows_its_zone(make: Callable[[Any], Any], until: Any) -> None:
    with pytest.raises(ValueError, match="must be a datetime with a time zone"):
        make(until)


@pytest.mark.parametrize("text", NO_TEXTS)
@pytest.mark.parametrize(
    "make",
    [
        Resume,
        Halt,
        Inject,
        lambda text: Wait(seconds=1, why=text),
        lambda text: Omit(A, text),
        lambda text: Replace(A, text, "w"),
        lambda text: Replace(A, "c", text),
        lambda text: Cause(kind=CauseKind.FINAL, why=text),
    ],
)
def test_a_text_says_something(make: Callable[[Any], Any], text: Any) -> None:
    with pytest.raises(ValueError, match="must be text that says something"):
        make(text)


@pytest.mark.parametrize("count", [-1, 1.5, "3", True, None])
@pytest.mark.parametrize(
    "make",
    [
        lambda value: Budget("b", value),
        lambda value: Window(name="w", waits=value, held=1, later_waits=1, later_held=1),
    ],
)
def test_a_limit_is_a_whole_number(make: Callable[[Any], Any], count: Any) -> None:
    with pytest.raises(ValueError, match="must be a whole number >= 0"):
        make(count)


@pytest.mark.parametrize("entry", ["a", None, 5])
def test_an_edit_names_an_entry_by_its_reference(entry: Any) -> None:
    with pytest.raises(TypeError, match="must be an EntryRef that the host issued"):
        Omit(entry, "w")
    with pytest.raises(TypeError, match="must be an EntryRef that the host issued"):
        Replace(entry, "c", "w")


@pytest.mark.parametrize("key", [None, 5, ["unhashable"]])
def test_a_reference_is_text(key: Any) -> None:
    with pytest.raises(TypeError):
        EntryRef(key)


def test_references_differ_by_kind_place_content_and_epoch() -> None:
    references = {
        EntryRef.stable("1"),
        EntryRef.positional(0, "x"),
        EntryRef.positional(1, "x"),
        EntryRef.positional(0, "y"),
        EntryRef.positional(0, "x", epoch=1),
        EntryRef.positional(0, "\ud800"),
    }
    assert len(references) == 6
    assert EntryRef.positional(0, "x") in references


@pytest.mark.parametrize("given_", [{}, {"seconds": 1, "until": NOW}])
def test_a_length_is_given_in_exactly_one_way(given_: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Wait takes exactly one of seconds and until"):
        Wait(why="w", **given_)
    with pytest.raises(ValueError, match="Guidance takes exactly one of seconds and until"):
        Guidance(**given_)


@pytest.mark.parametrize(
    "given_", [{}, {"max_output_tokens": 0}, {"max_output_tokens": True}, {"reasoning_effort": "hard"}]
)
def test_an_adjustment_changes_something(given_: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- each has words of its own
        Adjust(**given_)


def test_efforts_are_ordered_from_least_to_most() -> None:
    assert [effort.rank for effort in ReasoningEffort] == [0, 1, 2, 3, 4]
    assert Adjust(reasoning_effort="low").reasoning_effort is ReasoningEffort.LOW  # type: ignore[arg-type]


def test_the_length_of_a_wait_is_cut_to_its_cap_unless_it_was_stated() -> None:
    assert Wait(seconds=90, why="w", cap=60).seconds_from(NOW) == 60
    assert Wait(seconds=90, why="w", cap=60, stated=True).seconds_from(NOW) == 90
    assert Wait(seconds=90, why="w").end_from(NOW) == NOW + timedelta(seconds=90)
    west = timezone(timedelta(hours=-9))
    assert Wait(until=NOW.astimezone(west) + timedelta(seconds=5), why="w").seconds_from(NOW) == 5
    assert Wait(until=NOW - timedelta(days=1), why="w").seconds_from(NOW) == 0


@given(guidance(), st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_guidance_never_asks_for_less_than_nothing(hint: Guidance, later: timedelta) -> None:
    now = NOW + later
    assert hint.wait_from(now) >= 0
    assert hint.instant_from(now) >= now


@given(decisions())
def test_decisions_are_values_that_cannot_be_changed(decision: Any) -> None:
    assert attrs.evolve(decision) == decision
    name = attrs.fields(type(decision))[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(decision, name, None)


def test_a_cause_takes_any_iterable_of_guidance() -> None:
    hint = Guidance(seconds=1)
    assert Cause(kind=CauseKind.RATE_LIMIT, why="w", guidance=[hint]).guidance == (hint,)  # type: ignore[arg-type]


def test_an_order_takes_lists_and_refuses_a_single_text_and_an_unknown_stage() -> None:
    assert Order(stage="guard", runs_before=["a"]) == Order(stage=Stage.GUARD, runs_before=("a",))
    with pytest.raises(TypeError, match="not the single text 'tool-tail'"):
        Order(runs_after="tool-tail")
    with pytest.raises(
        ValueError, match="'last' is no Stage: it is one of wait, recover, tail, guard, redact"
    ):
        Order(stage="last")


def test_times_are_compared_across_zones() -> None:
    assert Guidance(until=datetime(2026, 3, 1, 13, tzinfo=UTC)).wait_from(NOW) == 3600
