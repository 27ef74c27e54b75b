"""Foreign texts, tables and colours on a terminal and in a pipe."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest

from continuity_core.cli.output import console, foreign, print_json, print_table, styled

ROWS = [("a", styled("[bold]b[/bold] :smile:", "red")), ("longer", styled("c"))]


class Terminal(io.StringIO):
    """What a program takes for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_a_piped_table_is_plain_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "value"), ROWS, title="Values")
    assert capsys.readouterr().out == ("Values\nname    value\na       [bold]b[/bold] :smile:\nlonger  c\n")


def test_a_long_cell_in_a_pipe_shifts_its_own_line_only(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "value", "source"), [("a", "b", "c"), ("d", "x" * 300, "f")])
    assert capsys.readouterr().out.splitlines() == [
        "name  value  source",
        "a     b      c",
        f"d     {'x' * 300}  f",
    ]


def test_a_table_on_a_terminal_is_coloured_and_reads_no_markup(terminal: Terminal) -> None:
    with redirect_stdout(terminal):
        print_table(("name", "value"), ROWS)
    assert "\x1b[31m[bold]b[/bold] :smile:" in terminal.getvalue()


def test_columns_that_are_to_stay_whole_are_never_folded(terminal: Terminal) -> None:
    names = ("projection-redaction", "usage-limit-wait")
    rows = [(str(number), name, "word " * 30, "word " * 30) for number, name in enumerate(names)]
    with redirect_stdout(terminal):
        print_table(("#", "plugin", "from", "state"), rows, whole=(0, 1))
    assert all(name in terminal.getvalue() for name in names)


def test_no_color_takes_every_style_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with redirect_stdout(terminal):
        print_table(("name", "value"), ROWS)
    assert "[bold]b[/bold]" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


def test_an_empty_no_color_is_as_none(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    with redirect_stdout(terminal):
        print_table(("name", "value"), ROWS)
    assert "\x1b[31m" in terminal.getvalue()


def test_a_pipe_gets_no_colours_whatever_the_environment_forces(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console().print(styled("x" * 300, "red"))
    assert capsys.readouterr().out == "x" * 300 + "\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07hello\x1b[2J", "hello"),
        ("a\u202eb\u2066c", "a b c"),
        ("two\nlines\tand a \x00 nul", "two lines and a nul"),
        ("Bearer abcdefgh12345678", "Bearer ***"),
        ("x" * 600, "x" * 499 + "…"),
    ],
)
def test_a_foreign_text_is_one_harmless_line_without_secrets(text: str, shown: str) -> None:
    assert foreign(text) == shown


def test_json_is_printed_as_it_is_and_never_with_what_json_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json([{"name": "é"}])
    assert capsys.readouterr().out == '[\n  {\n    "name": "\\u00e9"\n  }\n]\n'
    with pytest.raises(ValueError, match="Out of range"):
        print_json(float("nan"))


def test_json_carries_hostile_characters_as_escapes_that_every_pipe_can_carry(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    text = "\u202e\x1b[2J\x07\ud800\x9b31m"
    print_json(text)
    printed = capsysbinary.readouterr().out
    assert printed.strip() == b'"\\u202e\\u001b[2J\\u0007\\ud800\\u009b31m"'
    assert json.loads(printed) == text
