"""``continuity_local.py`` beside a configuration file that is trusted."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from continuity_core import ConfigurationError, Continuity
from continuity_core.loading.load import load
from continuity_core.loading.plugin_set import PluginRow

Writer = Callable[[str, str], Path]

RULE = """
    import sys
    from dataclasses import dataclass
    from typing import ClassVar

    import attrs
    from continuity_core import Order, Stage, count, hookimpl, option

    print("continuity_local was run")

    @dataclass
    class Helper:
        kind: "ClassVar[int]" = 3

    @attrs.frozen(kw_only=True)
    class Options:
        strength: int = option(3, read=count, help="How hard.")

    @attrs.frozen(eq=False)
    class MyRule:
        Options = Options
        order = Order(stage=Stage.GUARD)
        options: Options

        @hookimpl
        def continuity_before_settle(self, boundary): ...

    class Another:
        name = "named-by-hand"

        @hookimpl
        def continuity_observe(self, event): ...
"""


@pytest.fixture(autouse=True)
def _leave_no_module_behind() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if "continuity_local" in name:
            del sys.modules[name]


def row(rows: tuple[PluginRow, ...], name: str) -> PluginRow:
    return next(row for row in rows if row.name == name)


def names_on(rows: tuple[PluginRow, ...]) -> set[str]:
    return {row.name for row in rows if row.state == "on"}


def test_classes_beside_a_named_file_are_plugins_with_options(write: Writer) -> None:
    local = write("mine/continuity_local.py", RULE)
    config = write("mine/continuity.toml", "[plugins.my-rule]\nstrength = 7\n")
    table = load(config=config, environment={}).plugins.table
    mine = row(table, "my-rule")
    assert (mine.state, mine.stage, mine.distribution) == ("on", "guard", str(local))
    assert mine.options["strength"].value == 7
    assert row(table, "named-by-hand").hooks == ("continuity_observe",)
    assert "helper" not in names_on(table)


def test_a_file_in_the_user_s_folder_needs_no_configuration_beside_it(write: Writer, tmp_path: Path) -> None:
    write("config/continuity/continuity_local.py", RULE)
    table = load(environment={"XDG_CONFIG_HOME": str(tmp_path / "config")}, folder=tmp_path).plugins.table
    assert "my-rule" in names_on(table)


def test_a_file_in_a_folder_that_was_merely_found_is_never_run(
    write: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("project/continuity_local.py", RULE)
    write("project/continuity.toml", "max_resumes = 3\n")
    monkeypatch.chdir(tmp_path / "project")
    assert Continuity.load().settings.max_resumes == 3
    assert "was run" not in capsys.readouterr().out


def test_code_without_files_reads_no_local_file(
    write: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("config/continuity/continuity_local.py", RULE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    Continuity.from_settings({})
    assert "was run" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "choice",
    [
        'disable = ["continuity-local"]',
        'disable = ["my-rule", "named-by-hand"]',
        'only = ["tool-tail", "projection-redaction"]',
    ],
)
def test_what_is_blocked_is_not_even_run(
    choice: str, write: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    write("continuity_local.py", RULE)
    table = load(config=write("continuity.toml", choice), environment={}).plugins.table
    assert row(table, "my-rule").state.startswith("off by ")
    assert "was run" not in capsys.readouterr().out


def test_one_of_two_is_disabled_by_its_name(write: Writer) -> None:
    write("continuity_local.py", RULE)
    table = load(config=write("continuity.toml", 'disable = ["my-rule"]'), environment={}).plugins.table
    assert {"my-rule", "named-by-hand"} & names_on(table) == {"named-by-hand"}


def test_the_file_is_run_once_and_shadows_nothing(
    write: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("continuity_local.py", RULE)
    path = list(sys.path)
    load(config=write("continuity.toml", ""), environment={})
    assert capsys.readouterr().out.count("was run") == 1
    assert sys.path == path
    assert not {"continuity_local", "continuity_plugins.continuity_local"} & set(sys.modules)
    assert [file.name for file in tmp_path.iterdir() if file.name == "__pycache__"] == []


def test_a_package_named_as_ours_beside_it_is_not_imported(write: Writer) -> None:
    write("continuity_local.py", RULE)
    write("continuity_plugins/tool_tail.py", "raise SystemExit('shadowed')")
    assert "tool-tail" in names_on(load(config=write("continuity.toml", ""), environment={}).plugins.table)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:\n", r"cannot be read as Python \(SyntaxError: .*line 1"),
        ("x = 1\n", "it has no plugin: a plugin is a class at its top level with a hook in its body"),
        (
            "class Rule:\n    def continuity_turn_ended(self, boundary): ...\nraise KeyError('a')\n",
            "importing it raises KeyError: 'a' .*continuity_local.py, line 3",
        ),
        (
            "class Rule:\n    def continuity_turn_ended(self, boundary): ...\n",
            (
                r'plugin "rule" \(.*continuity_local.py\): continuity_turn_ended would never be called: '
                "it is not decorated. Decorate it with @hookimpl"
            ),
        ),
        ("class Rule:\n    def continuity_x(self): ...\nimport sys\nsys.exit(3)\n", "raises SystemExit: 3"),
        (
            (
                "from continuity_core import hookimpl\n"
                "class ToolTail:\n    @hookimpl\n    def continuity_before_settle(self): ...\n"
            ),
            r'"tool-tail" .*its name is already taken by plugin "tool-tail" \(continuity-core',
        ),
        ("\x00", "cannot be read as Python"),
    ],
)
def test_a_mistake_in_the_file_is_an_error_that_says_what_to_mend(
    source: str, message: str, write: Writer
) -> None:
    write("continuity_local.py", source)
    with pytest.raises(ConfigurationError, match=message) as caught:
        load(config=write("continuity.toml", ""), environment={})
    assert "local.py, line" not in str(caught.value).replace("continuity_local.py, line", "")


def test_a_host_that_cannot_raise_goes_on_with_recovery_off(
    write: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    write("continuity_local.py", "raise RuntimeError('not today')")
    with caplog.at_level(logging.ERROR, logger="continuity"):
        closed = Continuity.load_or_closed(config=write("continuity.toml", ""))
    assert closed.settings.max_resumes == 0
    assert "it has no plugin" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no numbered owner on this system")
def test_a_file_of_another_user_is_not_run(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    local = write("continuity_local.py", RULE)
    real = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        status = list(real(descriptor))
        status[4] += 12_345
        return os.stat_result(status)

    config = write("continuity.toml", "")
    monkeypatch.setattr("continuity_core.loading.local.os.fstat", of_another)
    with pytest.raises(ConfigurationError, match="it belongs to another user, and is not run"):
        load(config=config, environment={})
    assert local.exists()
