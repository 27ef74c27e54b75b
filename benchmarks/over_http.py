"""The tasks of ``runs_saved.py`` over real HTTP with the real clients and frameworks, and whether both agree.

    python benchmarks/over_http.py            # 200 tasks a row, a few minutes
    python benchmarks/over_http.py --short    # 15

Needs the extra ``bench``. The provider is on loopback, fails byte by byte as the task's luck has it, and the
waits pass on a virtual clock. Each task is then played by the simulation with the same luck: the outcome, the
truncated tools that ran, and the number of requests have to be the same. Odd tasks overrun the cap again.

The last two rows have no simulation of their own: they are the adapters, beside ``continuity, defaults``.
"""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Any

import anyio
import attrs
from fault_model import Result, Task
from http_players import Player, players
from http_provider import ANSWER, Play, Slept, UnluckyProvider
from measuring import Measured, Target, report
from runs_saved import CONTINUITY
from strategies import OTHERS, play_continuity, play_other

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock

TASKS, TASKS_SHORT = 200, 15
LIKE_DEFAULTS = ("continuity in LangChain", "continuity in pydantic-ai")


@attrs.frozen
class Outcome:
    """What of a play has to agree."""

    finished: bool
    wrong_success: bool
    truncated_tools: int
    requests: int
    requests_when_dead: int

    @classmethod
    def of(cls, task: Task, result: Result) -> Outcome:
        """From a played task."""
        return cls(
            result.finished,
            result.wrong_success,
            result.truncated_tools,
            task.requests,
            task.requests_when_dead,
        )


def task_of(seed: int) -> Task:
    """The task of a number."""
    return Task.of(seed, overruns_again=seed % 2 == 1)


async def really(seed: int, player: Player, provider: UnluckyProvider, slept: Slept) -> Outcome:
    """Play a task over HTTP."""
    play = provider.playing = Play(task_of(seed), slept)
    result = Result()
    with anyio.CancelScope() as scope:
        play.abort = scope.cancel
        try:
            text = await player(play)
        except Exception:
            pass
        else:
            result.finished = text == ANSWER and not play.truncated_tools
            result.wrong_success = not result.finished
    result.truncated_tools = play.truncated_tools
    return Outcome.of(play.task, result)


async def simulated(seed: int, row: str) -> Outcome:
    """Play the same task as ``runs_saved.py`` does."""
    task = task_of(seed)
    if row in OTHERS:
        return Outcome.of(task, play_other(task, OTHERS[row]))
    settings = CONTINUITY.get(row, {})
    clock = VirtualClock()
    continuity = Continuity.from_settings(settings, installed=False, clock=clock)
    return Outcome.of(task, await play_continuity(task, continuity, clock.monotonic()))


async def play_all(tasks: int) -> list[dict[str, Any]]:
    """A row for each player."""
    slept = Slept()
    rows = []
    provider = UnluckyProvider()
    async with provider:
        with slept.in_place_of_sleeping():
            for name, player in players(provider.base_url, slept, CONTINUITY).items():
                provider.play(())
                real = [await really(seed, player, provider, slept) for seed in range(tasks)]
                thought = [await simulated(seed, name) for seed in range(tasks)]
                rows.append(row_of(name, real, thought, provider.violations))
                print(f"{name}: {rows[-1]}", file=sys.stderr)
    return rows


def row_of(name: str, real: list[Outcome], thought: list[Outcome], violations: list[str]) -> dict[str, Any]:
    """Both, beside each other."""
    differ = [seed for seed, pair in enumerate(zip(real, thought, strict=True)) if pair[0] != pair[1]]
    return {
        "strategy": name,
        "tasks": len(real),
        "finished": sum(outcome.finished for outcome in real),
        "finished_simulated": sum(outcome.finished for outcome in thought),
        "wrong_successes": sum(outcome.wrong_success for outcome in real),
        "truncated_tools_run": sum(outcome.truncated_tools for outcome in real),
        "requests": sum(outcome.requests for outcome in real),
        "requests_after_permanent_or_abort": sum(outcome.requests_when_dead for outcome in real),
        "requests_that_a_provider_would_refuse": len(violations),
        "tasks_that_differ": [
            {"task": seed, "real": attrs.asdict(real[seed]), "simulated": attrs.asdict(thought[seed])}
            for seed in differ
        ],
    }


def measure(short: bool) -> Measured:
    """All rows."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    rows = anyio.run(play_all, TASKS_SHORT if short else TASKS)
    ours = [row for row in rows if row["strategy"].startswith("continuity")]

    def of_ours(key: str) -> int:
        return sum(row[key] for row in ours)

    differ = sum(len(row["tasks_that_differ"]) for row in rows if row["strategy"] not in LIKE_DEFAULTS)
    return Measured(
        targets=[
            Target(
                what="requests after a permanent error or an abort",
                measured=of_ours("requests_after_permanent_or_abort"),
                target=0,
                unit="",
            ),
            Target(what="truncated tools run", measured=of_ours("truncated_tools_run"), target=0, unit=""),
            Target(
                what="share of tasks in which simulation and reality differ",
                measured=round(100 * differ / sum(row["tasks"] for row in rows), 2),
                target=1,
                unit="%",
            ),
        ],
        figures={"rows": rows},
    )


if __name__ == "__main__":
    sys.exit(report(measure, name="over_http", about=str(__doc__).partition("\n")[0]))
