"""tenacity's strategies, asked for one delay at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import tenacity
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.engine.backoff import AttemptState, delay, should_stop

STAGED = tenacity.wait_chain(*[tenacity.wait_fixed(5)] * 3, tenacity.wait_fixed(10))


def test_staged_delays_follow_the_attempt_and_stay_at_the_last() -> None:
    assert [delay(STAGED, attempt, cap=60) for attempt in range(1, 7)] == [5, 5, 5, 10, 10, 10]


def test_a_sum_of_strategies_is_one_strategy() -> None:
    both = tenacity.wait_fixed(3) + tenacity.wait_incrementing(start=1, increment=2)
    assert [delay(both, attempt, cap=60) for attempt in (1, 2, 3)] == [4, 6, 8]


def test_exponential_growth_ends_at_the_cap() -> None:
    assert [delay(tenacity.wait_exponential(), attempt, cap=10) for attempt in range(1, 7)] == [
        1,
        2,
        4,
        8,
        10,
        10,
    ]


def test_the_clamp_comes_after_jitter() -> None:
    jitter = tenacity.wait_fixed(9.9) + tenacity.wait_random(0, 100)
    assert all(delay(jitter, 1, cap=10) <= 10 for _ in range(200))


def by_error(error: BaseException) -> float:
    return 7.0 if isinstance(error, TimeoutError) else 1.0


def by_outcome(state: tenacity.RetryCallState) -> float:
    """Does by hand what ``wait_exception`` does, which tenacity has since 9.1."""
    if state.outcome is None:
        raise RuntimeError("called before the outcome was set")
    error = state.outcome.exception()
    assert error is not None
    return by_error(error)


READERS_OF_OUTCOMES: list[Callable[[tenacity.RetryCallState], float]] = [by_outcome]
if hasattr(tenacity, "wait_exception"):
    READERS_OF_OUTCOMES.append(tenacity.wait_exception(by_error))


@pytest.mark.parametrize("strategy", READERS_OF_OUTCOMES)
def test_a_strategy_may_read_the_outcome(strategy: Callable[[tenacity.RetryCallState], float]) -> None:
    assert delay(strategy, 1, cap=60, outcome=TimeoutError("slow")) == 7
    assert delay(strategy, 1, cap=60, outcome=ValueError("bad")) == 1


@pytest.mark.parametrize("strategy", READERS_OF_OUTCOMES)
def test_a_strategy_that_needs_an_outcome_waits_to_the_cap_without_one(
    strategy: Callable[[tenacity.RetryCallState], float], caplog: pytest.LogCaptureFixture
) -> None:
    assert delay(strategy, 1, cap=60) == 60
    assert "failed, waiting 60 s" in caplog.text


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (-1, 0),
        (-1e400, 0),
        (1e400, 30),
        (10**400, 30),
        (-(10**400), 0),
        (timedelta(seconds=4), 4),
        (Decimal("2.5"), 2.5),
        (Fraction(1, 2), 0.5),
    ],
    ids=repr,
)
def test_numbers_of_every_kind_are_clamped(
    answer: object, expected: float, caplog: pytest.LogCaptureFixture
) -> None:
    assert delay(lambda _: answer, 1, cap=30) == expected  # type: ignore[arg-type,return-value]
    assert caplog.records == []


@pytest.mark.parametrize("answer", [float("nan"), None, "5", True, [5], 1j], ids=repr)
def test_an_answer_that_is_no_number_waits_to_the_cap_and_is_logged(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert delay(lambda _: answer, 1, cap=30) == 30  # type: ignore[arg-type,return-value]
    (record,) = caplog.records
    assert record.name == "continuity"
    assert record.levelno == logging.WARNING


def test_a_coroutine_function_is_no_strategy(caplog: pytest.LogCaptureFixture) -> None:
    async def strategy(_: object) -> float:
        return 1.0

    assert delay(strategy, 1, cap=30) == 30  # type: ignore[arg-type]
    assert "coroutine" in caplog.text


def test_an_exception_in_a_strategy_waits_to_the_cap_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def strategy(_: object) -> float:
        raise ZeroDivisionError("by zero")

    assert delay(strategy, 1, cap=30) == 30
    assert "by zero" in caplog.text


def test_an_interrupt_in_a_strategy_passes_through() -> None:
    def strategy(_: object) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        delay(strategy, 1, cap=30)


@pytest.mark.parametrize("cap", [-1.0, float("nan"), float("inf")])
def test_a_cap_without_meaning_is_refused(cap: float) -> None:
    with pytest.raises(ValueError, match="cap"):
        delay(STAGED, 1, cap=cap)


@pytest.mark.parametrize(
    "arguments", [{"attempt_number": 0}, {"attempt_number": 1, "seconds_since_start": -1}]
)
def test_an_attempt_state_without_meaning_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be|counts from"):
        AttemptState(**arguments)


def _numbers() -> st.SearchStrategy[float]:
    return st.floats(min_value=0, max_value=1e12)


def _wait_objects() -> st.SearchStrategy[Callable[[tenacity.RetryCallState], float]]:
    n = _numbers()
    simple: st.SearchStrategy[Any] = st.one_of(
        st.builds(tenacity.wait_fixed, st.floats()),
        st.builds(tenacity.wait_random, n, n),
        st.builds(tenacity.wait_incrementing, st.floats(), st.floats(), st.floats()),
        st.builds(tenacity.wait_exponential, multiplier=st.floats(), max=st.floats(), exp_base=st.floats()),
        st.builds(tenacity.wait_random_exponential, multiplier=n, max=n),
        st.builds(tenacity.wait_exponential_jitter, max=st.floats(), exp_base=n, jitter=n),
        st.builds(lambda value: lambda _: value, st.one_of(st.floats(), st.integers(), st.none(), st.text())),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: tenacity.wait_chain(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: tenacity.wait_combine(*parts)),
        ),
        max_leaves=5,
    )


@given(_wait_objects(), st.integers(1, 300), st.floats(0, 1e6), st.floats(0, 1e9))
def test_a_delay_is_always_between_zero_and_the_cap(
    strategy: Callable[[tenacity.RetryCallState], float], attempt: int, cap: float, since: float
) -> None:
    seconds = delay(strategy, attempt, cap=cap, seconds_since_start=since, outcome=ValueError())
    assert isinstance(seconds, float)
    assert 0 <= seconds <= cap


@pytest.mark.parametrize(
    ("strategy", "attempt", "since", "upcoming", "expected"),
    [
        (tenacity.stop_after_attempt(6), 5, 0.0, 0.0, False),
        (tenacity.stop_after_attempt(6), 6, 0.0, 0.0, True),
        (tenacity.stop_after_delay(600), 1, 599.9, 5.0, False),
        (tenacity.stop_after_delay(600), 1, 600.0, 0.0, True),
        (tenacity.stop_before_delay(600), 1, 594.9, 5.0, False),
        (tenacity.stop_before_delay(600), 1, 595.0, 5.0, True),
        (tenacity.stop_after_attempt(6) | tenacity.stop_after_delay(600), 6, 0.0, 0.0, True),
        (tenacity.stop_after_attempt(6) & tenacity.stop_after_delay(600), 6, 0.0, 0.0, False),
        (tenacity.stop_never, 1000, 1e9, 0.0, False),
    ],
)
def test_stop_strategies_read_attempts_and_time(
    strategy: Callable[[tenacity.RetryCallState], bool],
    attempt: int,
    since: float,
    upcoming: float,
    expected: bool,
) -> None:
    assert should_stop(strategy, attempt, seconds_since_start=since, upcoming_sleep=upcoming) is expected


def test_a_stop_strategy_that_raises_stops(caplog: pytest.LogCaptureFixture) -> None:
    def strategy(_: object) -> bool:
        raise ZeroDivisionError("by zero")

    assert should_stop(strategy, 1) is True
    assert "by zero" in caplog.text


def test_an_attempt_state_has_what_strategies_of_any_origin_look_at() -> None:
    error = TimeoutError("slow")
    state = AttemptState(attempt_number=3, seconds_since_start=42.0, upcoming_sleep=5.0, outcome=error)
    assert isinstance(state, tenacity.RetryCallState)
    assert (state.attempt_number, state.seconds_since_start, state.upcoming_sleep) == (3, 42.0, 5.0)
    assert state.outcome is not None
    assert state.outcome.exception() is error
    assert state.outcome.failed
    assert state.idle_for == 0
    assert "attempt #3" in repr(state)
