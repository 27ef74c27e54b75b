"""Putting the extension where Pi finds it, removing it, and looking whether it works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pi_runs import ALONE, DONE, PiHome, cut

from continuity_core.hosts.pi.entry import cached_entry, child_command, entry_command, write_entry
from continuity_core.hosts.pi.programs import find_pi


def continuity(home: PiHome, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the user of this agent directory does."""
    return subprocess.run(
        [sys.executable, "-m", "continuity_core.cli", "pi", *arguments],
        cwd=home.work,
        env={**home.variables(), "HOME": str(home.folder), "XDG_CACHE_HOME": str(home.folder / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_installed_it_recovers_without_being_named_and_uninstalled_it_is_gone(home: PiHome) -> None:
    assert continuity(home, "install").returncode == 0
    assert home.print([cut(), DONE], extensions=[ALONE]).output.strip() == "done"
    assert continuity(home, "uninstall").returncode == 0
    assert home.print([cut()], extensions=[ALONE]).status == 1
    assert list((home.agent / "extensions").iterdir()) == []


def test_a_projects_installation_serves_those_who_trust_it(home: PiHome) -> None:
    assert continuity(home, "install", "--project").returncode == 0
    assert (home.work / ".pi" / "extensions" / "continuity" / "index.js").exists()
    trusted = home.print([cut(), DONE], "--approve", extensions=[ALONE])
    assert trusted.output.strip() == "done"


ODD = 'it\'s [a] "home" & $HOME'
"""A name of a folder that neither a shell nor JavaScript likes."""


def test_installing_and_uninstalling_again_changes_nothing_and_no_file_of_the_users(home: PiHome) -> None:
    settings = home.agent / "settings.json"
    own = '{\n  // My own.\n  "theme": "dark", "unknown": [1,\n'
    settings.write_text(own)
    beside = home.agent / "extensions" / "own.js"
    beside.parent.mkdir()
    beside.write_text("export default () => {};\n")
    written = []
    for _ in range(2):
        assert continuity(home, "install").returncode == 0
        files = (home.agent / "extensions" / "continuity").iterdir()
        written.append({file.name: (file.read_text(), file.stat().st_mtime_ns) for file in files})
    assert written[0] == written[1]
    assert [continuity(home, "uninstall").returncode for _ in range(2)] == [0, 0]
    assert settings.read_text() == own
    assert list(beside.parent.iterdir()) == [beside]


def test_a_place_that_cannot_be_written_is_named(home: PiHome) -> None:
    (home.agent / "extensions").write_text("in the way")
    refused = continuity(home, "install")
    assert refused.returncode == 2
    assert "extensions" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_spaces_and_quotes_in_paths_and_a_second_interpreter_do_no_harm(tmp_path: Path) -> None:
    home = PiHome(tmp_path / ODD)
    interpreter = tmp_path / ODD / "my python"
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    place = home.agent / "extensions" / "continuity"
    assert continuity(home, "install").returncode == 0
    assert home.print([cut(), DONE], extensions=[ALONE]).output.strip() == "done"
    write_entry(place, [str(interpreter), *child_command()[1:]])
    assert entry_command(place) == [str(interpreter), *child_command()[1:]]
    assert home.print([cut(), DONE], extensions=[ALONE]).output.strip() == "done"
    told = continuity(home, "doctor", "--pi", "/no/such/pi")
    assert f"runs {interpreter}" in told.stdout


def test_each_interpreter_has_a_folder_of_its_own_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = cached_entry()
    monkeypatch.setattr(sys, "executable", "/another/python")
    assert cached_entry() != first
    assert entry_command(first) != entry_command(cached_entry())


@pytest.mark.parametrize("text", ["", "command: [1", "command: {}", "command: []"])
def test_a_folder_that_somebody_has_changed_names_no_interpreter(tmp_path: Path, text: str) -> None:
    (tmp_path / "index.js").write_text(text)
    assert entry_command(tmp_path) is None


def test_the_path_is_a_folder_that_pi_loads(home: PiHome) -> None:
    path = continuity(home, "path").stdout.strip()
    assert home.print([cut(), DONE], "-e", path, extensions=[ALONE]).output.strip() == "done"


def test_a_folder_of_somebody_else_is_not_touched(home: PiHome) -> None:
    place = home.agent / "extensions" / "continuity"
    place.mkdir(parents=True)
    (place / "index.js").write_text("export default () => {};\n")
    for command in ("install", "uninstall"):
        refused = continuity(home, command)
        assert refused.returncode == 2
        assert "not written by continuity" in refused.stderr
    assert (place / "index.js").read_text() == "export default () => {};\n"


def test_the_doctor_lets_pi_recover_once(home: PiHome) -> None:
    continuity(home, "install")
    told = continuity(home, "doctor", "--pi", find_pi().command[-1])
    assert told.returncode == 0, told.stdout
    assert "self-test: an answer that was cut was asked for again" in told.stdout
    assert f"runs {sys.executable}" in told.stdout


def test_the_doctor_names_an_interpreter_that_is_gone_and_a_pi_that_is_missing(home: PiHome) -> None:
    continuity(home, "install")
    entry = home.agent / "extensions" / "continuity" / "index.js"
    entry.write_text(entry.read_text().replace(sys.executable, "/gone/python"))
    told = continuity(home, "doctor", "--pi", "/no/such/pi")
    assert told.returncode == 1
    assert "/gone/python, which is gone: continuity pi install" in told.stdout
    assert "/no/such/pi does not exist" in told.stdout


def test_an_old_node_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v20.1.0\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    from continuity_core.hosts.pi.programs import OLDEST_NODE, find_node, node_version

    assert (node_version(find_node()) or ()) >= OLDEST_NODE
