"""How many runs come through, with what people use today and with continuity.

    python benchmarks/runs_saved.py            # 4,000 tasks a row
    python benchmarks/runs_saved.py --short    # 200

Every strategy meets the same tasks with the same luck (``fault_model.py``). Rows of continuity run the real
engine with the bundled plugins on virtual time; the others are modelled on their documented defaults
(``strategies.py``), and ``over_http.py`` holds both against the real clients and frameworks.

What this cannot show: real rates of faults, which differ by provider and hour; whether a re-rolled answer is
as good as an uncut one; and how a real model goes on from a partial. The two models of a re-roll span what is
plausible: independent luck, and a step that keeps overrunning the same cap.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Mapping
from typing import Any

import anyio
import attrs
from fault_model import RATES, TOKENS, Result, Task
from measuring import Measured, Target, report
from strategies import OTHERS, play_continuity, play_other

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock

TASKS, TASKS_SHORT = 4_000, 200
INDEPENDENT, OVERRUN_AGAIN = "independent", "overrun again"
CONTINUITY: Mapping[str, Mapping[str, Any]] = {
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
    requests_when_dead: int = 0
    extra_requests: int = 0
    """Beyond one a step, in the runs that finished."""
    extra_tokens: int = 0

    def add(self, task: Task, result: Result) -> None:
        """Count one run."""
        self.tasks += 1
        self.wrong_successes += result.wrong_success
        self.truncated_tools += result.truncated_tools
        self.requests += task.requests
        self.tokens += task.tokens
        self.seconds += task.now(result.slept)
        self.requests_when_dead += task.requests_when_dead
        if result.finished:
            self.finished += 1
            self.extra_requests += task.requests - task.steps
            self.extra_tokens += task.tokens - task.steps * TOKENS

    def to_dict(self) -> dict[str, object]:
        """The row as data; shares with their 95 % intervals after Wilson."""
        return {
            "strategy": self.strategy,
            "rerolls": self.rerolls,
            "tasks": self.tasks,
            "finished": round(self.finished / self.tasks, 4),
            "finished_95": wilson(self.finished, self.tasks),
            "wrong_successes": round(self.wrong_successes / self.tasks, 4),
            "wrong_successes_95": wilson(self.wrong_successes, self.tasks),
            "truncated_tools_run": self.truncated_tools,
            "requests_per_task": round(self.requests / self.tasks, 2),
            "output_tokens_per_task": round(self.tokens / self.tasks),
            "extra_requests_per_finished_run": round(self.extra_requests / max(1, self.finished), 2),
            "extra_output_tokens_per_finished_run": round(self.extra_tokens / max(1, self.finished)),
            "minutes_per_task": round(self.seconds / self.tasks / 60, 2),
            "requests_after_permanent_or_abort": self.requests_when_dead,
        }


def wilson(hits: int, of: int) -> list[float]:
    """The 95 % interval of a share."""
    z, share = 1.96, hits / of
    middle = share + z * z / (2 * of)
    reach = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    bounds = (middle - reach) / (1 + z * z / of), (middle + reach) / (1 + z * z / of)
    return [round(abs(bound), 4) for bound in bounds]


async def play(tasks: int) -> list[Row]:
    """Play every strategy under both models of a re-roll."""
    rows = []
    for rerolls in (INDEPENDENT, OVERRUN_AGAIN):
        overruns_again = rerolls == OVERRUN_AGAIN
        for name, attempts in OTHERS.items():
            row = Row(name, rerolls)
            for seed in range(tasks):
                task = Task.of(seed, overruns_again=overruns_again)
                row.add(task, play_other(task, attempts))
            rows.append(row)
        for name, settings in CONTINUITY.items():
            row = Row(name, rerolls)
            clock = VirtualClock()
            continuity = Continuity.from_settings(settings, installed=False, clock=clock)
            for seed in range(tasks):
                task = Task.of(seed, overruns_again=overruns_again)
                row.add(task, await play_continuity(task, continuity, clock.monotonic()))
            rows.append(row)
    return rows


def measure(short: bool) -> Measured:
    """Every row."""
    logging.disable(logging.CRITICAL)
    tasks = TASKS_SHORT if short else TASKS
    rows = anyio.run(play, tasks)
    ours = [row for row in rows if row.strategy in CONTINUITY]
    counted = {
        "requests after a permanent error or an abort": sum(row.requests_when_dead for row in ours),
        "truncated tools run": sum(row.truncated_tools for row in ours),
    }
    return Measured(
        targets=[Target(what=what, measured=count, target=0, unit="") for what, count in counted.items()],
        figures={
            "tasks": tasks,
            "rates_per_request": {fault.value: rate for fault, rate in RATES.items()},
            "rows": [row.to_dict() for row in rows],
        },
    )


if __name__ == "__main__":
    sys.exit(report(measure, name="runs_saved", about=str(__doc__).partition("\n")[0]))
