"""A seeded model of what goes wrong in an agent's run, for ``runs_saved.py``.

A task takes some steps: each is a model turn with a tool call, the last one is the answer. Every request for
a step draws what happens to it. The rates are settings, not measurements of any provider: one public study
saw stream errors in 25 of one model's 62 runs; public benchmark reports lost 13 of 445 trials to the output
cap and 36 of 730 to HTTP 429. The defaults bring a run of twelve steps near to these, streams at half.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum

import attrs


class Fault(StrEnum):
    """What happens to one request."""

    NONE = "none"
    CAP_IN_TEXT = "cap in text"
    CAP_IN_CALL = "cap in a call"
    CUT_STREAM = "cut stream"
    EMPTY = "empty answer"
    THROTTLE = "throttle"
    OVERLOAD = "overload"
    USAGE_LIMIT = "usage limit"
    TOOL_TAIL = "tool tail"
    PERMANENT = "permanent"
    ABORT = "abort"


RATES: Mapping[Fault, float] = {
    Fault.CAP_IN_TEXT: 0.003,
    Fault.CAP_IN_CALL: 0.003,
    Fault.CUT_STREAM: 0.015,
    Fault.EMPTY: 0.003,
    Fault.THROTTLE: 0.005,
    Fault.OVERLOAD: 0.005,
    Fault.USAGE_LIMIT: 0.002,
    Fault.TOOL_TAIL: 0.002,
    Fault.PERMANENT: 0.001,
    Fault.ABORT: 0.001,
}
"""Chance of each fault in one request."""

THROTTLE_SECONDS = 20
USAGE_LIMIT_SECONDS = 2 * 3600
OVERRUN_AGAIN = 0.7
"""In the second model of a re-roll: the chance that a step which overran the cap overruns it again."""
SEEN_PARTIAL = 0.35
"""The same where the model is shown what it had written so far."""
PARSES = 0.5
"""The share of cut calls whose arguments happen to parse: frameworks run those."""
TOKENS = 500
"""Output tokens of a turn."""
CAP_TOKENS = 4000
"""Output tokens of a turn that was cut at the cap."""
TURN_SECONDS = 15.0
"""Virtual time of a model turn."""


@attrs.frozen
class Drawn:
    """What one request brings."""

    fault: Fault
    parses: bool = False
    """The cut call's arguments happen to parse."""
    tokens: int = TOKENS


@attrs.define
class Task:
    """One task, and the provider's luck with it. The same seed brings the same luck to every strategy."""

    seed: int
    steps: int
    overruns_again: bool = False
    """A step that overran the output cap tends to do so again."""
    drawn: dict[tuple[int, int], Drawn] = attrs.field(factory=dict)
    asked: dict[int, int] = attrs.field(factory=dict)
    requests: int = 0
    tokens: int = 0
    limited_until: float = 0.0
    """Virtual time at which the usage window opens again."""
    dead: bool = False
    """A permanent error or an abort came: every later request is one too many."""
    requests_when_dead: int = 0

    @classmethod
    def of(cls, seed: int, *, overruns_again: bool) -> Task:
        """A task of 4 to 20 steps."""
        return cls(seed=seed, steps=random.Random(seed).randint(4, 20), overruns_again=overruns_again)

    def now(self, slept: float) -> float:
        """Virtual seconds since the task began, of which so many were slept between requests."""
        return slept + self.requests * TURN_SECONDS

    def request(
        self, step: int, slept: float, *, sees_partial: bool = False, other_provider: bool = False
    ) -> Drawn:
        """Ask for a step. ``other_provider`` is one whose usage window is its own."""
        self.requests += 1
        if self.dead:
            self.requests_when_dead += 1
            return Drawn(Fault.PERMANENT, tokens=0)
        if self.now(slept) < self.limited_until and not other_provider:
            return Drawn(Fault.USAGE_LIMIT, tokens=0)
        number = self.asked[step] = self.asked.get(step, 0) + 1
        drawn = self._draw(step, number, sees_partial=sees_partial)
        self.tokens += drawn.tokens
        if drawn.fault is Fault.USAGE_LIMIT:
            self.limited_until = self.now(slept) + USAGE_LIMIT_SECONDS
        self.dead = drawn.fault in (Fault.PERMANENT, Fault.ABORT)
        return drawn

    def _draw(self, step: int, number: int, *, sees_partial: bool) -> Drawn:
        luck = random.Random(f"{self.seed}/{step}/{number}/{self.overruns_again}")
        before = self.drawn.get((step, number - 1))
        if self.overruns_again and before is not None and before.fault in CAPS:
            again = SEEN_PARTIAL if sees_partial else OVERRUN_AGAIN
            fault = before.fault if luck.random() < again else Fault.NONE
        else:
            fault = luck.choices([*RATES, Fault.NONE], [*RATES.values(), 1 - sum(RATES.values())])[0]
        last = step == self.steps - 1
        if last and fault in (Fault.CAP_IN_CALL, Fault.TOOL_TAIL):
            fault = Fault.CAP_IN_TEXT if fault is Fault.CAP_IN_CALL else Fault.NONE
        tokens = CAP_TOKENS if fault in CAPS else 0 if fault in REFUSED else TOKENS
        drawn = Drawn(fault, parses=luck.random() < PARSES, tokens=tokens)
        self.drawn[(step, number)] = drawn
        return drawn


CAPS = (Fault.CAP_IN_TEXT, Fault.CAP_IN_CALL)
REFUSED = (Fault.THROTTLE, Fault.OVERLOAD, Fault.USAGE_LIMIT, Fault.PERMANENT)
"""Refused before the body: what clients retry by themselves."""


@attrs.define
class Result:
    """How one run ended."""

    finished: bool = False
    """The whole answer came, and no truncated tool ran."""
    wrong_success: bool = False
    """Something that is no whole answer was returned as one."""
    truncated_tools: int = 0
    slept: float = 0.0
    """Virtual seconds between requests."""
