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
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from measuring import Measured, Target, percentile, report

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
    """The shortest of some rounds, in seconds of this process: what the machine does besides only adds."""
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
    "one word": "a",
}
MEGABYTE = 10**6
TYPICAL_TARGET = 100
"""Microseconds for one typical text."""
GROWTH_TARGET = 2.3
"""How many times the time of 1 MB may be what 2 MB take."""


def read(failure: Failure, now: datetime = SOME_MOMENT) -> Cause:
    """Classify, with every argument by position."""
    return classify(failure, now=now)


def read_kept(text: str) -> Cause:
    """Take a text of any length as a host does, which keeps its head and its tail, and classify it."""
    return classify(Failure.from_text(text), now=SOME_MOMENT)


def cost(paths: Sequence[Path], *, short: bool = False) -> Measured:
    """Time for one text, for every case, for large texts, and for texts made to be slow."""
    cases = read_cases(paths)[:: 10 if short else 1]
    one = partial(best_of, partial(read, Failure.from_text(TYPICAL, status=429)), 200 if short else 700)
    typical = [one()]  # again between the others: a machine may be slow for seconds
    times = sorted(
        (best_of(partial(read, failure_of(case), moment_of(case)), 5 if short else 15) * 1e6, case["id"])
        for case in cases
    )
    each = [taken for taken, _ in times]
    typical.append(one())
    made = {name: grown(pump, short=short) for name, pump in PUMPS.items()}
    typical.append(one())
    return Measured(
        targets=[
            Target(
                what="a typical error text",
                measured=round(min(typical) * 1e6),
                target=TYPICAL_TARGET,
                unit="µs",
            ),
            Target(
                what="2 MB of error text beside 1 MB, at worst",
                measured=max(row["growth"] for row in made.values()),
                target=GROWTH_TARGET,
            ),
        ],
        figures={
            "cases": len(cases),
            "microseconds_per_case": {
                "median": round(statistics.median(each)),
                "p95": round(percentile(each, 95)),
                "slowest": [{"id": name, "microseconds": round(taken)} for taken, name in times[-5:]],
            },
            "cases_per_second": round(1e6 / statistics.fmean(each)),
            "made_to_be_slow": made,
        },
    )


def grown(pump: str, *, short: bool) -> dict[str, float]:
    """A fragment repeated to two sizes, of which all is kept on purpose, and as a host keeps it."""
    size = MEGABYTE // 8 if short else MEGABYTE
    one, two = (pump * (length // len(pump)) for length in (size, 2 * size))
    first, second = (best_of(partial(read, Failure(message=text)), 5) for text in (one, two))
    kept = best_of(partial(read_kept, one), 5)
    return {
        "milliseconds": round(first * 1e3, 1),
        "milliseconds_twice_as_long": round(second * 1e3, 1),
        "growth": round(second / first, 2),
        "milliseconds_as_kept": round(kept * 1e3, 2),
    }


def main() -> int:
    """Run one measurement."""
    paths = [Path(argument) for argument in sys.argv[2:]] or CASES
    if sys.argv[1:2] == ["accuracy"]:
        accuracy(paths)
        return 0
    return report(
        lambda short: cost(CASES, short=short), name="errors", about=str(__doc__).partition("\n")[0]
    )


if __name__ == "__main__":
    sys.exit(main())
