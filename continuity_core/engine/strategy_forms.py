"""Which strategies can be written by name, their parameters, and how tenacity's objects are made of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import attrs
import tenacity


class Unit(Enum):
    """What a parameter counts."""

    SECONDS = "a number of seconds or a duration such as 10min"
    NUMBER = "a plain number"
    COUNT = "a whole number of at least 1"


@attrs.frozen(kw_only=True)
class Form:
    """A strategy that takes numbers by position or by name."""

    make: Callable[..., Any]
    parameters: Mapping[str, Unit]
    """In the order of their positions."""
    required: int = 0
    """How many of them, from the first, have no default."""
    aliases: Mapping[str, str] = attrs.field(factory=dict)
    """Other names of parameters."""


@attrs.frozen(kw_only=True)
class Joint:
    """How several strategies become one: by an operator, by the name of a function, or both."""

    make: Callable[..., Any]
    operator: str | None = None


@attrs.frozen(kw_only=True)
class Grammar:
    """One of the two little languages."""

    noun: str
    prefix: str
    """Of tenacity's own names; accepted and dropped."""
    forms: Mapping[str, Form]
    joints: Mapping[str, Joint]
    """By name, those with an operator from the loosest to the tightest."""
    synonyms: Mapping[str, str] = attrs.field(factory=dict)
    number_means: str | None = None
    """The form of a bare number, if that may stand alone."""

    @property
    def names(self) -> list[str]:
        return sorted([*self.forms, *self.joints])


def _exponential_jitter(**arguments: float) -> Any:
    """tenacity renamed ``initial`` to ``multiplier`` in 9.2 and warns of the old name."""
    known = inspect.signature(tenacity.wait_exponential_jitter).parameters
    if "initial" in arguments and "multiplier" in known:
        arguments["multiplier"] = arguments.pop("initial")
    return tenacity.wait_exponential_jitter(**arguments)


def _known_to(strategy: type, parameters: dict[str, Unit]) -> dict[str, Unit]:
    """Without parameters that the installed tenacity does not have yet."""
    known = inspect.signature(strategy).parameters
    return {name: unit for name, unit in parameters.items() if name in known}


_EXPONENTIAL = {"multiplier": Unit.SECONDS, "max": Unit.SECONDS, "exp_base": Unit.NUMBER, "min": Unit.SECONDS}

WAIT = Grammar(
    noun="wait strategy",
    prefix="wait_",
    number_means="fixed",
    forms={
        "fixed": Form(make=tenacity.wait_fixed, parameters={"wait": Unit.SECONDS}, required=1),
        "none": Form(make=tenacity.wait_none, parameters={}),
        "random": Form(make=tenacity.wait_random, parameters={"min": Unit.SECONDS, "max": Unit.SECONDS}),
        "incrementing": Form(
            make=tenacity.wait_incrementing,
            parameters={"start": Unit.SECONDS, "increment": Unit.SECONDS, "max": Unit.SECONDS},
        ),
        "exponential": Form(make=tenacity.wait_exponential, parameters=_EXPONENTIAL),
        "random_exponential": Form(make=tenacity.wait_random_exponential, parameters=_EXPONENTIAL),
        "exponential_jitter": Form(
            make=_exponential_jitter,
            parameters=_known_to(
                tenacity.wait_exponential_jitter,
                {
                    "initial": Unit.SECONDS,
                    "max": Unit.SECONDS,
                    "exp_base": Unit.NUMBER,
                    "jitter": Unit.SECONDS,
                    "min": Unit.SECONDS,
                },
            ),
            aliases={"multiplier": "initial"},
        ),
    },
    synonyms={"full_jitter": "random_exponential"},
    joints={
        "combine": Joint(make=tenacity.wait_combine, operator="+"),
        "chain": Joint(make=tenacity.wait_chain),
    },
)

STOP = Grammar(
    noun="stop strategy",
    prefix="stop_",
    forms={
        "after_attempt": Form(
            make=lambda attempts: tenacity.stop_after_attempt(int(attempts)),
            parameters={"attempts": Unit.COUNT},
            required=1,
            aliases={"max_attempt_number": "attempts"},
        ),
        "after_delay": Form(
            make=tenacity.stop_after_delay, parameters={"max_delay": Unit.SECONDS}, required=1
        ),
        "before_delay": Form(
            make=tenacity.stop_before_delay, parameters={"max_delay": Unit.SECONDS}, required=1
        ),
        "never": Form(make=lambda: tenacity.stop_never, parameters={}),
    },
    joints={
        "any": Joint(make=tenacity.stop_any, operator="|"),
        "all": Joint(make=tenacity.stop_all, operator="&"),
    },
)
