"""Files, variables, and code: which one wins, and which one may only tighten."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from continuity_core import ConfigurationError, Incomplete, Mode
from continuity_core.loading.configuration import Configuration, gather
from continuity_core.loading.files import FILE_LIMIT, user_file
from continuity_core.loading.sources import Source

Write = Callable[[str, str], Path]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home" / ".config")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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


# ---------------------------------------------------------------- trust


def test_a_found_file_may_tighten(write: Write, environment: dict[str, str], project: Path) -> None:
    write(
        "home/project/continuity.toml",
        """
        max_resumes = 2
        mode = "observe"
        disable = ["tool-tail"]
        require = ["stream-recovery"]
        ceiling_held = "1h"
        """,
    )

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.max_resumes == 2
    assert configuration.settings.mode is Mode.OBSERVE
    assert configuration.settings.ceiling_held == 3600
    assert configuration.disable == ("tool-tail",)
    assert [str(requirement) for requirement in configuration.require] == ["stream-recovery"]
    assert configuration.not_accepted == ()


def test_what_a_found_file_may_not_say_is_kept_apart(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    path = write(
        "home/project/continuity.toml",
        """
        max_resumes = "unlimited"
        no_progress = 0
        incomplete = "raise"
        allow_injection = ["partial-checkpoint"]
        load = ["evil:Evil"]
        only = []
        ceiling_resumes = 10000
        disable = ["run-limits", "tool-tail", "Projection_Redaction", "continuity-core"]
        """,
    )

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings == Configuration.from_mapping({}).settings
    assert configuration.disable == ("tool-tail",)
    assert (configuration.load, configuration.only) == ((), None)
    refused = {each.key: each.value for each in configuration.not_accepted}
    assert set(refused) == {
        "max_resumes",
        "no_progress",
        "incomplete",
        "allow_injection",
        "load",
        "only",
        "ceiling_resumes",
        "disable",
    }
    assert refused["disable"] == ("run-limits", "Projection_Redaction", "continuity-core")
    assert {each.where for each in configuration.not_accepted} == {f"{path}: {key}" for key in refused}


def test_protections_are_spared_in_every_spelling_of_the_list(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", 'disable = "run_limits, tool-tail"')

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.disable == ("tool-tail",)
    assert [each.value for each in configuration.not_accepted] == [("run_limits",)]


def test_a_list_that_is_none_is_a_problem_also_in_a_found_file(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    path = write("home/project/continuity.toml", "disable = 3")

    assert problems(environment=environment, folder=project) == [
        f"{path}: disable: takes a list of names, not 3"
    ]


def test_a_found_file_cannot_disable_what_a_trusted_source_requires(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", 'disable = ["my-guard", "other"]\nrequire = ["other"]')
    environment["CONTINUITY_REQUIRE"] = "my_guard>=1"

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.disable == ("other",)
    assert [(each.key, each.value) for each in configuration.not_accepted] == [("disable", ("my-guard",))]


def test_a_found_file_cannot_switch_recovery_on(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", 'mode = "on"')
    environment["CONTINUITY_MODE"] = "observe"

    assert Configuration.read(environment=environment, folder=project).settings.mode is Mode.OBSERVE


@pytest.mark.parametrize("source", ["user", "named", "environment"])
def test_trusted_sources_may_loosen(
    source: str, write: Write, environment: dict[str, str], project: Path
) -> None:
    if source == "user":
        write("home/.config/continuity/continuity.toml", 'max_resumes = 20\nincomplete = "raise"')
    elif source == "named":
        environment["CONTINUITY_CONFIG"] = str(write("n.toml", 'max_resumes = 20\nincomplete = "raise"'))
    else:
        environment.update(CONTINUITY_MAX_RESUMES="20", CONTINUITY_INCOMPLETE="raise")

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.max_resumes == 20
    assert configuration.settings.incomplete is Incomplete.RAISE
    assert configuration.not_accepted == ()


# ---------------------------------------------------------------- unreadable files


def test_a_project_file_that_is_no_toml_is_named(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    path = write("home/project/continuity.toml", "max_resumes = = 3")

    [problem] = problems(environment=environment, folder=project)

    assert problem.startswith(f"{path}: cannot be used: it is no valid TOML (TOMLDecodeError: ")
    assert "line 1" in problem


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "it is no UTF-8 text (byte 0)"),
        (b"#" * (FILE_LIMIT + 1), f"it is longer than {FILE_LIMIT} bytes"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "it is no valid TOML"),
        (b"tool = 3", "[tool.continuity] is no table"),
        (b"tool.continuity = 3", "[tool.continuity] is no table"),
        (b"max_resumes = 3\n[tool.continuity]\n", "it has both [tool.continuity] and keys at the top level"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    content: bytes, why: str, environment: dict[str, str], project: Path
) -> None:
    (project / "continuity.toml").write_bytes(content)

    [problem] = problems(environment=environment, folder=project)

    assert why in problem


def test_a_folder_in_the_place_of_the_file_is_named(environment: dict[str, str], project: Path) -> None:
    (project / "continuity.toml").mkdir()

    [problem] = problems(environment=environment, folder=project)

    assert (
        problem == f"{project / 'continuity.toml'}: cannot be used: it is no file. Mend it, or take it away."
    )


def test_a_link_to_nowhere_is_named(environment: dict[str, str], project: Path) -> None:
    (project / "continuity.toml").symlink_to(project / "missing.toml")

    [problem] = problems(environment=environment, folder=project)

    assert "No such file" in problem


def test_a_file_without_permission_is_named(
    write: Write, environment: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: str) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    path = write("home/project/continuity.toml", "")
    monkeypatch.setattr(Path, "open", refuse)

    assert problems(environment=environment, folder=project) == [
        f"{path}: cannot be used: Permission denied. Mend it, or take it away."
    ]


def test_a_broken_pyproject_with_the_table_is_a_problem(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/pyproject.toml", "[tool.continuity]\nmax_resumes = = 3")

    assert "pyproject.toml: cannot be used" in problems(environment=environment, folder=project)[0]


def test_a_broken_pyproject_without_the_table_is_passed_over_with_a_warning(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/pyproject.toml", "[tool.ruff]\nline-length = = 3")
    write("home/continuity.toml", "max_resumes = 1")

    configuration = Configuration.read(environment=environment, folder=project)

    assert configuration.settings.max_resumes == 1
    [warning] = configuration.warnings
    assert warning.startswith(f"{project / 'pyproject.toml'}: passed over while searching for configuration")


def test_a_named_file_that_is_missing_is_a_problem(environment: dict[str, str], project: Path) -> None:
    [problem] = problems(config="missing.toml", environment=environment, folder=project)

    assert problem.startswith(f"{project / 'missing.toml'}: cannot be used: No such file")


def test_a_named_pyproject_needs_the_table(write: Write, environment: dict[str, str], project: Path) -> None:
    named = write("pyproject.toml", "[tool.ruff]")

    assert (
        "it has no table [tool.continuity]"
        in problems(config=named, environment=environment, folder=project)[0]
    )


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


# ---------------------------------------------------------------- keys


def test_every_problem_of_every_source_is_said_at_once(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    path = write(
        "home/project/continuity.toml",
        """
        max_resume = 3
        no_progress = -1
        [stream-recovery]
        retries = 3
        [plugins]
        tool-tail = false
        "Bad Name" = {}
        """,
    )
    environment["CONTINUITY_MODE"] = "of"

    with pytest.raises(ConfigurationError) as caught:
        Configuration.read(code={"require": ["a=1"]}, environment=environment, folder=project)

    assert str(caught.value).splitlines() == [
        (
            f"{path}: plugins.tool-tail: takes a table of options, not False. "
            'To switch it off: disable = ["tool-tail"].'
        ),
        f"{path}: plugins.'Bad Name': 'Bad Name' is no plugin name",
        f'{path}: max_resume: unknown key "max_resume". Did you mean "max_resumes"?',
        (
            f'{path}: stream-recovery: unknown key "stream-recovery". '
            "Options of a plugin belong in plugins.stream-recovery."
        ),
        'CONTINUITY_MODE: takes one of "on", "observe", "off", not \'of\'',
        f"{path}: no_progress: takes a whole number >= 0, not -1",
        "code: require: '=1' in 'a=1' is no comparison such as >=1.2 (>=, <=, ==, !=, ~=, >, <)",
    ]
    assert len(caught.value.problems) == 7


def test_a_list_in_the_place_of_the_table_of_plugins_is_explained() -> None:
    with pytest.raises(ConfigurationError, match=r"Classes to load .*: load = "):
        Configuration.from_mapping({"plugins": ["tool-tail"]})


def test_keys_that_are_no_text_are_refused_not_crashed_over() -> None:
    with pytest.raises(ConfigurationError, match="unknown key"):
        Configuration.from_mapping({3: 4, "plugins": {5: {}, "a": {6: 7}}})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("table", "mode"),
    [
        ({"enabled": False}, Mode.OFF),
        ({"enabled": True}, Mode.ON),
        ({"enabled": True, "mode": "observe"}, Mode.OBSERVE),
        ({"enabled": False, "mode": "off"}, Mode.OFF),
    ],
)
def test_enabled_is_another_word_for_the_mode(table: dict[str, object], mode: Mode) -> None:
    assert Configuration.from_mapping(table).settings.mode is mode


@pytest.mark.parametrize("table", [{"enabled": False, "mode": "on"}, {"enabled": True, "mode": "off"}])
def test_enabled_and_mode_must_not_contradict_each_other(table: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=r"contradicts code: mode = .*Keep one of the two"):
        Configuration.from_mapping(table)


def test_enabled_must_be_true_or_false() -> None:
    with pytest.raises(ConfigurationError, match="code: enabled: takes true or false, not 'maybe'"):
        Configuration.from_mapping({"enabled": "maybe"})


@pytest.mark.parametrize(("below", "mode"), [("off", Mode.ON), ("observe", Mode.OBSERVE)])
def test_enabled_ends_an_off_of_a_lower_source_and_leaves_observe(
    below: str, mode: Mode, write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", f'mode = "{below}"')
    environment["CONTINUITY_ENABLED"] = "true"

    assert Configuration.read(environment=environment, folder=project).settings.mode is mode


def test_a_mapping_that_changes_later_changes_nothing() -> None:
    table: dict[str, Any] = {"plugins": {"tool-tail": {"include": ["a"]}}}
    configuration = Configuration.from_mapping(table)

    table["plugins"]["tool-tail"]["exclude"] = ["b"]

    assert list(configuration.options_given("tool-tail")) == ["include"]


@pytest.mark.parametrize(
    ("load", "parsed"),
    [
        ("my.code:MyHTTPPlugin", "my-http-plugin = my.code:MyHTTPPlugin"),
        ("mine = my.code:Outer.Inner", "mine = my.code:Outer.Inner"),
        ("code:my_plugin", "my-plugin = code:my_plugin"),
    ],
)
def test_code_is_named_by_module_and_class(load: str, parsed: str) -> None:
    assert [str(code) for code in Configuration.from_mapping({"load": [load]}).load] == [parsed]


def test_readers_are_given_plain_tables() -> None:
    configuration = Configuration.from_mapping({"plugins": {"mine": {"table": {"a": {"b": 1}}}}})

    [given] = configuration.options_given("mine")["table"]

    assert type(given.value) is dict
    assert type(given.value["a"]) is dict


def test_what_is_no_list_of_classes_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r'takes a list such as \["package.module:Class"\], not 3'):
        Configuration.from_mapping({"load": 3})


@pytest.mark.parametrize("load", ["my.code", "my.code:", ":Plugin", "my code:Plugin", "My Name = a:B", 3])
def test_what_names_no_class_is_refused(load: object) -> None:
    with pytest.raises(ConfigurationError, match="code: load: "):
        Configuration.from_mapping({"load": [load]})
