"""Finding Pi and a Node for it, wherever they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from continuity_core.hosts.pi import programs
from continuity_core.hosts.pi.programs import PACKAGE, NotFoundError, find_node, find_pi, node_version

NODE = "#!/bin/sh\necho {}\n"


def write_program(file: Path, text: str = NODE.format("v24.1.0")) -> Path:
    """An executable file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Pi's npm package, as far as it is looked at; its folder has a space and quotes in its name."""
    folder = tmp_path / "node_modules of 'one' \"user\"" / PACKAGE
    write_program(folder / "dist" / "bundle" / "cli.js")
    (folder / "package.json").write_text(json.dumps({"name": PACKAGE, "version": "1.6.0"}))
    return folder


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A path with a Node of its own alone, and a working directory without Pi."""
    write_program(tmp_path / "bin" / "node")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.delenv("PI_CLI", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def test_a_script_is_run_by_node_and_its_package_tells_the_version(package: Path, tmp_path: Path) -> None:
    cli = package / "dist" / "bundle" / "cli.js"
    for named in (cli, package):
        pi = find_pi(str(named))
        assert pi.command == (str(tmp_path / "bin" / "node"), str(cli))
        assert pi.version == "1.6.0"
    assert find_pi(environment={"PI_CLI": str(cli)}).command[-1] == str(cli)


def test_the_link_that_npm_puts_on_the_path_is_followed(package: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "pi").symlink_to(package / "dist" / "bundle" / "cli.js")
    assert find_pi().folder == package


def test_an_executable_without_a_package_is_run_as_it_is(tmp_path: Path) -> None:
    pi = write_program(tmp_path / "bin" / "pi")
    assert find_pi().command == (str(pi),)
    assert find_pi().version is None


def test_a_package_in_node_modules_of_a_folder_above_is_found(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "node_modules").symlink_to(package.parents[1], target_is_directory=True)
    (tmp_path / "work" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "work" / "deep")
    assert find_pi().folder == package


@pytest.mark.parametrize("text", ["{", '{"name": "other"}', "[]"])
def test_a_folder_whose_package_is_another_or_broken_tells_no_version(package: Path, text: str) -> None:
    (package / "package.json").write_text(text)
    assert find_pi(str(package)).version is None


def test_what_is_missing_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(NotFoundError, match=r"Pi is not here: npm install -g .*PI_CLI"):
        find_pi()
    with pytest.raises(NotFoundError, match="/no/such/pi does not exist"):
        find_pi("/no/such/pi")


@pytest.mark.parametrize("says", ["echo v20.1.0", "echo nothing", "exit 3"])
def test_without_a_node_that_is_new_enough_the_one_that_is_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    node = write_program(tmp_path / "bin" / "node", f"#!/bin/sh\n{says}\n")
    monkeypatch.setattr(programs, "_packaged_node", lambda: None)
    with pytest.raises(NotFoundError, match=rf"{node} is .*pip install 'continuity-core\[pi\]'"):
        find_node()


def test_without_any_node_the_python_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "node").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(programs, "_packaged_node", lambda: None)
    with pytest.raises(NotFoundError, match=r"there is none.*pip install 'continuity-core\[pi\]'"):
        find_node()


def test_a_file_that_cannot_be_run_states_no_version(tmp_path: Path) -> None:
    assert node_version(str(tmp_path / "missing")) is None
