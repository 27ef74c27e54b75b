"""tenacity's wait and stop strategies without tenacity's retry loop.

The engine asks a strategy for one delay at a time, so that a run can be stored and go on in another process.
tenacity's own loop would keep the count and the clock to itself.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from datetime import timedelta
from inspect import iscoroutine
from typing import SupportsFloat, TypeAlias

import tenacity

WaitCallable: TypeAlias = Callable[[tenacity.RetryCallState], float]
"""Any ``tenacity.wait_*`` object or sum, a ``WaitStrategy``, or a function of one's own."""
StopCallable: TypeAlias = Callable[[tenacity.RetryCallState], bool]
"""Any ``tenacity.stop_*`` object or combination, a ``StopStrategy``, or a function of one's own."""

_logger = logging.getLogger("continuity")
_NO_LOOP = tenacity.Retrying()
_LARGE = 10**18
"""Seconds beyond every cap in use; whole numbers above it may not fit a float."""


class AttemptState(tenacity.RetryCallState):
    """What a strategy reads: ``attempt_number``, ``outcome``, ``seconds_since_start``, ``upcoming_sleep``.

    It is a ``RetryCallState``, so that strategies of any origin find every attribute that they may look at.
    """

    def __init__(
        self,
        *,
        attempt_number: int,
        seconds_since_start: float = 0.0,
        upcoming_sleep: float = 0.0,
        outcome: BaseException | None = None,
    ) -> None:
        """``attempt_number`` counts from 1; ``outcome`` is what the attempt raised, if that is known."""
        if attempt_number < 1:
            raise ValueError(f"attempt_number counts from 1, not {attempt_number!r}")
        if not 0 <= seconds_since_start < math.inf:
            raise ValueError(
                f"seconds_since_start must be finite and at least 0, not {seconds_since_start!r}"
            )
        super().__init__(_NO_LOOP, fn=None, args=(), kwargs={})
        self.attempt_number = attempt_number
        self.upcoming_sleep = upcoming_sleep
        self._seconds_since_start = float(seconds_since_start)
        self.outcome_timestamp = time.monotonic()
        self.start_time = self.outcome_timestamp - self._seconds_since_start
        if outcome is not None:
            self.outcome = tenacity.Future.construct(attempt_number, outcome, has_exception=True)

    @property
    def seconds_since_start(self) -> float:
        """As it was given: ``stop_after_delay(600)`` must not miss 600 by a rounding of two timestamps."""
        return self._seconds_since_start


def delay(
    strategy: WaitCallable,
    attempt_number: int,
    *,
    cap: float,
    seconds_since_start: float = 0.0,
    outcome: BaseException | None = None,
) -> float:
    """Seconds to wait after attempt ``attempt_number`` (from 1), with ``0 <= seconds <= cap``.

    The clamp comes after the strategy's jitter. A negative answer is 0. Where the strategy gives no usable
    answer — NaN, infinity, something that is no number, an exception — the delay is ``cap``: waiting too long
    costs time, retrying without a pause costs requests. All but infinity are logged as a warning.
    ValueError is raised for a ``cap`` that is not finite and at least 0.
    """
    if not 0 <= cap < math.inf:
        raise ValueError(f"cap must be finite and at least 0, not {cap!r}")
    state = AttemptState(
        attempt_number=attempt_number, seconds_since_start=seconds_since_start, outcome=outcome
    )
    try:
        seconds = _seconds(strategy(state))
    except Exception as error:  # the strategy is anyone's code
        _logger.warning("wait strategy %s failed, waiting %g s: %r", strategy, cap, error)
        return float(cap)
    if math.isnan(seconds):
        _logger.warning("wait strategy %s gave NaN, waiting %g s", strategy, cap)
        return float(cap)
    return float(min(max(seconds, 0.0), cap))


def _seconds(answer: object) -> float:
    if type(answer) is float:
        return answer
    if isinstance(answer, timedelta):
        return answer.total_seconds()
    if iscoroutine(answer):
        answer.close()
    if isinstance(answer, bool) or not isinstance(answer, SupportsFloat):
        raise TypeError(f"a wait strategy must give a number of seconds, not {type(answer).__name__}")
    if isinstance(answer, int):
        return float(min(max(answer, 0), _LARGE))
    return float(answer)


def should_stop(
    strategy: StopCallable,
    attempt_number: int,
    *,
    seconds_since_start: float = 0.0,
    upcoming_sleep: float = 0.0,
    outcome: BaseException | None = None,
) -> bool:
    """Whether no attempt may follow this one; a strategy that raises stops, with a warning."""
    state = AttemptState(
        attempt_number=attempt_number,
        seconds_since_start=seconds_since_start,
        upcoming_sleep=upcoming_sleep,
        outcome=outcome,
    )
    try:
        return bool(strategy(state))
    except Exception as error:  # the strategy is anyone's code
        _logger.warning("stop strategy %s failed, stopping: %r", strategy, error)
        return True
