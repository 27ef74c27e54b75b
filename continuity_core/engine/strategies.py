"""Wait and stop strategies as configuration holds them: tenacity's object and the text that names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import attrs
import tenacity
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from continuity_core.engine.backoff import StopCallable, WaitCallable
from continuity_core.engine.durations import number_text, parse_duration
from continuity_core.engine.strategy_forms import STOP, WAIT
from continuity_core.engine.strategy_parser import StrategyError, parse

__all__ = [
    "StopStrategy",
    "StrategyError",
    "WaitStrategy",
    "parse_stop",
    "parse_wait",
    "stop_strategy",
    "wait_strategy",
]


@attrs.frozen(kw_only=True)
class WaitStrategy(wait_base):
    """A wait strategy of tenacity's that can be compared and printed; it is one itself and adds to others."""

    text: str
    """Canonical where it was read from text; else the name of the object in angle brackets."""
    wait: WaitCallable = attrs.field(eq=False, repr=False)
    given: object = attrs.field(default=None, eq=id, repr=False)
    """The object that came from code; two such are equal only if they are the same one."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        return self.wait(retry_state)

    def __str__(self) -> str:
        return self.text


@attrs.frozen(kw_only=True)
class StopStrategy(stop_base):
    """A stop strategy of tenacity's that can be compared and printed; it is one itself and combines."""

    text: str
    """Canonical where it was read from text; else the name of the object in angle brackets."""
    stop: StopCallable = attrs.field(eq=False, repr=False)
    given: object = attrs.field(default=None, eq=id, repr=False)
    """The object that came from code; two such are equal only if they are the same one."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> bool:
        return self.stop(retry_state)

    def __str__(self) -> str:
        return self.text


def parse_wait(text: str) -> WaitStrategy:
    """Read ``"chain(fixed(5), 10min)"``, ``"exponential_jitter(initial=1, max=60) + random(0, 3)"`` etc.

    Every ``wait_*`` of tenacity that takes only numbers is known, with or without the prefix; a bare number
    or duration is ``fixed``. StrategyError, a ValueError, has the column, what was found, what is allowed.
    """
    parsed = parse(WAIT, text)
    return WaitStrategy(text=parsed.text, wait=parsed.value)


def parse_stop(text: str) -> StopStrategy:
    """Read ``"after_attempt(6) | after_delay(10min)"`` and the like: ``&`` binds tighter than ``|``.

    Every ``stop_*`` of tenacity that takes only numbers is known, with or without the prefix. StrategyError,
    a ValueError, has the column, what was found and what is allowed.
    """
    parsed = parse(STOP, text)
    return StopStrategy(text=parsed.text, stop=parsed.value)


def wait_strategy(value: object) -> WaitStrategy:
    """From what an option was given: text, seconds, a ``timedelta``, or any wait object or function.

    ValueError says why it is none of them.
    """
    if isinstance(value, WaitStrategy):
        return value
    if isinstance(value, str):
        return parse_wait(value)
    if callable(value) and not isinstance(value, type):
        return WaitStrategy(text=_name_of(value), wait=cast(WaitCallable, value), given=value)
    if isinstance(value, type):
        raise ValueError(
            f"a wait strategy must be an object; {value.__name__} is a class. Have you forgotten the ()?"
        )
    return parse_wait(number_text(parse_duration(value)))


def stop_strategy(value: object) -> StopStrategy:
    """From what an option was given: text, or any stop object or function; else ValueError says why not."""
    if isinstance(value, StopStrategy):
        return value
    if isinstance(value, str):
        return parse_stop(value)
    if isinstance(value, type):
        raise ValueError(
            f"a stop strategy must be an object; {value.__name__} is a class. Have you forgotten the ()?"
        )
    if callable(value):
        return StopStrategy(text=_name_of(value), stop=cast(StopCallable, value), given=value)
    raise ValueError(
        f"a stop strategy is a text such as 'after_attempt(6)' or a tenacity object, not {value!r}"
    )


def _name_of(value: Callable[..., object]) -> str:
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    return f"<{name}>"
