"""What was found by searching may only tighten; what cannot be read is named."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from continuity_core import Incomplete, Mode
from continuity_core.loading.configuration import Configuration, gather
from continuity_core.loading.files import FILE_LIMIT

Write = Callable[[str, str], Path]


def problems(**keywords: Any) -> list[str]:
    return [str(problem) for problem in gather(**keywords).problems]


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


def test_a_found_file_names_no_code_in_the_place_of_the_table_of_plugins(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write("home/project/continuity.toml", 'plugins = ["package.module:MyPlugin"]')
    configuration = gather(environment=environment, folder=project)
    assert configuration.load == ()
    assert [refused.key for refused in configuration.not_accepted] == ["load"]


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
