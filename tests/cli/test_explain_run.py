"""``continuity explain-run``: a recorded run, boundary by boundary."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from continuity_core import Boundary, Decision, Halt, Omit, Order, Remember, Resume, Stage, Wait, hookimpl
from continuity_core.cli import main
from continuity_core.testing import play

BROKEN = {"text": "half", "cut": "rst"}
CUT = {"text": "half", "stop": "length"}
DONE = {"text": "done"}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "runs.jsonl"


def record(journal: Path, script: list[Any], plugins: tuple[object, ...] = (), **settings: Any) -> None:
    play(script, settings={"journal": journal, **settings}, plugins=plugins)


def explained(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    assert main(["explain-run", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_recovered_run_is_told_from_the_failure_to_the_end(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(journal, [BROKEN, DONE])
    story = [line for line in explained(capsys, journal) if " ms in " not in line]
    assert story[1:3] == [
        "2026-03-01 12:00:00 started in mode on",
        "12:00:00 a wait of 5 s begins after turn 1: the provider or the connection failed",
    ]
    text = "\n".join(story)
    assert "12:00:05 turn 1 ended: transient, says provider-errors" in text
    assert "budget retries) -> put off: the host's own recovery goes first" in text
    assert "-> the longest: 5 s held" in text
    assert "  joined: the host's own recovery goes first; asked again before it settles" in story
    assert "12:00:05 turn 1 is the last, before settling: transient, says provider-errors" in text
    assert "budget retries) -> stands" in text
    assert "-> in force from the next request on" in text
    assert "(resumes 1, stream-recovery.retries 1)" in text
    assert "  said: nothing, by any plugin" in story
    assert story[-1] == "12:00:05 settled: completed; turns 2, requests 2, resumes 1, held 5 s"


class Second:
    """Asks for what another plugin has asked for already, and for less."""

    order = Order(stage=Stage.TAIL)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary) -> list[Decision] | None:
        if boundary.turn.failure is None:
            return None
        return [Resume("me too"), Wait(seconds=1, why="a little"), Remember(1)]


class Veto:
    order = Order(stage=Stage.GUARD)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> Decision | None:
        return Halt("enough", end_run=True) if boundary.turn.failure else None


class Faulty:
    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> None:
        raise KeyError("gone")


class Lost:
    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary) -> list[Decision]:
        return [Resume("once more", "unheard-of"), *(Omit(entry, "why") for entry in boundary.turn.entries)]


def test_a_second_resume_is_told_as_not_needed_and_a_shorter_wait_as_outlasted(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(journal, [BROKEN, DONE], (Second(),))
    text = "\n".join(explained(capsys, journal))
    assert "said: second: Resume (me too) -> not needed: that of stream-recovery came first, and" in text
    assert "said: second: Wait 1 s (a little) -> a longer one counts" in text
    assert "said: second: Remember -> not done: it goes with its Resume" in text


def test_a_veto_names_who_vetoed_and_what_fell(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(journal, [BROKEN], (Veto(),))
    story = explained(capsys, journal)
    assert "  vetoed: by veto, for the rest of the run: enough" in story
    assert "  dropped: stream-recovery: Resume, Omit: veto halted recovery: enough" in story
    assert any("Halt (enough) -> no further turn in this run, and the host ends" in line for line in story)
    assert "  joined: no further turn: veto halted recovery: enough" in story
    assert "  not resumed: veto halted recovery: enough" in story


def test_a_plugin_that_raised_or_was_refused_is_told_with_its_reason(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(journal, [DONE], (Faulty(), Lost()))
    story = explained(capsys, journal)
    assert "  failed: faulty in continuity_before_settle: KeyError: 'gone'" in story
    assert any(
        line.startswith("  dropped: lost: Resume, Omit: it names the budget 'unheard-of'") for line in story
    )


def test_what_was_only_observed_is_told_as_such(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(journal, [CUT], mode="observe")
    text = "\n".join(explained(capsys, journal))
    assert "-> would stand (mode observe)" in text
    assert "joined: would ask for one more turn (mode observe), for length-resume" in text


def test_the_last_run_is_told_and_the_others_are_offered(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(journal, [BROKEN], max_resumes=0)
    record(journal, [DONE])
    assert main(["explain-run", str(journal)]) == 0
    output = capsys.readouterr()
    assert "settled: completed" in output.out
    assert "settled: failed" not in output.out
    assert "other runs in" in output.err
    rows = explained(capsys, journal, "--list")
    assert [row.split()[4] for row in rows[1:]] == ["failed", "completed"]
    first = rows[1].split()[0]
    assert "settled: failed" in "\n".join(explained(capsys, journal, "--run", first[:6]))
    assert len([line for line in explained(capsys, journal, "--all") if line.startswith("run ")]) == 2


def test_a_report_as_json_is_read_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(dict(play([DONE]).report.to_dict()), indent=2))
    assert any("settled: completed" in line for line in explained(capsys, report))


def test_standard_input_and_the_part_that_was_put_aside_are_read(
    journal: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(journal, [DONE])
    events = journal.read_bytes().splitlines(keepends=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"".join(events))))
    whole = explained(capsys, "-")
    journal.with_name("runs.jsonl.1").write_bytes(b"".join(events[:1]))
    journal.write_bytes(b"".join(events[1:]))
    assert explained(capsys, journal) == whole


def test_damaged_lines_and_events_do_not_keep_the_others_from_being_told(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(journal, [DONE])
    [started, *rest] = journal.read_bytes().splitlines()
    ids = {key: json.loads(started)[key] for key in ("session", "run", "at")}
    strange = [
        {**ids, "kind": "boundary", "turn": 3},
        {**ids, "kind": "run_started", "at": "\x1b[31m"},
        {**ids, "kind": "\x1b]0;title\x07of tomorrow"},
    ]
    extra = [json.dumps(event).encode() for event in strange]
    journal.write_bytes(b"\n".join([started, b"{cut off", b"[" * 100_000, *extra, *rest]))
    assert main(["explain-run", str(journal)]) == 0
    output = capsys.readouterr()
    assert "2 lines of" in output.err
    assert "12:00:00 boundary: not recorded in full" in output.out
    assert "\x1b" not in output.out
    assert "of tomorrow" in output.out
    assert "settled: completed" in output.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl"], "missing.jsonl cannot be read: No such file or directory"),
        (["empty.jsonl"], "has no event: record runs with the setting journal"),
        (["some.jsonl", "--run", "zzz"], "no run of some.jsonl has an id that begins with 'zzz'"),
    ],
)
def test_a_file_without_the_run_is_a_mistake_that_says_what_to_do(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").write_text("{}\n")
    record(tmp_path / "some.jsonl", [DONE])
    assert main(["explain-run", *arguments]) == 2
    assert message in capsys.readouterr().err
