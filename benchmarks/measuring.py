"""What the measurements share: their targets, the short form, and how figures are written down.

Every script prints JSON with ``targets``, what the design asks for beside what was measured, and ``figures``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

FAR_OVER = 2.0
"""The short form fails where a figure is more than this times its target, or times what is known where the
target is missed: shared machines are noisy."""


@attrs.frozen(kw_only=True)
class Target:
    """One figure beside what the design asks for; smaller is better."""

    what: str
    measured: float
    target: float
    unit: str = "times"
    known: float | None = None
    """Where the target is missed for a reason that the documentation gives: what is usual."""

    @property
    def is_met(self) -> bool:
        """Whether the target is kept."""
        return self.measured <= self.target

    @property
    def is_far_over(self) -> bool:
        """Whether the short form fails."""
        return self.measured > max(self.target, self.known or 0) * FAR_OVER

    def __str__(self) -> str:
        state = "met" if self.is_met else "MISSED"
        return f"{self.what}: {self.measured:g} {self.unit}".rstrip() + f", target {self.target:g} ({state})"

    def to_dict(self) -> dict[str, object]:
        """As JSON holds it."""
        return {**attrs.asdict(self), "met": self.is_met}


@attrs.frozen(kw_only=True)
class Measured:
    """What one script found."""

    targets: Sequence[Target]
    figures: Mapping[str, Any]

    def better_of(self, other: Measured) -> Measured:
        """For each target the smaller of two measurements: what else a machine does only adds."""
        pairs = zip(self.targets, other.targets, strict=True)
        best = [min(pair, key=lambda target: target.measured) for pair in pairs]
        return Measured(targets=best, figures=self.figures)


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median over the rounds of one time to the other, measured side by side in each round."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


ADAPTER_TARGET = 1.25
"""A whole adapter, beside the framework's own hook that does nothing."""


def beside_nothing(
    what: str, times: Mapping[str, Sequence[float]], pairs: Mapping[str, tuple[str, str]]
) -> Measured:
    """The figures of an adapter: microseconds a turn by agent and round, and which of them are compared."""
    return Measured(
        targets=[
            Target(
                what=f"{what}{way}",
                measured=round(median_ratio(times[ours], times[theirs]), 2),
                target=ADAPTER_TARGET,
            )
            for way, (ours, theirs) in pairs.items()
        ],
        figures={
            "microseconds_per_turn": {
                name: {"median": round(statistics.median(taken)), "p99": round(percentile(taken, 99))}
                for name, taken in times.items()
            }
        },
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """Of at least two values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def written(name: str, measured: Measured, *, short: bool) -> dict[str, Any]:
    """The whole JSON of a measurement."""
    return {
        "command": f"python benchmarks/{name}.py" + (" --short" if short else ""),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "targets": [target.to_dict() for target in measured.targets],
        "figures": dict(measured.figures),
    }


def report(
    measure: Callable[[bool], Measured],
    *,
    name: str,
    about: str,
    arguments: Sequence[str] | None = None,
) -> int:
    """The command line of a script: measure, print, write; the result is the exit status.

    The short form measures again where a figure is far over its target, and fails where it still is. The long
    form only reports.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--short", action="store_true", help="fewer rounds; exit 1 where a figure is far over its target"
    )
    parser.add_argument("--json", metavar="OUT", help="write the figures there, too")
    chosen = parser.parse_args(arguments)
    measured = measure(chosen.short)
    if chosen.short and any(target.is_far_over for target in measured.targets):
        measured = measured.better_of(measure(True))
    text = json.dumps(written(name, measured, short=chosen.short), indent=1, ensure_ascii=False)
    if chosen.json:
        Path(chosen.json).write_text(text + "\n", encoding="utf-8")
    print(text)
    for target in measured.targets:
        print(target, file=sys.stderr)
    return int(chosen.short and any(target.is_far_over for target in measured.targets))
