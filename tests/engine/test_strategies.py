"""Strategies by name: a closed grammar whose canonical text reads back as the same strategy."""

from __future__ import annotations

import copy
import pickle
import time
import warnings
from datetime import timedelta

import pytest
import tenacity
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.engine.backoff import delay, should_stop
from continuity_core.engine.strategies import (
    StopStrategy,
    StrategyError,
    WaitStrategy,
    parse_stop,
    parse_wait,
    stop_strategy,
    wait_strategy,
)
from continuity_core.engine.strategy_forms import STOP, WAIT, Form, Grammar, Unit


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("chain(fixed(5), fixed(5), fixed(5), fixed(10))", "chain(fixed(5), fixed(5), fixed(5), fixed(10))"),
        ("chain(5,5 , 10min)", "chain(fixed(5), fixed(5), fixed(600))"),
        ("exponential_jitter(initial=1, max=60)", "exponential_jitter(initial=1, max=60)"),
        ("exponential_jitter(multiplier=2)", "exponential_jitter(initial=2)"),
        ("exponential(max=60, multiplier=2)", "exponential(multiplier=2, max=60)"),
        ("exponential()", "exponential()"),
        ("exponential", "exponential()"),
        ("random_exponential(1, 1min)", "random_exponential(multiplier=1, max=60)"),
        ("full_jitter(1, 60)", "random_exponential(multiplier=1, max=60)"),
        ("incrementing(1, increment=2s)", "incrementing(start=1, increment=2)"),
        ("wait_fixed(3) + wait_random(0, 2)", "fixed(3) + random(min=0, max=2)"),
        ("combine(1, (2 + 3))", "fixed(1) + fixed(2) + fixed(3)"),
        ("chain(1 + 2, none)", "chain(fixed(1) + fixed(2), none)"),
        ("5", "fixed(5)"),
        ("  1h30m ", "fixed(5400)"),
        ("2.50", "fixed(2.5)"),
        (".5", "fixed(0.5)"),
        ("1e-7", "fixed(1e-07)"),
        ("none()", "none"),
    ],
)
def test_a_wait_strategy_prints_in_canonical_form(text: str, canonical: str) -> None:
    strategy = parse_wait(text)
    assert str(strategy) == canonical
    assert parse_wait(canonical) == strategy


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("after_attempt(6) | after_delay(10 min)", "after_attempt(6) | after_delay(600)"),
        ("stop_after_attempt(max_attempt_number=6)", "after_attempt(6)"),
        ("never", "never"),
        ("before_delay(1h)&never", "before_delay(3600) & never"),
        ("(after_attempt(1) | never) & never", "(after_attempt(1) | never) & never"),
        ("after_attempt(1) | never & never", "after_attempt(1) | never & never"),
        ("after_attempt(1) | (never & never)", "after_attempt(1) | never & never"),
        ("all(any(after_attempt(1), never), never)", "(after_attempt(1) | never) & never"),
        ("any(after_attempt(1))", "after_attempt(1)"),
    ],
)
def test_a_stop_strategy_prints_in_canonical_form(text: str, canonical: str) -> None:
    strategy = parse_stop(text)
    assert str(strategy) == canonical
    assert parse_stop(canonical) == strategy


def test_the_default_stream_recovery_delays_read_as_written() -> None:
    strategy = parse_wait("chain(fixed(5), fixed(5), fixed(5), fixed(10))")
    assert [delay(strategy, attempt, cap=60) for attempt in range(1, 7)] == [5, 5, 5, 10, 10, 10]


def test_and_binds_tighter_than_or() -> None:
    strategy = parse_stop("after_attempt(1) | after_attempt(2) & never")
    assert should_stop(strategy, 1)
    grouped = parse_stop("(after_attempt(1) | after_attempt(2)) & never")
    assert not should_stop(grouped, 1)


def test_the_first_delay_of_exponential_jitter_is_the_initial_one_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strategy = parse_wait("exponential_jitter(initial=4, max=60, jitter=0)")
    assert [delay(strategy, attempt, cap=100) for attempt in (1, 2, 3)] == [4, 8, 16]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, ["found the end", "chain", "fixed"]),
        ("fixd(3)", 1, ["'fixd'", "did you mean 'fixed'", "allowed: chain"]),
        ("chain(fixed(5), fxed(1))", 17, ["'fxed'", "'fixed'"]),
        ("random(max=3, mx=2)", 15, ["'mx'", "did you mean 'max'", "allowed: min, max"]),
        ("random(min=1, 2)", 15, ["without a name"]),
        ("random(1, min=2)", 11, ["min is given twice"]),
        ("random(5)", 1, ["min=5 above max=1"]),
        ("exponential(min=5, max=1)", 1, ["min=5 above max=1"]),
        ("fixed(-1)", 7, ["'-'", "at least 0"]),
        ("fixed(5", 8, ["found the end", "')'"]),
        ("fixed()", 1, ["needs wait"]),
        ("fixed(1, 2)", 10, ["no more arguments than 1"]),
        ("none(1)", 6, ["no more arguments than 0"]),
        ("chain()", 7, ["found ')'", "wait strategy"]),
        ("chain", 6, ["'('"]),
        ("fixed(random(1))", 7, ["no parameter of fixed", "allowed: wait"]),
        ("fixed(5x)", 7, ["'x' is no unit"]),
        ("5 minuts", 1, ["did you mean 'minutes'"]),
        ("fixed(1e999)", 7, ["finite"]),
        ("exponential(exp_base=5s)", 22, ["'5s'", "plain number"]),
        ("5 5", 3, ["found '5'", "'+' or the end"]),
        ("5 +", 4, ["found the end"]),
        ("5 | 5", 3, ["found '|'", "'+'"]),
        ("exception(5)", 1, ["no wait strategy"]),
        ("__import__('os')", 1, ["no wait strategy"]),
        ("fixed('5')", 7, ['"\'"']),
        ("fixed(nan)", 7, ["no parameter"]),
        ("(" * 30 + "5" + ")" * 30, 21, ["nested deeper than 20"]),
        ("chain(" * 30 + "5" + ")" * 30, 121, ["nested deeper than 20"]),
        ("1" * 1001, 1001, ["1001 characters", "at most 1000"]),
    ],
)
def test_an_error_says_where_what_and_what_instead(text: str, column: int, words: list[str]) -> None:
    with pytest.raises(StrategyError) as caught:
        parse_wait(text)
    assert caught.value.column == column
    assert f"column {column}: " in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("6", 1, ["found '6'", "after_attempt"]),
        ("after_attempt(2.5)", 15, ["whole number"]),
        ("after_attempt(0)", 15, ["at least 1"]),
        ("after_attempt(5s)", 15, ["whole number"]),
        ("after_atempt(5)", 1, ["did you mean 'after_attempt'"]),
        ("never + never", 7, ["'|' or '&' or the end"]),
        ("when_event_set(1)", 1, ["no stop strategy"]),
    ],
)
def test_an_error_in_a_stop_strategy_says_the_same(text: str, column: int, words: list[str]) -> None:
    with pytest.raises(StrategyError) as caught:
        parse_stop(text)
    assert caught.value.column == column
    for word in words:
        assert word in str(caught.value)


def _seconds() -> st.SearchStrategy[float]:
    return st.one_of(st.integers(0, 10**6).map(float), st.floats(0, 1e308, allow_subnormal=False))


def _arguments(name: str, form: Form) -> st.SearchStrategy[str]:
    values = {Unit.COUNT: st.integers(1, 10**9), Unit.SECONDS: _seconds(), Unit.NUMBER: _seconds()}
    required = dict.fromkeys(list(form.parameters)[: form.required])
    each = {key: values[unit] for key, unit in form.parameters.items() if key != "min"}
    chosen = st.fixed_dictionaries(
        {key: each[key] for key in required},
        optional={key: value for key, value in each.items() if key not in required},
    )
    return chosen.map(
        lambda given: f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
    )


def _texts(grammar: Grammar) -> st.SearchStrategy[str]:
    leaves = st.one_of(*(_arguments(name, form) for name, form in grammar.forms.items()))

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            *(several.map(lambda parts, name=name: f"{name}({', '.join(parts)})") for name in grammar.joints),
            *(
                several.map(lambda parts, sign=joint.operator: "(" + f" {sign} ".join(parts) + ")")
                for joint in grammar.joints.values()
                if joint.operator
            ),
        )

    return st.recursive(leaves, larger, max_leaves=6).filter(lambda text: len(text) <= 700)


@given(_texts(WAIT), st.integers(1, 20))
def test_every_wait_strategy_reads_back_from_its_canonical_text(text: str, attempt: int) -> None:
    strategy = parse_wait(text)
    again = parse_wait(str(strategy))
    assert again == strategy
    assert hash(again) == hash(strategy)
    assert str(again) == str(strategy)
    assert 0 <= delay(again, attempt, cap=60) <= 60


@given(_texts(STOP), st.integers(1, 20), st.floats(0, 1e6), st.floats(0, 1e6))
def test_every_stop_strategy_reads_back_as_one_that_decides_the_same(
    text: str, attempt: int, since: float, upcoming: float
) -> None:
    strategy = parse_stop(text)
    again = parse_stop(str(strategy))
    assert again == strategy
    first, second = (
        should_stop(each, attempt, seconds_since_start=since, upcoming_sleep=upcoming)
        for each in (strategy, again)
    )
    assert first == second


@given(st.text(alphabet="fixedchan()+|&,=0123456789. msh-_'\"\n\x00é", max_size=60))
def test_any_text_is_read_or_refused_with_a_column(text: str) -> None:
    for parse in (parse_wait, parse_stop):
        column = 1
        try:
            strategy = parse(text)
            assert str(parse(str(strategy))) == str(strategy)
        except StrategyError as error:
            column = error.column
        assert 1 <= column <= len(text) + 1


@pytest.mark.parametrize(
    "text", ["1m" * 500, " " * 1000, "5 " * 500, "9" * 1000, "a" * 1000, "5+" * 499 + "5"]
)
def test_hostile_text_takes_no_time(text: str) -> None:
    before = time.perf_counter()
    with pytest.raises(StrategyError) as caught:
        parse_wait(text)
    assert len(str(caught.value)) < 500
    assert time.perf_counter() - before < 1


def test_every_strategy_of_tenacity_that_takes_only_numbers_has_a_name() -> None:
    others = {
        "wait_exception": "takes a function",
        "wait_full_jitter": "another name of wait_random_exponential",
        "stop_when_event_set": "takes an event",
    }
    for grammar in (WAIT, STOP):
        for name in dir(tenacity):
            if name.startswith(grammar.prefix) and name not in others and callable(getattr(tenacity, name)):
                short = name.removeprefix(grammar.prefix)
                assert short in grammar.names or short == "base", name


def test_what_came_from_text_is_equal_by_its_meaning() -> None:
    assert parse_wait("5") == parse_wait("fixed(5.0)")
    assert parse_wait("5") != parse_wait("6")
    assert len({parse_wait("5"), parse_wait("fixed(5)")}) == 1


def test_options_take_text_numbers_durations_objects_and_functions() -> None:
    def my_backoff(_: tenacity.RetryCallState) -> float:
        return 2.0

    fixed = tenacity.wait_fixed(3)
    assert str(wait_strategy("5")) == "fixed(5)"
    assert str(wait_strategy(2.5)) == "fixed(2.5)"
    assert str(wait_strategy(timedelta(minutes=1))) == "fixed(60)"
    assert wait_strategy(fixed) == wait_strategy(fixed)
    assert wait_strategy(fixed) != wait_strategy(tenacity.wait_fixed(3))
    assert str(wait_strategy(fixed)) == "<wait_fixed>"
    assert "my_backoff>" in str(wait_strategy(my_backoff))
    assert delay(wait_strategy(my_backoff), 1, cap=60) == 2
    assert wait_strategy(wait_strategy("5")) == parse_wait("5")
    assert str(stop_strategy("never")) == "never"
    assert should_stop(stop_strategy(tenacity.stop_after_attempt(1)), 1)
    assert stop_strategy(stop_strategy("never")) == parse_stop("never")


@pytest.mark.parametrize("value", [None, True, -1, float("nan"), [5], tenacity.wait_none])
def test_an_option_that_is_no_wait_strategy_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"duration|Have you forgotten"):
        wait_strategy(value)


@pytest.mark.parametrize("value", [None, 6, [5], tenacity.stop_after_attempt])
def test_an_option_that_is_no_stop_strategy_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="stop strategy"):
        stop_strategy(value)


def test_strategies_combine_with_those_of_tenacity() -> None:
    assert delay(parse_wait("1") + tenacity.wait_fixed(2), 1, cap=60) == 3
    assert delay(tenacity.wait_chain(parse_wait("7")), 1, cap=60) == 7
    assert should_stop(parse_stop("never") | tenacity.stop_after_attempt(1), 1)


def test_strategies_can_be_copied_and_pickled() -> None:
    wait: WaitStrategy = pickle.loads(pickle.dumps(parse_wait("chain(1, 2 + random(0, 1))")))
    assert wait == parse_wait("chain(1, 2 + random(0, 1))")
    stop: StopStrategy = copy.deepcopy(parse_stop("after_attempt(2) | after_delay(3)"))
    assert stop == parse_stop("after_attempt(2) | after_delay(3)")
    assert should_stop(stop, 2)
