from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from continuity_core.cli.explain import ACTIONS, explain
from continuity_core.errors import Cause, Failure, classify
from continuity_core.errors.rules import RULE_KINDS

CORPUS = Path(__file__).parent.parent / "data" / "errors.jsonl"


def run(*arguments: str, told: str | None = None) -> str:
    result = CliRunner().invoke(explain, arguments, input=told, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(explain, arguments)
    assert result.exit_code == 2
    return result.output


def told_by(output: str) -> dict[str, str]:
    return {name: rest.strip() for name, _, rest in (line.partition(":") for line in output.splitlines())}


def test_every_kind_of_failure_has_an_action() -> None:
    assert set(ACTIONS) == RULE_KINDS


def test_a_text_is_explained_with_cause_action_wait_evidence_why_and_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    output = told_by(
        run("You've hit your limit · resets 8pm (Europe/Berlin)", "--now", "2026-05-01T12:00:00Z")
    )
    assert output["cause"] == "usage_limit"
    assert output["action"].startswith("wait for the reset")
    assert output["wait"].startswith("about 6 h, until 2026-05-01 ")
    assert "resets 8pm (europe/berlin)" in output["evidence"]
    assert "hit your limit" in output["why"]
    assert output["rule"] == "usage:hit your limit"


def test_status_and_headers_count() -> None:
    output = told_by(
        run("slow down", "--status", "429", "--header", "Retry-After: 41", "--header", "X-Other: 1")
    )
    assert output["cause"] == "rate_limit"
    assert output["wait"].startswith("41 s, until ")


def test_a_text_without_a_wait_says_so() -> None:
    assert told_by(run("invalid api key"))["wait"] == "none stated"


def test_a_dash_reads_the_text_from_standard_input() -> None:
    assert told_by(run("-", told="529 Overloaded\n"))["cause"] == "transient"


def test_the_zone_of_instants_without_one_can_be_given() -> None:
    arguments = (
        "usage limit reached, resets Mar 1, 3pm",
        "--now",
        "2026-03-01T12:00:00Z",
        "--timezone",
        "Europe/Berlin",
    )
    assert told_by(run(*arguments))["wait"].startswith("about 2 h")


RULE = """
[[plugins.provider-errors.rules]]
match = "budget of team * is used up"
cause = "usage_limit"
wait = "1h"
"""


def test_the_rules_in_force_come_first_as_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.toml").write_text(RULE)
    monkeypatch.setenv("CONTINUITY_CONFIG", str(tmp_path / "rules.toml"))
    told = told_by(run("429 The budget of team tides is used up"))
    assert told["cause"] == "usage_limit"
    assert told["wait"].startswith("1 h, until ")
    monkeypatch.setenv("CONTINUITY_DISABLE", "provider-errors")
    assert told_by(run("429 The budget of team tides is used up"))["cause"] == "rate_limit"


def test_rules_can_be_left_out_and_cases_have_none_unless_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.toml").write_text(RULE)
    monkeypatch.setenv("CONTINUITY_CONFIG", str(tmp_path / "rules.toml"))
    case = {"text": "the budget of team tides is used up"}
    assert told_by(run(case["text"], "--no-rules"))["rule"] != "rule:budget of team * is used up"
    [plain] = lines_for(case)
    [ruled] = lines_for(case, options=["--rules"])
    assert plain["wait_seconds"] is None
    assert (ruled["label"], ruled["wait_seconds"]) == ("usage_limit", 3600)


def test_cases_are_read_where_the_configuration_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "continuity.toml").write_text("max_resumes = 'many'\n[")
    monkeypatch.chdir(tmp_path)
    [case] = lines_for({"text": "Overloaded", "status": 529})
    assert case["label"] == "transient"


def test_answers_are_ascii_which_every_pipe_can_carry() -> None:
    case = json.dumps({"id": "\u202e\x1b[2J", "text": "Fehler 漢字"})
    told = run("--jsonl", "-", told=case)
    assert told.isascii()
    assert json.loads(told)["id"] == "\u202e\x1b[2J"


def test_no_escape_sequence_of_the_text_reaches_the_terminal() -> None:
    output = run("usage limit reached, \x1b]0;owned\x07 resets in \x1b[31m5 minutes")
    assert "\x1b" not in output
    assert "\x07" not in output


def test_a_wait_beyond_any_calendar_is_told_as_one() -> None:
    assert (
        "beyond any calendar"
        in told_by(run("Try again in 9999 weeks", "--now", "9990-01-01T00:00:00Z"))["wait"]
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give the error text"),
        (("x", "--header", "no colon"), "is no header"),
        (("x", "--now", "yesterday"), "is no instant"),
        (("x", "--timezone", "Middle/Earth"), "no zone"),
        (("x", "--status", "7"), "'7' is no HTTP status: give its number, such as 429"),
        (("x", "--status", "abc"), "'abc' is no HTTP status: give its number, such as 429"),
        (("x", "--status", "²"), "is no HTTP status"),
        (("x", "--status", "4" * 5000), "is no HTTP status"),
        (("x", "--jsonl", "-"), "leave out TEXT"),
    ],
)
def test_a_mistake_of_the_user_is_explained(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


def lines_for(*cases: Any, options: list[str] | None = None) -> list[dict[str, Any]]:
    told = "".join((case if isinstance(case, str) else json.dumps(case)) + "\n" for case in cases)
    return [json.loads(line) for line in run("--jsonl", "-", *(options or []), told=told).splitlines()]


def test_cases_are_answered_line_by_line_with_the_guidance_itself() -> None:
    (line,) = lines_for(
        {"id": "a", "text": "Try again in ~45 min.", "status": 429, "wait": {"now": "2026-03-01T12:00:00Z"}}
    )
    assert line == {
        "id": "a",
        "label": "usage_limit",
        "wait_seconds": 2700.0,
        "approximate": True,
        "why": line["why"],
    }


def test_the_clock_of_a_case_is_its_own() -> None:
    text = "Usage limit reached, resets at 2026-03-01T13:00:00Z"
    lines = lines_for(
        {"id": 1, "text": text, "wait": {"now": "2026-03-01T12:00:00Z"}},
        {"id": 2, "text": text, "wait": {"now": "2026-03-01T12:30:00Z"}},
    )
    assert [line["wait_seconds"] for line in lines] == [3600.0, 1800.0]


def test_every_key_of_a_case_counts() -> None:
    lines = lines_for(
        {"id": 1, "text": "", "headers": {"Retry-After": 5}, "status": 429},
        {"id": 2, "text": "", "body": {"error": {"type": "overloaded_error"}}},
        {"id": 3, "text": "", "code": "ECONNRESET"},
        {"id": 4, "text": None, "exception": "openai.RateLimitError"},
        {"id": 5},
    )
    assert [line["label"] for line in lines] == [
        "rate_limit",
        "transient",
        "transient",
        "rate_limit",
        "unknown",
    ]
    assert lines[0]["wait_seconds"] == 5


def test_a_line_that_is_no_case_is_answered_and_the_others_go_on() -> None:
    lines = lines_for(
        "no json",
        [1],
        "",
        {"id": 1, "headers": 3},
        {"id": 2, "text": "overloaded", "wait": {"now": "never"}},
        {"id": 3, "text": "overloaded"},
    )
    assert [line["label"] for line in lines] == ["unknown", "unknown", "unknown", "unknown", "transient"]
    assert "line 1 is no JSON" in lines[0]["why"]
    assert lines[2]["id"] == 1


@pytest.mark.parametrize("name", ["NaN", "-Infinity", "1e999", '{"a": [NaN]}'])
def test_an_id_that_json_cannot_carry_is_refused_and_the_others_go_on(name: str) -> None:
    refused, answered = lines_for(f'{{"id": {name}, "text": "overloaded"}}', {"id": 2, "text": "overloaded"})
    assert (refused["id"], refused["label"]) == (None, "unknown")
    assert refused["why"].startswith("line 1: its id is no value of JSON")
    assert (answered["id"], answered["label"]) == (2, "transient")


def test_a_case_whose_reading_raises_is_answered_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(failure: Failure, **options: Any) -> Cause:
        if failure.message == "odd":
            raise ZeroDivisionError("by zero")
        return classify(failure, **options)

    monkeypatch.setattr("continuity_core.cli.explain.classify", read)
    odd, answered = lines_for({"id": 1, "text": "odd"}, {"id": 2, "text": "overloaded"})
    assert (odd["id"], odd["label"], odd["wait_seconds"]) == (1, "unknown", None)
    assert odd["why"] == "line 1 could not be read: by zero"
    assert answered["label"] == "transient"


def test_each_answer_is_there_before_the_next_case_is_sent() -> None:
    program = "from continuity_core.cli.explain import explain; explain(['--jsonl', '-'])"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps({"id": number, "text": "529 Overloaded"}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
    assert process.returncode == 0


def test_the_corpus_can_be_read_from_its_file() -> None:
    answers = [json.loads(line) for line in run("--jsonl", str(CORPUS)).splitlines()]
    cases = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    assert [answer["id"] for answer in answers] == [case["id"] for case in cases]
    assert [answer["label"] for answer in answers] == [case["label"] for case in cases]
