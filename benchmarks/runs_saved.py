"""How many runs come through, with what people use today and with continuity.

    python benchmarks/runs_saved.py                  # 4,000 tasks a row
    python benchmarks/runs_saved.py --tasks 500 --json OUT --markdown

Every strategy meets the same tasks with the same luck (``fault_model.py``). Rows of continuity run the real
engine with the bundled plugins on virtual time; the others are modelled on their documented defaults
(``strategies.py``).

What this cannot show: real rates of faults, which differ by provider and hour; whether a re-rolled answer is
as good as an uncut one; and how a real model goes on from a partial. The two models of a re-roll span what is
plausible: independent luck, and a step that keeps overrunning the same cap.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Sequence

import anyio
import attrs
from fault_model import RATES, Result, Task
from strategies import OTHERS, play_continuity, play_other

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock

CONTINUITY = {
    "continuity, defaults": {},
    "continuity, partial-checkpoint": {"allow_injection": ["partial-checkpoint"]},
}


@attrs.define
class Row:
    """One strategy over all tasks."""

    strategy: str
    rerolls: str
    tasks: int = 0
    finished: int = 0
    wrong_successes: int = 0
    truncated_tools: int = 0
    requests: int = 0
    tokens: int = 0
    seconds: float = 0.0
    steps: int = 0
    requests_when_dead: int = 0

    def add(self, task: Task, result: Result) -> None:
        """Count one run."""
        self.tasks += 1
        self.finished += result.finished
        self.wrong_successes += result.wrong_success
        self.truncated_tools += result.truncated_tools
        self.requests += task.requests
        self.tokens += task.tokens
        self.seconds += result.seconds
        self.steps += task.steps
        self.requests_when_dead += task.requests_when_dead

    def to_dict(self) -> dict[str, object]:
        """The row as data; shares with their 95 % intervals after Wilson."""
        low, high = wilson(self.finished, self.tasks)
        return {
            "strategy": self.strategy,
            "rerolls": self.rerolls,
            "tasks": self.tasks,
            "finished": round(self.finished / self.tasks, 4),
            "finished_95": [round(low, 4), round(high, 4)],
            "wrong_successes": round(self.wrong_successes / self.tasks, 4),
            "truncated_tools_run": self.truncated_tools,
            "requests_per_task": round(self.requests / self.tasks, 2),
            "output_tokens_per_task": round(self.tokens / self.tasks),
            "hours_per_task": round(self.seconds / self.tasks / 3600, 3),
            "requests_after_permanent_or_abort": self.requests_when_dead,
        }


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, share = 1.96, hits / of
    middle = share + z * z / (2 * of)
    reach = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - reach) / (1 + z * z / of), (middle + reach) / (1 + z * z / of)


async def play(tasks: int) -> list[Row]:
    """Play every strategy under both models of a re-roll."""
    rows = []
    for overruns_again in (False, True):
        rerolls = "overrun again" if overruns_again else "independent"
        for name, attempts in OTHERS.items():
            row = Row(name, rerolls)
            for seed in range(tasks):
                task = Task.of(seed, overruns_again=overruns_again)
                row.add(task, play_other(task, attempts))
            rows.append(row)
        for name, settings in CONTINUITY.items():
            row = Row(name, rerolls)
            clock = VirtualClock()
            continuity = Continuity.from_settings(settings, clock=clock)
            for seed in range(tasks):
                task = Task.of(seed, overruns_again=overruns_again)
                row.add(task, await play_continuity(task, continuity, clock.monotonic()))
            rows.append(row)
    return rows


def markdown(rows: Sequence[Row]) -> str:
    """The table of the README."""
    lines = [
        "| | runs finished | wrong successes | truncated tools run | requests a task | too late |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        data = row.to_dict()
        low, high = (f"{share:.1%}" for share in data["finished_95"])  # type: ignore[attr-defined]
        lines.append(
            f"| {row.strategy} | {data['finished']:.1%} ({low}–{high}) | {data['wrong_successes']:.1%} "
            f"| {row.truncated_tools} | {data['requests_per_task']} | {row.requests_when_dead} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and print; exits 1 where continuity sent a request after a permanent error or an abort."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=4_000, help="tasks a row")
    parser.add_argument("--json", metavar="OUT", help="write the figures there")
    parser.add_argument("--markdown", action="store_true", help="print tables instead of JSON")
    chosen = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    rows = anyio.run(play, chosen.tasks)
    figures = {
        "tasks": chosen.tasks,
        "rates_per_request": {fault.value: rate for fault, rate in RATES.items()},
        "rows": [row.to_dict() for row in rows],
    }
    if chosen.markdown:
        for rerolls in ("independent", "overrun again"):
            print(f"Re-rolls: {rerolls}\n\n{markdown([row for row in rows if row.rerolls == rerolls])}\n")
    else:
        print(json.dumps(figures, indent=1))
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as out:
            json.dump(figures, out, indent=1)
    late = sum(row.requests_when_dead for row in rows if row.strategy in CONTINUITY)
    if late:
        print(f"continuity sent {late} requests after a permanent error or an abort", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
