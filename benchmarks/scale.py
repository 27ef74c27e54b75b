"""What 100,000 waiting runs take in one process on asyncio: memory, ending all at once, waking all at once.

    python benchmarks/scale.py            # 100,000 runs
    python benchmarks/scale.py --short    # 5,000

A run here is a whole one: started, told of a turn that met HTTP 429, and holding the wait that its provider
stated. Beside it stand bare holds of our clock, and tasks that sleep. Each kind is measured in a process of
its own, by the resident memory that it adds; every run has a turn and a failure of its own, as it would.
The clocks are moved forwards, so that nobody sits the hour out. All of it is work of one thread: seconds are
those of the processor, which other processes do not lengthen.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from measuring import Measured, Target, report

from continuity_core import Continuity, Deadline, Failure, StopReason, SystemClock, Turn
from continuity_core.engine.hold import hold
from continuity_core.engine.ticker import Ticker
from continuity_core.engine.waker import Waker

RUNS, RUNS_SHORT = 100_000, 5_000
AN_HOUR = 3600.0
SPREAD = 60.0
"""Seconds of the setting in the figure on stampedes."""
STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of memory that the process holds; where the system does not tell, the most that it ever held."""
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@attrs.define(eq=False)
class Crowd:
    """As many tasks as asked for, which all wait for one instant."""

    number: int
    shift: float = 0.0
    """Seconds by which the clocks were moved forwards."""
    waiting: list[Any] = attrs.field(factory=list)
    """What ends each task's wait: the task itself, its waker, or its run."""
    went_on: int = 0
    """How many tasks did."""
    first: float = 0.0
    """When the first one did, in seconds of the processor."""
    last: float = 0.0

    def one_goes_on(self) -> None:
        """A task's wait is over. The processor's clock is slow to ask: only the first and the last do."""
        self.went_on += 1
        if self.went_on == 1:
            self.first = time.process_time()
        if self.went_on == self.number:
            self.last = time.process_time()

    def wall(self) -> float:
        """Moved with ``shift``, as ``monotonic``."""
        return time.time() + self.shift

    def monotonic(self) -> float:
        """For the event loop's own sleepers, too."""
        return time.monotonic() + self.shift

    def clock(self) -> SystemClock:
        """The real clock on this time, with a ticker of its own."""
        return SystemClock(ticker=Ticker(wall=self.wall, monotonic=self.monotonic))

    def until(self) -> datetime:
        """The instant that all wait for, on a whole second."""
        return datetime.fromtimestamp(int(self.wall() + AN_HOUR), UTC)


Wait: TypeAlias = Callable[[], Awaitable[None]]


def sleepers(crowd: Crowd) -> tuple[Wait, Callable[[Any], object]]:
    """Tasks that sleep."""
    loop = asyncio.get_running_loop()
    loop.time = crowd.monotonic  # type: ignore[method-assign]
    end = loop.time() + AN_HOUR

    async def wait() -> None:
        crowd.waiting.append(asyncio.current_task())
        await asyncio.sleep(end - loop.time())
        crowd.one_goes_on()

    return wait, asyncio.Task.cancel


def holders(crowd: Crowd) -> tuple[Wait, Callable[[Any], object]]:
    """Holds of our clock, without a run."""
    clock, deadline = crowd.clock(), Deadline.at(crowd.until())

    async def wait() -> None:
        waker = Waker()
        crowd.waiting.append(waker)
        await hold(clock, deadline, waker)
        crowd.one_goes_on()

    return wait, lambda waker: waker.wake("abort")


def runs(crowd: Crowd, **settings: Any) -> tuple[Wait, Callable[[Any], object]]:
    """Whole runs of ours."""
    continuity = Continuity.from_settings(settings, installed=False, clock=crowd.clock())
    stated = {"retry-after": crowd.until().strftime("%a, %d %b %Y %H:%M:%S GMT")}

    async def wait() -> None:
        run = continuity.start_run()
        crowd.waiting.append(run)
        failure = Failure.from_text("Rate limit reached for requests", status=429, headers=stated)
        await run.turn_ended(Turn(stop_reason=StopReason.ERROR, failure=failure))
        crowd.one_goes_on()

    return wait, lambda run: run.abort()


KINDS = {"sleep": sleepers, "hold": holders, "run": runs}


async def measure_kind(kind: str, number: int) -> dict[str, float]:
    """All figures of one kind of waiting."""
    first = Crowd(number)
    wait, end = KINDS[kind](first)
    figures, tasks = await _start(first, wait)
    begun = time.process_time()
    for waiting in first.waiting:
        end(waiting)
    figures["end_calls_s"] = time.process_time() - begun
    await asyncio.gather(*tasks, return_exceptions=True)
    figures["all_ended_s"] = time.process_time() - begun

    second = Crowd(number)
    wait, _ = KINDS[kind](second)
    _, tasks = await _start(second, wait)
    second.shift = AN_HOUR * 1.01
    await asyncio.gather(*tasks)
    figures["woken_within_s"] = second.last - second.first
    return figures


async def _start(crowd: Crowd, wait: Wait) -> tuple[dict[str, float], list[asyncio.Task[None]]]:
    gc.collect()
    before, begun = resident(), time.process_time()
    tasks = [asyncio.ensure_future(wait()) for _ in range(crowd.number)]
    while len(crowd.waiting) < crowd.number:  # noqa: ASYNC110 - an event would be part of the figure
        await asyncio.sleep(0)
    taken = time.process_time() - begun
    gc.collect()
    added = resident() - before
    return {"bytes": added / crowd.number, "start_us": taken / crowd.number * 1e6}, tasks


async def busiest_second(number: int) -> dict[str, float]:
    """The share of all runs that ask in the same second, without the setting ``spread`` and with it."""
    return {
        "at_once": await _busiest_second(number),
        f"spread_{SPREAD:.0f}s": await _busiest_second(number, spread=SPREAD),
    }


async def _busiest_second(number: int, **settings: Any) -> float:
    crowd = Crowd(number)
    wait, end = runs(crowd, **settings)
    _, tasks = await _start(crowd, wait)
    ends = [run.status()["waiting"] for run in crowd.waiting]
    asked = Counter(int(datetime.fromisoformat(wait["since"]).timestamp() + wait["seconds"]) for wait in ends)
    for run in crowd.waiting:
        end(run)
    await asyncio.gather(*tasks)
    return asked.most_common(1)[0][1] / number


def in_a_fresh_process(kind: str, number: int) -> dict[str, float]:
    """The same, where nothing else has used the memory."""
    command = [sys.executable, __file__, "--kind", kind, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: round(value, 3) for name, value in json.loads(done.stdout).items()}


def measure(short: bool) -> Measured:
    """All kinds, beside each other."""
    number = RUNS_SHORT if short else RUNS
    found = {kind: in_a_fresh_process(kind, number) for kind in KINDS}
    busiest = in_a_fresh_process("stampede", number // 20)
    return measured(number, found, busiest)


def measured(number: int, found: dict[str, dict[str, float]], busiest: dict[str, float]) -> Measured:
    """The figures beside their targets; seconds are those of 100,000 runs, of which there may be a part."""
    run, bare, share = found["run"], found["sleep"], number / RUNS
    return Measured(
        targets=[
            Target(what="memory of a waiting run", measured=round(run["bytes"] / bare["bytes"], 2), target=3),
            Target(
                what="memory of a bare hold",
                measured=round(found["hold"]["bytes"] / bare["bytes"], 2),
                target=3,
            ),
            Target(
                what="100,000 runs woken within",
                measured=round(run["woken_within_s"] / share, 2),
                target=1,
                unit="s",
                known=6,
            ),
            Target(
                what="100,000 aborted: nothing more is requested",
                measured=round(run["end_calls_s"] / share, 2),
                target=2,
                unit="s",
            ),
            Target(
                what="100,000 aborted: every task is over",
                measured=round(run["all_ended_s"] / share, 2),
                target=2,
                unit="s",
                known=9,
            ),
        ],
        figures={"number": number, "kinds": found, "share_of_runs_in_the_busiest_second": busiest},
    )


if __name__ == "__main__":
    if "--kind" in sys.argv:
        logging.disable(logging.CRITICAL)
        kind, number = sys.argv[2:]
        task = busiest_second if kind == "stampede" else partial(measure_kind, kind)
        print(json.dumps(asyncio.run(task(int(number)))))
    else:
        sys.exit(report(measure, name="scale", about=str(__doc__).partition("\n")[0]))
