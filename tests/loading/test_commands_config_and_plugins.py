"""``continuity plugins`` and ``continuity config``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from continuity_core.cli import main

Install = Callable[..., Path]
Write = Callable[[str, str], Path]


@pytest.fixture
def project(write: Write, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a file that says what it may and what it may not."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return write(
        "project/continuity.toml",
        """
        max_resumes = 2
        no_progress = 9
        [plugins.stream-recovery]
        retries = 1
        """,
    )


def test_config_prints_each_value_with_its_source(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_MODE", "observe")

    assert main(["config"]) == 0

    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["mode", "observe", "the environment (CONTINUITY_MODE)"] in lines
    assert ["max_resumes", "2", f"the project's file ({project}: max_resumes)"] in lines
    assert ["no_progress", "3", "default"] in lines
    assert [
        "plugins.stream-recovery.retries",
        "1",
        f"the project's file ({project}: plugins.stream-recovery.retries)",
    ] in lines


def test_config_prints_what_was_not_accepted_and_from_where(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config"]) == 0

    refused = capsys.readouterr().out.split("Not accepted\n")[1].splitlines()
    assert refused[1].split(maxsplit=2)[:2] == ["no_progress", "9"]
    assert f"{project}: no_progress" in refused[1]
    assert refused[1].endswith("a file found by searching may only tighten")


def test_config_prints_json(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_MAX_RESUMES", "unlimited")

    assert main(["config", "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["values"]["max_resumes"] == {
        "value": "unlimited",
        "source": "environment",
        "where": "CONTINUITY_MAX_RESUMES",
    }
    assert document["values"]["mode"] == {"value": "on", "source": "default", "where": ""}
    assert document["values"]["disable"]["value"] == []
    assert document["values"]["plugins.stream-recovery.wait"]["value"].startswith("chain(")
    assert document["not_accepted"] == [
        {
            "key": "no_progress",
            "value": 9,
            "where": f"{project}: no_progress",
            "why": "a file found by searching may only tighten",
        }
    ]
    assert len(document["warnings"]) == 1


def test_config_says_unlimited_by_its_word(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_MAX_RESUMES", "unlimited")

    assert main(["config"]) == 0

    assert "max_resumes                              unlimited  " in capsys.readouterr().out


def test_config_says_durations_as_they_are_written_in_a_file(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_STREAM_RECOVERY__MAX_WAIT", "7500")

    assert main(["config"]) == 0

    values = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines() if line}
    assert values["ceiling_held"] == "24h"
    assert values["plugins.stream-recovery.max_wait"] == "2h5min"


@pytest.mark.parametrize("arguments", [["--config", "FILE", "config"], ["config", "--config", "FILE"]])
def test_a_named_file_is_trusted_before_and_after_the_command(
    arguments: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(project) if word == "FILE" else word for word in [*arguments, "--json"]]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["values"]["no_progress"] == {
        "value": 9,
        "source": "named",
        "where": f"{project}: no_progress",
    }
    assert document["not_accepted"] == []


def test_a_named_file_that_is_not_there_is_told_with_its_mend(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--config", "nowhere.toml", "config"]) == 2

    assert capsys.readouterr().err.splitlines()[-1] == (
        f"continuity: error: {project.parent / 'nowhere.toml'}: cannot be used: No such file or directory. "
        "Name a file that is there, with --config or CONTINUITY_CONFIG (a relative name starts at the "
        "working folder), or name none: then only your own file and the project's are read."
    )


@pytest.mark.parametrize("command", ["config", "plugins"])
def test_mistakes_are_lines_on_stderr_and_status_2(
    command: str, project: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    write("project/continuity.toml", "max_resume = 3\n[plugins.stream-recovery]\nretreis = 4")

    assert main([command]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        f'continuity: error: {project}: max_resume: unknown key "max_resume". Did you mean "max_resumes"?',
        (
            f'continuity: error: {project}: plugins.stream-recovery.retreis: unknown option "retreis". '
            'Did you mean "retries"?'
        ),
    ]


def test_plugins_prints_the_table_in_chain_order(
    project: Path, install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTINUITY_DISABLE", "tool-tail")

    assert main(["plugins"]) == 0

    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["#", "stage", "plugin", "from", "hooks", "state"]
    assert [line.split()[:3] for line in lines[:3]] == [
        ["1", "recover", "stream-recovery"],
        ["2", "redact", "projection-redaction"],
        ["-", "-", "tool-tail"],
    ]
    assert lines[3:] == [
        "",
        "Options that are not at their defaults",
        f"stream-recovery.retries = 1 ({project}: plugins.stream-recovery.retries)",
    ]
    assert "continuity-core 0.1.0" in lines[0]
    assert "off by the environment (CONTINUITY_DISABLE)" in lines[2]


def test_texts_of_others_cannot_control_the_terminal(
    project: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata = install(
        "my-dist", {"evil": "evil_module:Evil"}, {"evil_module": "raise ValueError('\\x1b[2J[red]')"}
    )
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my\x1b[31mdist\nVersion: 1\x07\n")

    assert main(["plugins"]) == 0

    captured = capsys.readouterr()
    assert all(line.isprintable() for line in (captured.out + captured.err).splitlines())
    assert "importing it raises ValueError: [red]" in captured.out
