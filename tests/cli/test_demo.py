"""The demonstration, as a user runs it; its clock is sped up further."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import anyio
import pytest

from continuity_core import Continuity, StopReason, Turn
from continuity_core.cli import main
from continuity_core.cli.demo import playing, showing
from continuity_core.cli.demo.faults import ANSWER, FAULTS, Fault
from continuity_core.cli.demo.playing import in_words, is_whole, open_models, play
from continuity_core.cli.demo.rows import why_off
from continuity_core.cli.demo.view import PlainView
from continuity_core.hosts.reference import SessionOutcome
from continuity_core.loading.plugin_set import PluginSet
from continuity_core.testing.fault_server import FaultServer

RECOVERABLE = [fault.name for fault in FAULTS if fault.recovered_by is not None]


REAL_SPEED = showing.SPEED
SPEED = 20_000


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(showing, "SPEED", SPEED)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play one fault of each plugin only."""
    chosen = ("output-cap", "throttle", "usage-limit", "tool-tail", "invalid-key")
    monkeypatch.setattr(showing, "FAULTS", tuple(fault for fault in FAULTS if fault.name in chosen))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[dict[str, Any]]]:
    """The exit status and the rows of ``continuity demo --json`` with all faults and no configuration."""
    home = tmp_path_factory.mktemp("home")
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        for name in list(os.environ):
            if name.startswith("CONTINUITY_"):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home))
        patch.chdir(home)
        patch.setattr(showing, "SPEED", SPEED)
        status = main(["demo", "--json"])
    return status, json.loads(out.getvalue())


def rows_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit status of ``continuity demo --json``, and its rows by fault."""
    status = main([*arguments, "demo", "--json"])
    shown = capsys.readouterr()
    assert shown.err == ""
    return status, {row["fault"]: row for row in json.loads(shown.out)}


def test_every_recoverable_fault_is_recovered_and_none_without_continuity(
    whole: tuple[int, list[dict[str, Any]]],
) -> None:
    status, rows = whole
    assert status == 0
    assert [row["fault"] for row in rows] == [fault.name for fault in FAULTS]
    assert len(RECOVERABLE) >= 7
    for row in rows:
        is_recoverable = row["fault"] in RECOVERABLE
        assert row["recoverable"] is is_recoverable
        assert row["off"] is None
        assert row["without"]["ok"] is False
        assert (row["without"]["requests"], row["without"]["resumes"]) == (1, 0)
        assert row["with"]["ok"] is is_recoverable
        assert row["with"]["resumes"] == (1 if is_recoverable else 0)
        assert row["with"]["problems"] == row["without"]["problems"] == []
    assert {row["dialect"] for row in rows} == {"chat", "anthropic"}


def test_waits_resumes_and_requests_are_those_of_each_fault(
    whole: tuple[int, list[dict[str, Any]]],
) -> None:
    rows = {row["fault"]: row for row in whole[1]}
    assert {name: row["with"]["waits"] for name, row in rows.items() if row["with"]["waits"]} == {
        "cut-stream": [5.0],
        "overload": [5.0],
        "empty-answer": [5.0],
        "throttle": [20.0],
        "usage-limit": [720.0],
    }
    held = sum(sum(row["with"]["waits"]) for row in rows.values())
    assert held / REAL_SPEED < 3, "real seconds that a user would wait"
    assert {name: row["with"]["resumed_by"] for name, row in rows.items()} == {
        fault.name: [] if fault.recovered_by is None else [fault.recovered_by] for fault in FAULTS
    }
    assert rows["cap-in-tool-call"]["with"]["requests"] == 3
    assert rows["cap-in-tool-call"]["without"]["tools_run"] == 0
    assert rows["cap-in-tool-call"]["with"]["tools_run"] == 2
    assert rows["invalid-key"]["with"]["requests"] == 1
    assert rows["invalid-key"]["with"]["error"] == rows["invalid-key"]["without"]["error"]


@pytest.mark.usefixtures("few_faults")
def test_a_behaviour_that_is_switched_off_is_shown_so_and_does_not_count(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_DISABLE", "tool-tail")
    status, rows = rows_of(capsys)
    assert status == 0
    assert rows["tool-tail"]["with"]["ok"] is False
    assert rows["tool-tail"]["recoverable"] is False
    assert "CONTINUITY_DISABLE" in rows["tool-tail"]["off"]
    others = ("output-cap", "throttle", "usage-limit")
    assert all(rows[name]["with"]["ok"] and rows[name]["off"] is None for name in others)


@pytest.mark.parametrize(
    ("settings", "said", "faults"),
    [
        ({"mode": "observe"}, "mode is observe", RECOVERABLE),
        ({"max_resumes": 0}, "max_resumes is 0", RECOVERABLE),
        (
            {"plugins": {"stream-recovery": {"retries": 0}}},
            "stream-recovery.retries is 0",
            [fault.name for fault in FAULTS if fault.recovered_by == "stream-recovery"],
        ),
        (
            {"plugins": {"usage-limit-wait": {"waits": 0}}},
            "usage-limit-wait.waits is 0",
            ["usage-limit"],
        ),
        (
            {"plugins": {"usage-limit-wait": {"held": "0"}}},
            "usage-limit-wait.held is 0",
            ["usage-limit"],
        ),
        ({"disable": ["tool-tail"]}, "tool-tail is off by code (code: disable)", ["tool-tail"]),
        ({}, "", []),
    ],
)
def test_zero_budgets_and_other_modes_are_switches(
    settings: dict[str, Any], said: str, faults: list[str]
) -> None:
    continuity = Continuity.from_settings(settings)
    told = {fault.name: off for fault in FAULTS if (off := why_off(fault, continuity))}
    assert told == dict.fromkeys(faults, said)


def test_a_plugin_that_is_not_loaded_at_all_is_said_to_be_so() -> None:
    continuity = Continuity(PluginSet.of())
    assert {why_off(fault, continuity) for fault in FAULTS if fault.recovered_by == "tool-tail"} == {
        "tool-tail is not loaded"
    }


@pytest.mark.usefixtures("few_faults")
def test_in_observe_mode_nothing_is_recovered_and_nothing_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_MODE", "observe")
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "would ask for one more turn (length-resume: " in shown
    assert "0 of 0 recoverable faults were recovered; 4 switched off" in shown


@pytest.mark.usefixtures("few_faults")
def test_a_fault_that_should_have_been_recovered_makes_the_status_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "short.toml"
    file.write_text('[plugins.usage-limit-wait]\nmax_wait = "1min"\n', encoding="utf-8")
    status, rows = rows_of(capsys, "--config", str(file))
    assert status == 1
    assert [name for name, row in rows.items() if row["recoverable"] and not row["with"]["ok"]] == [
        "usage-limit"
    ]
    assert rows["usage-limit"]["recoverable"] is True
    assert rows["usage-limit"]["with"]["not_resumed"]


@pytest.mark.usefixtures("few_faults")
def test_a_plugin_of_another_distribution_takes_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hush.py").write_text(
        "from continuity_core import Halt, Order, Stage, hookimpl\n\n"
        "class Hush:\n"
        "    order = Order(stage=Stage.GUARD)\n\n"
        "    @hookimpl\n"
        "    def continuity_turn_ended(self, boundary, proposal):\n"
        "        return Halt('hush')\n",
        encoding="utf-8",
    )
    information = tmp_path / "hush_kit-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: hush-kit\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[continuity]\nhush = hush:Hush\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["demo"]) == 1
    shown = capsys.readouterr().out
    assert "hush (hush-kit)" in shown
    assert "NOT RECOVERED: half an answer (hush halted recovery: hush)" in shown
    assert "0 of 4 recoverable faults were recovered" in shown


@pytest.mark.usefixtures("few_faults")
def test_piped_output_is_plain_lines_and_says_that_time_is_sped_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "\x1b" not in shown.out
    assert "Waits run 20000 times as fast" in shown.out
    assert "    waits 12 min (" in shown.out
    assert "4 of 4 recoverable faults were recovered" in shown.out
    [line] = [line for line in shown.out.splitlines() if line.startswith("usage-limit  ")]
    assert line.split("  ")[-1].strip() == "12 min"


class Terminal(io.StringIO):
    """What a program takes for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("few_faults")
@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_a_live_table_in_colours_unless_they_are_unwanted(
    no_color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", no_color)
    terminal = Terminal()
    with redirect_stdout(terminal):
        assert main(["demo"]) == 0
    shown = terminal.getvalue()
    assert "running ..." in shown
    assert ("\x1b[32mwhole answer" in shown) is not bool(no_color)
    assert ("\x1b[31m" in shown) is not bool(no_color)
    assert shown.rstrip().endswith("1 that asking again cannot mend.")


@pytest.mark.usefixtures("few_faults")
def test_a_terminal_that_cannot_move_its_cursor_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    with redirect_stdout(terminal):
        assert main(["demo"]) == 0
    assert "\x1b" not in terminal.getvalue()
    assert "  with continuity\n    request\n" in terminal.getvalue()


@pytest.mark.usefixtures("few_faults")
def test_the_log_is_shown_between_the_lines_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--log-level", "warning", "demo"]) == 0
    assert "continuity: warning: " in capsys.readouterr().err


@pytest.mark.parametrize("package", ["anthropic", "h11", "openai"])
def test_a_missing_package_is_one_line_with_the_mend(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    assert main(["demo"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        f"continuity: error: continuity demo needs the package {package}: "
        "pip install 'continuity-core[demo]'\n"
    )


def test_a_provider_text_cannot_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainView()
    view.says("\x1b[2J[red]the provider says[/red]\x07 sk-0123456789abcdef")
    assert capsys.readouterr().out == "    [red]the provider says[/red] ***\n"


def test_a_play_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "PLAY_SECONDS", 0.2)
    fault = Fault(name="silence", what="nothing comes", script=({"text": "half", "hang": True},))

    async def played() -> playing.Played:
        async with FaultServer() as server, open_models(server) as models:
            return await play(fault, server, models["chat"], Continuity.from_settings(), lambda line: None)

    result = anyio.run(played)
    assert not result.ok
    assert result.outcome == "given up after 0.2 s of real time"
    assert result.requests == 1


@pytest.mark.usefixtures("few_faults")
def test_half_an_answer_is_handed_out_as_such_where_incomplete_runs_raise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_INCOMPLETE", "raise")
    monkeypatch.setenv("CONTINUITY_DISABLE", "length-resume")
    status, rows = rows_of(capsys)
    assert status == 0
    assert rows["output-cap"]["with"]["outcome"] == "half an answer"
    assert "length-resume" in rows["output-cap"]["off"]


FAULT = next(fault for fault in FAULTS if fault.name == "cap-in-tool-call")
WHOLE = SessionOutcome(
    prompt="", text=ANSWER, stop_reason=StopReason.STOP, turn=Turn(stop_reason=StopReason.STOP)
)
TRUNCATED = {"harbour": "Douarnenez", "day": 1}


def test_a_whole_answer_after_a_truncated_call_was_executed_is_not_good() -> None:
    calls = [*FAULT.calls, TRUNCATED]
    assert is_whole(FAULT, WHOLE, list(FAULT.calls))
    assert not is_whole(FAULT, WHOLE, calls)
    assert in_words(FAULT, WHOLE, calls, ok=False) == "a truncated call was executed"


def test_a_call_that_was_executed_twice_is_not_good() -> None:
    assert not is_whole(FAULT, WHOLE, [*FAULT.calls, *FAULT.calls])


def test_the_truncated_call_of_the_demonstration_is_none_that_was_meant() -> None:
    [cut] = [call for call in FAULT.script[0]["tool_calls"] if call["arguments"].endswith("1")]
    assert json.loads(cut["arguments"] + "}") == TRUNCATED
    assert TRUNCATED not in FAULT.calls
