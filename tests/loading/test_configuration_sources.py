"""Files, variables, and code: which one wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from continuity_core import Mode
from continuity_core.loading.configuration import Configuration, gather
from continuity_core.loading.files import user_file
from continuity_core.loading.sources import Source

Write = Callable[[str, str], Path]


def problems(**keywords: Any) -> list[str]:
    return [str(problem) for problem in gather(**keywords).problems]


def test_each_source_outranks_those_before_it(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", "max_resumes = 1")
    steps: list[tuple[Source, str, Callable[[], object]]] = [
        (Source.PROJECT, "project/continuity.toml: max_resumes", lambda: None),
        (
            Source.USER,
            "continuity/continuity.toml: max_resumes",
            lambda: write("home/.config/continuity/continuity.toml", "max_resumes = 2"),
        ),
        (
            Source.NAMED,
            "named.toml: max_resumes",
            lambda: environment.update(CONTINUITY_CONFIG=str(write("named.toml", "max_resumes = 3"))),
        ),
        (
            Source.ENVIRONMENT,
            "CONTINUITY_MAX_RESUMES",
            lambda: environment.update(CONTINUITY_MAX_RESUMES="4"),
        ),
    ]
    for expected, (source, where, add) in enumerate(steps, start=1):
        add()
        configuration = Configuration.read(environment=environment, folder=project)
        told = configuration.provenance["max_resumes"]
        assert (told.value, told.source) == (expected, source)
        assert told.where.endswith(where)
        assert configuration.settings.max_resumes == expected

    layers: dict[str, Mapping[str, Any]] = {"command_line": {"max_resumes": 5}}
    configuration = Configuration.read(environment=environment, folder=project, **layers)
    assert configuration.provenance["max_resumes"].source is Source.COMMAND_LINE
    layers["code"] = {"max_resumes": 6}
    configuration = Configuration.read(environment=environment, folder=project, **layers)
    assert configuration.provenance["max_resumes"].source is Source.CODE
    assert configuration.settings.max_resumes == 6


def test_with_no_source_at_all_the_defaults_stand(environment: dict[str, str], project: Path) -> None:
    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.max_resumes == 8
    assert configuration.provenance["max_resumes"].source is Source.DEFAULT
    assert (configuration.disable, configuration.only, configuration.require, configuration.load) == (
        (),
        None,
        (),
        (),
    )


def test_the_file_that_the_command_line_names_takes_the_place_of_the_variables(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    environment["CONTINUITY_CONFIG"] = str(write("variable.toml", "max_resumes = 3\nno_progress = 9"))
    named = write("named.toml", "max_resumes = 4")

    configuration = Configuration.read(config=named, environment=environment, folder=project)

    assert configuration.settings.max_resumes == 4
    assert configuration.settings.no_progress == 3


def test_an_empty_variable_names_no_file(environment: dict[str, str], project: Path) -> None:
    environment["CONTINUITY_CONFIG"] = ""

    assert Configuration.read(environment=environment, folder=project).problems == ()


def test_a_named_file_is_sought_from_the_working_directory(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/sub/named.toml", "max_resumes = 4")

    configuration = Configuration.read(config="sub/named.toml", environment=environment, folder=project)

    assert configuration.settings.max_resumes == 4


# ---------------------------------------------------------------- the project's file


def test_the_nearest_file_upward_is_the_projects(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", "max_resumes = 1")
    write("home/project/sub/pyproject.toml", "[tool.continuity]\nmax_resumes = 2")
    deep = project / "sub" / "deep"
    deep.mkdir()

    assert Configuration.read(environment=environment, folder=deep).settings.max_resumes == 2


def test_a_pyproject_without_the_table_is_passed_over(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", "max_resumes = 1")
    write("home/project/sub/pyproject.toml", "[tool.ruff]\nline-length = 3")

    assert Configuration.read(environment=environment, folder=project / "sub").settings.max_resumes == 1


def test_in_one_folder_continuity_toml_comes_first(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", "max_resumes = 1")
    write("home/project/pyproject.toml", "[tool.continuity]\nmax_resumes = 2")

    assert Configuration.read(environment=environment, folder=project).settings.max_resumes == 1


def test_continuity_toml_may_have_the_table_of_a_pyproject(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", "[tool.continuity]\nmax_resumes = 1")

    assert Configuration.read(environment=environment, folder=project).settings.max_resumes == 1


def test_the_search_ends_at_the_home_folder(write: Write, environment: dict[str, str], project: Path) -> None:
    write("continuity.toml", "max_resumes = 1")
    assert Configuration.read(environment=environment, folder=project).settings.max_resumes == 8

    write("home/continuity.toml", "max_resumes = 2")
    assert Configuration.read(environment=environment, folder=project).settings.max_resumes == 2


def test_outside_the_home_folder_the_search_goes_on_to_the_root(
    write: Write, environment: dict[str, str], tmp_path: Path
) -> None:
    write("elsewhere/continuity.toml", "max_resumes = 1")
    (tmp_path / "elsewhere" / "sub").mkdir()

    configuration = Configuration.read(environment=environment, folder=tmp_path / "elsewhere" / "sub")

    assert configuration.settings.max_resumes == 1


def test_a_file_that_the_user_named_is_not_also_the_projects(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    environment["CONTINUITY_CONFIG"] = str(write("home/project/continuity.toml", "max_resumes = 20"))

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.max_resumes == 20
    assert configuration.not_accepted == ()


def test_a_removed_working_directory_has_no_project_file(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert Configuration.read(environment=environment).settings.max_resumes == 8


# ---------------------------------------------------------------- the user's file


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/home/me"}, "/home/me/.config/continuity/continuity.toml"),
        ("linux", {"HOME": "/home/me", "XDG_CONFIG_HOME": "/conf"}, "/conf/continuity/continuity.toml"),
        (
            "linux",
            {"HOME": "/home/me", "XDG_CONFIG_HOME": "conf"},
            "/home/me/.config/continuity/continuity.toml",
        ),
        (
            "darwin",
            {"HOME": "/Users/me"},
            "/Users/me/Library/Application Support/continuity/continuity.toml",
        ),
        (
            "win32",
            {"APPDATA": "/Users/me/AppData/Roaming"},
            "/Users/me/AppData/Roaming/continuity/continuity.toml",
        ),
        ("win32", {"HOME": "/Users/me"}, None),
    ],
)
def test_the_users_file_lies_where_the_platform_keeps_configuration(
    platform: str, environment: dict[str, str], expected: str | None
) -> None:
    path = user_file(environment, platform)

    assert (path and path.as_posix()) == expected


# ---------------------------------------------------------------- variables


def test_variables_set_the_core_the_selection_and_plugins(environment: dict[str, str], project: Path) -> None:
    environment.update(
        CONTINUITY_MODE="observe",
        CONTINUITY_DISABLE="tool-tail, length-resume",
        CONTINUITY_PLUGINS="stream-recovery",
        CONTINUITY_REQUIRE="stream-recovery>=0.1,<9; other",
        CONTINUITY_LOAD="my.code:Plugin",
        CONTINUITY_STREAM_RECOVERY__UNKNOWN_RETRIES="1",
    )

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.mode is Mode.OBSERVE
    assert configuration.disable == ("tool-tail", "length-resume")
    assert configuration.only == ("stream-recovery",)
    assert [str(requirement) for requirement in configuration.require] == ["stream-recovery>=0.1,<9", "other"]
    assert [str(code) for code in configuration.load] == ["plugin = my.code:Plugin"]
    [given] = configuration.options_given("stream-recovery")["unknown_retries"]
    assert (given.value, given.where) == ("1", "CONTINUITY_STREAM_RECOVERY__UNKNOWN_RETRIES")


@pytest.mark.parametrize(
    ("variable", "suggestion"),
    [
        ("CONTINUITY_MAX_RESUME", "Did you mean CONTINUITY_MAX_RESUMES?"),
        ("CONTINUITY_DISABEL", "Did you mean CONTINUITY_DISABLE?"),
        ("CONTINUITY_CONFG", "Did you mean CONTINUITY_CONFIG?"),
        ("CONTINUITY_ONLY", "A plugin's option is CONTINUITY_<PLUGIN>__<OPTION>."),
        ("CONTINUITY___X", "A plugin's option is"),
    ],
)
def test_an_unknown_variable_is_a_problem(
    variable: str, suggestion: str, environment: dict[str, str], project: Path
) -> None:
    environment[variable] = "1"

    [problem] = problems(environment=environment, folder=project)

    assert problem.startswith(f"{variable}: unknown variable. ")
    assert suggestion in problem


def test_an_empty_list_of_plugins_is_not_the_same_as_none(environment: dict[str, str], project: Path) -> None:
    environment["CONTINUITY_PLUGINS"] = ""

    assert Configuration.read(environment=environment, folder=project).only == ()


def test_the_process_environment_and_directory_count_if_nothing_else_is_given(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("continuity.toml", "no_progress = 3\nmax_resumes = 5")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTINUITY_NO_PROGRESS", "7")

    configuration = Configuration.read()

    assert (configuration.settings.max_resumes, configuration.settings.no_progress) == (5, 7)
