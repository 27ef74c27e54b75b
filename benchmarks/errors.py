"""How right and how fast the reader of provider errors is.

    python benchmarks/errors.py [--short] [--json OUT]    # the cost, beside its targets
    python benchmarks/errors.py cost [FILE.jsonl ...]
    python benchmarks/errors.py accuracy [FILE.jsonl ...]

The cases are ``tests/data/errors.jsonl`` and ``errors_more.jsonl``, or other files in their format.
``errors_compared.py`` asks other projects on the same cases.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from measuring import Measured, Target, report

from continuity_core.errors import Cause, Failure, classify

Case: TypeAlias = dict[str, Any]

DATA = Path(__file__).parent.parent / "tests" / "data"
CASES = [DATA / "errors.jsonl", DATA / "errors_more.jsonl"]
SOME_MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def read_cases(paths: Iterable[Path]) -> list[Case]:
    """The cases of some JSON lines."""
    cases: list[Case] = []
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            cases += [json.loads(line) for line in lines]
    return cases


def moment_of(case: Case) -> datetime:
    """The clock of the case."""
    now = case["wait"]["now"]
    return SOME_MOMENT if now is None else datetime.fromisoformat(now)


def failure_of(case: Case) -> Failure:
    """The case as this project is told of it."""
    return Failure.from_text(
        case["text"],
        status=case["status"],
        headers=case["headers"],
        body=case["body"],
        code=case.get("code"),
        exceptions=(case["exception"],) if case["exception"] else (),
    )


def verdict_on(case: Case) -> Cause:
    """What this project says."""
    return classify(failure_of(case), now=moment_of(case))


def wait_is_right(case: Case, seconds: float | None) -> bool:
    """Within 1 s of a stated duration, within 60 s of a stated instant; none where none is stated."""
    if case["wait"]["kind"] == "none":
        return seconds is None
    tolerance = 1 if case["wait"]["kind"] == "relative" else 60
    return seconds is not None and abs(seconds - case["wait"]["seconds"]) <= tolerance


def longest_wait(case: Case, cause: Cause) -> float | None:
    """The wait that this project would take."""
    return cause.guidance[0].wait_from(moment_of(case)) if cause.guidance else None


def accuracy(paths: list[Path]) -> None:
    """Labels and waits that are right, file by file, and every miss."""
    for path in paths:
        cases = read_cases([path])
        labels = stated = found = silent = invented = 0
        for case in cases:
            cause = verdict_on(case)
            seconds = longest_wait(case, cause)
            right = wait_is_right(case, seconds)
            labels += cause.kind == case["label"]
            if case["wait"]["kind"] == "none":
                silent += 1
                invented += not right
            else:
                stated += 1
                found += right
            if cause.kind != case["label"] or not right:
                wanted = f"{case['label']}, {case['wait']['seconds']} s"
                print(f"  miss {case['id']}: {cause.kind}, {seconds} s, where {wanted} is right")
        counts = f"labels {labels}/{len(cases)}, waits {found}/{stated}, invented waits {invented}/{silent}"
        print(f"{path.name}: {counts}")


def best_of(call: Callable[[], object], rounds: int) -> float:
    """The shortest of some rounds, in seconds of the processor: what the machine does besides only adds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


TYPICAL = (
    "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. "
    "Please try again in 644ms."
)
PUMPS = {
    "prose": TYPICAL + " ",
    "JSON": '{"error":{"message":"Rate limit reached","type":"tokens"}} ',
    "digits": "1",
    "escapes": '\\"',
    "open tags": "<p ",
    "cues": "try again in ",
    "names": "a=1 ",
}
MEGABYTE = 10**6


def read(failure: Failure, now: datetime = SOME_MOMENT) -> Cause:
    """Classify, with every argument by position."""
    return classify(failure, now=now)


def read_kept(text: str) -> Cause:
    """Take a text of any length as a host does, which keeps its head and its tail, and classify it."""
    return classify(Failure.from_text(text), now=SOME_MOMENT)


def cost_of_cases(paths: list[Path], rounds: int) -> dict[str, float]:
    """Microseconds for one case, and how many are read in a second."""
    failures = [(failure_of(case), moment_of(case)) for case in read_cases(paths)]
    times = sorted(best_of(partial(read, failure, now), rounds) * 1e6 for failure, now in failures)
    return {
        "median_us": round(statistics.median(times), 1),
        "p95_us": round(times[int(len(times) * 0.95)], 1),
        "cases_per_second": round(1e6 / statistics.mean(times)),
    }


def cost_of_hostile(pump: str, rounds: int) -> dict[str, float]:
    """Milliseconds for a text made to be slow, of one megabyte and of two; and as a host keeps it."""
    one, two = (pump * (size // len(pump)) for size in (MEGABYTE, 2 * MEGABYTE))
    first, second = (best_of(partial(read, Failure(message=text)), rounds) for text in (one, two))
    return {
        "one_megabyte_ms": round(first * 1e3, 1),
        "two_to_one": round(second / first, 2),
        "one_megabyte_by_from_text_ms": round(best_of(partial(read_kept, one), rounds) * 1e3, 1),
    }


def cost(paths: list[Path], *, short: bool = False) -> dict[str, Any]:
    """Time for one text, for large ones, and for texts made to be slow."""
    typical = best_of(partial(read, Failure.from_text(TYPICAL, status=429)), 200 if short else 2000)
    return {
        "typical_us": round(typical * 1e6, 1),
        "cases": cost_of_cases(paths, 3 if short else 15),
        "hostile": {name: cost_of_hostile(pump, 2 if short else 5) for name, pump in PUMPS.items()},
    }


def measure(short: bool) -> Measured:
    """The costs, beside their targets."""
    figures = cost(CASES, short=short)
    worst = max(hostile["two_to_one"] for hostile in figures["hostile"].values())
    return Measured(
        targets=[
            Target(what="reading a typical error", measured=figures["typical_us"], target=100, unit="µs"),
            Target(what="reading 2 MB of a hostile text, to 1 MB", measured=worst, target=2.3),
        ],
        figures=figures,
    )


def main() -> int:
    """Measure the cost as every script does, or what was asked for; the result is the exit status."""
    name, paths = "".join(sys.argv[1:2]), [Path(argument) for argument in sys.argv[2:]] or CASES
    if name == "accuracy":
        accuracy(paths)
    elif name == "cost":
        print(json.dumps(cost(paths), indent=1))
    elif name == "" or name.startswith("-"):
        return report(measure, name="errors", about=str(__doc__).partition("\n")[0])
    else:
        sys.exit("usage: python benchmarks/errors.py [accuracy|cost [FILE.jsonl ...]] [--short] [--json OUT]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
