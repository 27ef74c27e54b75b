"""Every public case by its id: the kind, the wait, and no wait where none was stated."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from continuity_core.errors import Cause, Failure, classify

DATA = Path(__file__).parent.parent / "data"
SOME_MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def read_cases(name: str) -> list[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


CASES = read_cases("errors.jsonl") + read_cases("errors_more.jsonl")
BY_ID = {case["id"]: case for case in CASES}


def moment_of(case: dict[str, Any]) -> datetime:
    now = case["wait"]["now"]
    return SOME_MOMENT if now is None else datetime.fromisoformat(now)


def verdict_on(case: dict[str, Any]) -> Cause:
    failure = Failure.from_text(
        case["text"],
        status=case["status"],
        headers=case["headers"],
        body=case["body"],
        code=case.get("code"),
        exceptions=(case["exception"],) if case["exception"] else (),
    )
    return classify(failure, now=moment_of(case))


def test_every_case_has_its_own_id() -> None:
    assert len(BY_ID) == len(CASES) >= 800


@pytest.mark.parametrize("name", BY_ID)
def test_the_kind_and_the_stated_wait_are_read_and_no_wait_is_invented(name: str) -> None:
    case = BY_ID[name]
    cause = verdict_on(case)
    assert cause.kind == case["label"], f"{cause.rule}: {cause.why}"
    assert cause.rule
    assert is_a_sentence(cause.why)
    if case["wait"]["kind"] == "none":
        assert cause.guidance == ()
    else:
        assert cause.guidance, cause.why
        seconds = cause.guidance[0].wait_from(moment_of(case))
        tolerance = 1 if case["wait"]["kind"] == "relative" else 60
        assert seconds == pytest.approx(case["wait"]["seconds"], abs=tolerance)


def is_a_sentence(text: str) -> bool:
    return text.endswith(".") and "\n" not in text and len(text) <= 300


def test_the_longest_wait_comes_first() -> None:
    text = "Too many requests. Please retry in 20s. The bucket resets in 5 minutes."
    cause = classify(Failure.from_text(text, status=429), now=SOME_MOMENT)
    assert [hint.seconds for hint in cause.guidance] == [300.0, 20.0]
