"""The results of a suite as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.running import Result, Status


def as_json(host: str, file: str, observe: bool, results: Sequence[Result]) -> dict[str, Any]:
    """The results as JSON; the documentation has the keys."""
    counts = {status: sum(result.status is status for result in results) for status in Status}
    return {
        "host": host,
        "file": file,
        "observe": observe,
        "summary": {
            "pass": counts[Status.PASS],
            "fail": counts[Status.FAIL],
            "unsupported": counts[Status.UNSUPPORTED],
        },
        "results": [_result_json(result) for result in results],
    }


def _result_json(result: Result) -> dict[str, Any]:
    return {
        "name": result.scenario.name,
        "dialect": result.mode.dialect,
        "stream": result.mode.stream,
        "status": result.status.value.lower(),
        "reasons": list(result.reasons),
        "seconds": round(result.seconds, 3),
        "observed": None if result.observed is None else _observed_json(result.observed),
    }


def _observed_json(observed: Observed) -> dict[str, Any]:
    last = observed.results[-1] if observed.results else None
    return {
        "requests": len(observed.requests),
        "resumes": observed.resumes,
        "waits": [wait.seconds for wait in observed.waits],
        "ended_waits": list(observed.ended_waits),
        "tools_run": dict(observed.tools_run),
        "final": None if last is None else {**attrs.asdict(last), "cause": observed.cause},
    }
