"""The same error behind what programs print around it: nothing changes."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from continuity_core.errors import CauseKind, Failure, classify

CORPUS = Path(__file__).parent.parent / "data" / "errors.jsonl"
SOME_MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)

WRAPPERS: dict[str, Callable[[str], str]] = {
    "a word": lambda text: f"Error: {text}",
    "a mark": lambda text: f"✗ {text}",
    "brackets": lambda text: f"[API Error: {text}]",
    "what failed": lambda text: f"LLM call failed: {text}",
    "a log's line": lambda text: f"2026-03-01 11:59:58,429 ERROR agent.llm - {text}",
    "an exception's name": lambda text: f"litellm.APIError: APIError: OpenAIException - {text}",
    "advice": lambda text: (
        f"Ran into this error: {text}.\n\nPlease retry if you think this is a transient or recoverable error."
    ),
    "a request's id": lambda text: f"{text} (request id: req_0142950340129)",
    "an address": lambda text: f"{text} Learn more: https://docs.example.com/rate-limits#429-quota",
    "frames of JavaScript": lambda text: (
        f"{text}\n    at processTicksAndRejections (node:internal/process/task_queues:95:5)"
        "\n    at async run (/app/dist/index.js:429:17)"
    ),
    "a traceback": lambda text: (
        'Traceback (most recent call last):\n  File "/app/agent.py", line 503, in run\n'
        f"    raise RuntimeError(message)\nRuntimeError: {text}"
    ),
    "JSON": lambda text: json.dumps({"error": {"message": text}}),
    "JSON in JSON": lambda text: json.dumps({"error": {"message": json.dumps({"message": text})}}),
    "an event": lambda text: "event: error\ndata: " + json.dumps({"error": {"message": text}}),
    "HTML's escapes": html.escape,
    "colours": lambda text: f"\x1b[31m{text}\x1b[0m",
    "hard blanks": lambda text: text.replace(" ", "\u00a0"),
    "a client's retry": lambda text: f"API Error ({text}) · Retrying in 3 seconds… (attempt 2/10)",
}


def read_cases() -> list[dict[str, Any]]:
    with CORPUS.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return [case for case in cases if case["label"] != CauseKind.UNKNOWN and "\n" not in case["text"]]


CASES = read_cases()


def verdict_on(case: dict[str, Any], text: str) -> tuple[CauseKind, float | None]:
    now = case["wait"]["now"]
    moment = SOME_MOMENT if now is None else datetime.fromisoformat(now)
    failure = Failure.from_text(
        text,
        status=case["status"],
        headers=case["headers"],
        body=case["body"],
        code=case.get("code"),
        exceptions=(case["exception"],) if case["exception"] else (),
    )
    cause = classify(failure, now=moment)
    return cause.kind, round(cause.guidance[0].wait_from(moment), 3) if cause.guidance else None


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_changes_neither_the_kind_nor_the_wait(name: str) -> None:
    changed = {
        case["id"]: wrapped
        for case in CASES
        if (wrapped := verdict_on(case, WRAPPERS[name](case["text"]))) != verdict_on(case, case["text"])
    }
    assert len(CASES) > 200
    assert changed == {}


ECHOED = [
    "HTTP 429 rate limit exceeded, retry after 30 seconds",
    '{"error": "insufficient_quota"}',
    'it is an "invalid api key", isn\'t it',
    "prompt is too long [[[{",
]


@pytest.mark.parametrize("echoed", ECHOED)
@pytest.mark.parametrize("form", [json.dumps, repr], ids=["JSON", "repr"])
def test_what_the_model_or_the_user_wrote_tells_nothing(echoed: str, form: Callable[[object], str]) -> None:
    groq = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": echoed}
    cause = classify(Failure.from_text(f"Error code: 400 - {form({'error': groq})}", status=400))
    assert (cause.kind, cause.guidance) == (CauseKind.TRANSIENT, ())
    detail = [{"type": "missing", "loc": ["body"], "msg": "Field required", "input": {"content": [echoed]}}]
    cause = classify(Failure.from_text(f"Error code: 422 - {form({'detail': detail})}", status=422))
    assert (cause.kind, cause.guidance) == (CauseKind.PERMANENT, ())


def test_what_stands_behind_an_echo_is_read_and_a_cut_echo_is_left_out() -> None:
    behind = '{"input": {"a": "retry in 9 s"}, "error": "rate limit, try again in 7s"}'
    assert [hint.seconds for hint in classify(Failure.from_text(behind, status=429)).guidance] == [7]
    cut = '{"error": "overloaded", "input": {"a": ["rate limit, try again in 7s'
    assert classify(Failure.from_text(cut)).kind is CauseKind.TRANSIENT
    shown = "a\n [type=int_parsing, input_value='rate limit, try again in 7s', input_type=str]"
    assert classify(Failure.from_text(shown)).guidance == ()
