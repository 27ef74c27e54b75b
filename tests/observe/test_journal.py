"""The journal: events as JSON lines, bounded, masked and put aside when full."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from continuity_core import Continuity, Event, EventKind
from continuity_core.observe.journal import LINE_LIMIT, TEXT_LIMIT, Journal, json_line
from continuity_core.testing import VirtualClock, play

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCRIPT = [{"text": "half", "cut": "rst"}, {"text": "done"}]


def event(**data: Any) -> Event:
    return Event(kind=EventKind.RUN_STARTED, at=AT, session="s", run="r", details=data)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_every_event_of_a_run_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.jsonl"
    played = play(SCRIPT, settings={"journal": str(path)})
    assert [line["kind"] for line in lines(path)] == [event.kind.value for event in played.events]
    assert lines(path)[0]["at"] == "2026-03-01T12:00:00+00:00"


def test_the_setting_and_a_callable_of_one_s_own_both_get_the_events(tmp_path: Path) -> None:
    path, seen = tmp_path / "runs.jsonl", list[Event]()
    Continuity.from_settings({"journal": path}, clock=VirtualClock(), on_event=seen.append).start_run()
    assert len(lines(path)) == len(seen) == 1


def test_a_variable_switches_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTINUITY_JOURNAL", "runs.jsonl")
    Continuity.load().start_run()
    assert len(lines(tmp_path / "runs.jsonl")) == 1


def test_a_found_file_cannot_name_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "continuity.toml").write_text('journal = "runs.jsonl"\n')
    monkeypatch.chdir(tmp_path)
    Continuity.load().start_run()
    assert not (tmp_path / "runs.jsonl").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="access is no matter of mode bits there")
def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Journal(tmp_path / "runs.jsonl")(event())
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "runs.jsonl").stat().st_mode) == 0o600


def test_secrets_are_masked_and_texts_are_cut() -> None:
    line = json.loads(json_line(event(note=["sk-abcdefgh12345678", "x" * 9000], more={"a": "\ud800"})))
    assert line["note"][0] == "***"
    assert len(line["note"][1]) == TEXT_LIMIT
    assert line["more"] == {"a": "\ud800"}


def test_a_line_is_bounded_by_leaving_out_its_longest_parts() -> None:
    line = json_line(event(small=1, large=["x" * 1000] * 200))
    assert len(line) <= LINE_LIMIT
    assert json.loads(line) == {
        "kind": "run_started",
        "at": "2026-03-01T12:00:00+00:00",
        "session": "s",
        "run": "r",
        "small": 1,
        "left_out": ["large"],
    }


def test_a_full_journal_is_put_aside_once_and_begun_anew(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl", max_bytes=LINE_LIMIT)
    for number in range(200):
        journal(event(number=number, padding="x" * 1000))
    numbers = [line["number"] for path in (journal.older, journal.path) for line in lines(path)]
    assert numbers == list(range(numbers[0], 200))
    assert 60 < len(numbers) < 130
    assert all(path.stat().st_size <= LINE_LIMIT for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 2


def test_threads_never_mix_their_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    threads = [
        threading.Thread(target=lambda: [journal(event(padding="x" * 500)) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tmp_path / "runs.jsonl")) == 200


def test_a_journal_that_cannot_be_written_warns_once_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "runs.jsonl"
    path.mkdir()
    journal = Journal(path)
    with caplog.at_level(logging.WARNING, logger="continuity"):
        journal(event())
        journal(event())
    assert [record.getMessage().partition("(")[0] for record in caplog.records] == [
        f"the journal {path} cannot be written "
    ]
    path.rmdir()
    journal(event())
    assert len(lines(path)) == 1


def test_a_bound_below_one_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_bytes of a journal must be at least"):
        Journal(tmp_path / "runs.jsonl", max_bytes=10)


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="journal: takes the path of a file, not 3"):
        Continuity.from_settings({"journal": 3})
