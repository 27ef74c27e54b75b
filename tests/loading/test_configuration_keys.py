"""Each key takes what it says, and every mistake is said at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from continuity_core import ConfigurationError, Mode
from continuity_core.loading.configuration import Configuration, gather

Write = Callable[[str, str], Path]


def problems(**keywords: Any) -> list[str]:
    return [str(problem) for problem in gather(**keywords).problems]


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


def test_a_list_of_classes_in_the_place_of_the_table_of_plugins_is_read_as_load() -> None:
    [code] = Configuration.from_mapping({"plugins": ["package.module:MyPlugin"]}).load
    assert str(code) == "my-plugin = package.module:MyPlugin"
    with pytest.raises(ConfigurationError, match="'tool-tail' names no class"):
        Configuration.from_mapping({"plugins": ["package.module:MyPlugin", "tool-tail"]})
    with pytest.raises(ConfigurationError, match=r"names classes, and so does .*load"):
        Configuration.from_mapping({"plugins": ["a:B"], "load": ["c:D"]})


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
