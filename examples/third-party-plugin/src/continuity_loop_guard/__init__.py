"""End a run that calls the same tool with the same arguments again and again."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from continuity_core import (
    Boundary,
    Decision,
    Halt,
    Order,
    Proposal,
    Stage,
    Tighten,
    TurnFacts,
    flag,
    hookimpl,
    names,
    option,
)

__all__ = ["LoopGuard", "LoopGuardOptions"]

WRITTEN_FOR = (0, 1)
"""The hook specification that this was written and tested for."""

MOST_TURNS = 16
"""What ``boundary.recent`` holds."""


def _turns(value: object) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= MOST_TURNS:
        raise ValueError(f"takes a whole number from 2 to {MOST_TURNS}, not {value!r}")
    return value


@attrs.frozen(kw_only=True)
class LoopGuardOptions:
    """What counts as a loop, and what becomes of the run."""

    turns: int = option(
        4,
        read=_turns,
        tighten=Tighten.LOWER,
        help="Turns in a row with the same calls that make a loop; from 2 to 16.",
    )
    exclude: tuple[str, ...] = option(
        (), read=names, help="Tools that may be called the same way for ever, e.g. one that polls."
    )
    end_run: bool = option(
        True, read=flag, help="Ask the host to end the run; false: only no further resume in this run."
    )


@attrs.frozen(eq=False)
class LoopGuard:
    """Halts a run whose last turns all made the same calls."""

    Options = LoopGuardOptions
    spec_version = WRITTEN_FOR
    order = Order(stage=Stage.GUARD, runs_after=("run-limits",))

    options: LoopGuardOptions = attrs.field(factory=LoopGuardOptions)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        last = boundary.recent[-self.options.turns :]
        if len(last) < self.options.turns or not all(_calls(facts) == _calls(last[0]) for facts in last):
            return None
        tools = last[0].tools
        if not tools or set(tools) <= set(self.options.exclude):
            return None
        reason = (
            f"{len(last)} turns in a row called {', '.join(dict.fromkeys(tools))} with the same arguments"
        )
        return [Halt(reason, end_run=self.options.end_run)]


def _calls(facts: TurnFacts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return facts.tools, facts.argument_digests
