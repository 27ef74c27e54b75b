"""What a user meets before any command does its work: help, mistakes, missing packages, pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from continuity_core import __version__
from continuity_core.cli import main
from continuity_core.cli.application import COMMANDS, application
from continuity_core.cli.lazy_group import LazyCommand

RUN = [sys.executable, "-P", "-m", "continuity_core.cli"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fake_command(monkeypatch: pytest.MonkeyPatch, command: object, name: str = "fake") -> None:
    """Put ``command`` into the group, as a lazily imported one."""
    monkeypatch.setattr(sys.modules[__name__], "FAKE", command, raising=False)
    monkeypatch.setitem(application.lazy, name, LazyCommand(f"{__name__}:FAKE", "A command."))  # type: ignore[attr-defined]


def raising(error: BaseException) -> click.Command:
    @click.command()
    def fake() -> None:
        raise error

    return fake


def test_without_arguments_the_help_is_printed_and_names_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: continuity")
    assert shown.err == ""
    for name, command in COMMANDS.items():
        assert f"  {name} " in shown.out
        assert command.help.split()[0] in shown.out


@pytest.mark.smoke
def test_the_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"continuity {__version__}\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_that_the_help_names_can_be_had(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: continuity {name}")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_no_command_and_no_optional_package(arguments: list[str]) -> None:
    code = (
        "import sys; from continuity_core.cli import main; main(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.split())
    assert not imported & {"rich", "openai", "anthropic", "h11", "trio"}
    assert not imported & {command.target.partition(":")[0] for command in COMMANDS.values()}


@pytest.mark.smoke
@pytest.mark.parametrize("package", ["click", "rich"])
def test_a_missing_package_of_the_command_line_is_one_line_with_the_mend(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from continuity_core.cli import main; sys.exit(main(['demo']))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert package in line
    assert "pip install 'continuity-core[" in line


def test_a_command_whose_package_is_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "needs_a_package.py").write_text("import a_package_that_nobody_has\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(
        application.lazy,  # type: ignore[attr-defined]
        "needy",
        LazyCommand("needs_a_package:command", "Needs a package.", "openhands"),
    )
    assert main(["needy"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "a_package_that_nobody_has" in line
    assert "pip install 'continuity-core[openhands]'" in line


def test_a_module_of_our_own_that_is_missing_is_not_blamed_on_an_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        application.lazy,  # type: ignore[attr-defined]
        "broken",
        LazyCommand("continuity_core.cli.not_there:command", "Not there."),
    )
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        main(["broken"])


@pytest.mark.parametrize(
    ("arguments", "said", "mend"),
    [
        (["dmo"], "there is no command 'dmo'. Did you mean \"demo\"?", "Try: continuity --help"),
        (["demo", "--jsn"], "--jsn", "Try: continuity demo --help"),
        (["--log-level", "loud", "plugins"], "'loud'", "Try: continuity --help"),
        (["--config"], "--config", "Try: continuity --help"),
    ],
)
def test_a_wrong_argument_is_two_lines_on_standard_error(
    arguments: list[str], said: str, mend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    [what, how] = shown.err.splitlines()
    assert what.startswith("continuity: error: ")
    assert said in what
    assert how == mend


@pytest.mark.parametrize("command", ["config", "demo", "plugins"])
def test_a_configuration_file_that_is_not_there_is_named(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--config", str(folder / "absent.toml"), command]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    [line] = shown.err.splitlines()
    assert line.startswith("continuity: error: ")
    assert "absent.toml" in line


def test_every_mistake_of_a_configuration_has_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "mine.toml"
    file.write_text('max_resume = 3\nmode = "sometimes"\n', encoding="utf-8")
    assert main(["--config", str(file), "demo"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert any("max_resumes" in line for line in lines)
    assert any("sometimes" in line for line in lines)
    assert all("mine.toml" in line for line in lines)


def test_the_named_configuration_file_reaches_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "mine.toml"
    file.write_text("max_resumes = 3\n", encoding="utf-8")
    assert main(["--config", str(file), "config", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["max_resumes"]["value"] == 3


def test_a_mistake_in_the_text_of_an_error_cannot_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = click.ClickException("\x1b[2Jno file 'a\nb' sk-0123456789abcdef")
    fake_command(monkeypatch, raising(error))
    assert main(["fake"]) == 1
    assert capsys.readouterr().err == "continuity: error: no file 'a b' ***\n"


def test_an_interrupt_ends_with_the_status_of_interrupted_programs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_command(monkeypatch, raising(KeyboardInterrupt()))
    assert main(["fake"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "continuity: error: interrupted"


def test_a_mistake_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_command(monkeypatch, raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["fake"])


def test_the_status_that_a_command_returns_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def fake() -> int:
        return 1

    fake_command(monkeypatch, fake)
    assert main(["fake"]) == 1


def test_the_log_goes_to_standard_error_at_the_level_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import logging

    @click.command()
    def fake() -> None:
        logging.getLogger("continuity").info("all is well")
        logging.getLogger("continuity").warning("a plugin is slow\x1b[31m")

    fake_command(monkeypatch, fake)
    assert main(["fake"]) == 0
    assert capsys.readouterr().err == "continuity: warning: a plugin is slow\n"
    assert main(["--log-level", "INFO", "fake"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == "continuity: info: all is well"


def test_a_pipe_that_cannot_carry_a_character_gets_another_one() -> None:
    code = (
        "import sys, click\n"
        "from continuity_core.cli import application\n"
        "application._replace_what_the_output_cannot_carry()\n"
        "click.echo('12 min \u2192 now')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert done.stdout == "12 min ? now\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows tells of a closed pipe in other words")
def test_a_reader_that_has_gone_ends_the_output_without_a_word() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([*RUN, "--help"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
