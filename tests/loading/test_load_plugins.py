"""From configuration and installed distributions to plugins in order."""

from __future__ import annotations

import sys
import types
from textwrap import dedent
from typing import Any

import pytest
from plugin_sets import (
    OBSERVER,
    RAISES,
    READER,
    Install,
    Observer,
    Tunable,
    TunableOptions,
    configured,
    names,
    problems,
    states,
)

from continuity_core import Order
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.load import load_closed, load_plugins
from continuity_core.loading.plugin_set import PluginSet, plugin_name
from continuity_core.loading.sources import Source

# ---------------------------------------------------------------- what is loaded


def test_installed_plugins_are_loaded_in_chain_order(install: Install) -> None:
    install("my-dist", {"observer": "observer_a:Observer"}, {"observer_a": OBSERVER}, "2.1")

    plugins = configured()

    assert names(plugins) == ["observer", "stream-recovery", "tool-tail", "projection-redaction"]
    observer, recovery, *_ = plugins.table
    assert (observer.order, observer.stage, observer.distribution, observer.version) == (
        1,
        None,
        "my-dist",
        "2.1",
    )
    assert (observer.hooks, observer.state) == (("continuity_observe",), "on")
    assert (recovery.order, recovery.stage, recovery.distribution) == (2, "recover", "continuity-core")
    assert "continuity_turn_ended" in recovery.hooks
    assert plugins.warnings == ()
    assert "observer" in plugins
    assert "missing" not in plugins


def test_a_plugin_gets_its_options_from_the_configuration(install: Install) -> None:
    plugins = load_plugins(
        Configuration.from_mapping({"plugins": {"tunable": {"strength": 7}}}), extra_plugins=[Tunable]
    )

    [tunable] = [entry.plugin for entry in plugins.plugins if entry.name == "tunable"]
    assert isinstance(tunable, Tunable)
    assert tunable.options == TunableOptions(strength=7)
    [row] = [row for row in plugins.table if row.name == "tunable"]
    assert {name: (told.value, told.source) for name, told in row.options.items()} == {
        "strength": (7, Source.CODE),
        "label": ("plain", Source.DEFAULT),
    }


def test_an_instance_from_code_is_taken_as_it_is(install: Install) -> None:
    instance = Tunable(TunableOptions(strength=9))

    plugins = load_plugins(Configuration.from_mapping({}), extra_plugins=[instance])

    assert instance in [entry.plugin for entry in plugins.plugins]


def test_a_plugin_in_code_is_named_by_its_name_or_its_class() -> None:
    class MyHTTPRecovery:
        pass

    class Named:
        name = "its-own-name"

    class Raising:
        @property
        def name(self) -> str:
            raise RuntimeError

    assert plugin_name(MyHTTPRecovery()) == plugin_name(MyHTTPRecovery) == "my-http-recovery"
    assert plugin_name(Named()) == plugin_name(Named) == "its-own-name"
    assert plugin_name(Raising()) == "raising"
    assert plugin_name(types.ModuleType("package.my_module")) == "my-module"


def test_a_class_named_by_trusted_configuration_is_loaded_and_the_path_is_left_alone(
    install: Install,
) -> None:
    install("some-code", {}, {"observer_b": OBSERVER})
    before = list(sys.path)

    plugins = configured(load=["observer_b:Observer", "second = observer_b:Observer"])

    assert {"observer", "second"} <= set(names(plugins))
    assert sys.path == before


def test_a_set_of_instances_needs_no_distribution_and_no_configuration() -> None:
    plugins = PluginSet.of(Tunable(TunableOptions()), Observer())

    assert names(plugins) == ["observer", "tunable"]
    assert [(row.order, row.stage) for row in plugins.table] == [(1, None), (2, "guard")]


# ---------------------------------------------------------------- what is not loaded


@pytest.mark.parametrize("name", ["broken", "my-dist", "My_Dist"])
def test_a_disabled_plugin_is_not_even_imported(name: str, install: Install) -> None:
    install("my-dist", {"broken": "broken_a:Broken"}, {"broken_a": RAISES})

    plugins = configured(disable=[name])

    assert "broken_a" not in sys.modules
    assert states(plugins)["broken"] == "off by code (code: disable)"
    assert plugins.warnings == ()


@pytest.mark.parametrize(
    ("only", "loaded"),
    [
        ([], ["projection-redaction"]),
        (["tool-tail"], ["tool-tail"]),
        (["continuity-core"], ["stream-recovery", "tool-tail", "projection-redaction"]),
        (["my_dist", "tool-tail"], ["observer", "tool-tail"]),
    ],
)
def test_a_list_of_plugins_leaves_the_others_out(
    only: list[str], loaded: list[str], install: Install
) -> None:
    install("my-dist", {"observer": "observer_c:Observer"}, {"observer_c": OBSERVER})

    plugins = configured(only=only)

    assert names(plugins) == loaded
    assert {state for name, state in states(plugins).items() if name not in loaded} == {
        "off by code (code: only)"
    }


def test_code_is_not_bound_by_a_list_of_plugins_but_by_disable(install: Install) -> None:
    plugins = load_plugins(Configuration.from_mapping({"only": []}), extra_plugins=[Observer()])
    assert names(plugins) == ["observer", "projection-redaction"]

    plugins = load_plugins(Configuration.from_mapping({"disable": ["observer"]}), extra_plugins=[Observer()])
    assert "observer" not in names(plugins)


def test_an_unknown_name_to_disable_is_a_warning(install: Install) -> None:
    plugins = configured(disable=["tool-tial"])

    assert plugins.warnings == (
        'code: disable: there is no plugin or distribution "tool-tial" to disable. Did you mean "tool-tail"?',
    )
    assert "tool-tail" in plugins


def test_an_unknown_name_in_the_list_of_plugins_is_a_problem(install: Install) -> None:
    assert problems(only=["tool-tial"]) == [
        'code: only: there is no plugin or distribution "tool-tial". Did you mean "tool-tail"?'
    ]


# ---------------------------------------------------------------- order and requirements


def test_an_order_that_cannot_be_kept_is_a_problem(install: Install) -> None:
    class First(Observer):
        order = Order(runs_before=("second",))

    class Second(Observer):
        order = Order(runs_before=("first",))

    [problem] = problems(First(), Second())

    assert "the plugins' order goes round in a circle: first -> second -> first" in problem


@pytest.mark.parametrize(
    "requirement",
    ["observer", "my_dist", "my-dist>=2,<3", "observer~=2.1", "tool-tail", "continuity-core>=0.1"],
)
def test_a_requirement_that_is_met_says_nothing(requirement: str, install: Install) -> None:
    install("my-dist", {"observer": "observer_k:Observer"}, {"observer_k": OBSERVER}, "2.1")

    assert "observer" in configured(require=[requirement])


@pytest.mark.parametrize(
    ("requirement", "keys", "says"),
    [
        ("obsever", {}, 'no such plugin or distribution is installed. Install it. Did you mean "observer"?'),
        ("observer>=3", {}, 'plugin "observer" (my-dist 2.1) has 2.1. Install a version that fits'),
        ("my-dist<2", {}, 'plugin "observer" (my-dist 2.1) has 2.1'),
        (
            "observer",
            {"disable": ["observer"]},
            'plugin "observer" (my-dist 2.1) is off by code (code: disable)',
        ),
        ("broken", {}, 'plugin "broken" (broken-dist 1.0) is broken: importing it raises'),
        ("broken-dist", {}, "is broken: importing it raises RuntimeError: imported after all"),
    ],
)
def test_a_requirement_that_is_not_met_is_a_problem(
    requirement: str, keys: dict[str, Any], says: str, install: Install
) -> None:
    install("my-dist", {"observer": "observer_l:Observer"}, {"observer_l": OBSERVER}, "2.1")
    install("broken-dist", {"broken": "broken_h:Broken"}, {"broken_h": RAISES})

    [problem] = problems(require=[requirement], **keys)

    assert problem.startswith(f'code: require: "{requirement}" is required, and ')
    assert says in problem


def test_code_has_no_version_to_require(install: Install) -> None:
    assert problems(Observer(), require=["observer>=1"]) == [
        (
            'code: require: "observer>=1" is required, and plugin "observer" (code) has no known version. '
            "Install a version that fits, or change the requirement."
        )
    ]


# ---------------------------------------------------------------- where nothing can be raised


def test_the_closed_set_has_redaction_and_the_reader_of_errors_and_no_resume(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    folder = install("my-dist", {"observer": "observer_m:Observer"}, {"observer_m": RAISES}).parent
    (folder / "reader_a.py").write_text(dedent(READER))
    with (folder / "continuity_core-0.1.0.dist-info" / "entry_points.txt").open("a") as stream:
        stream.write("provider-errors = reader_a:Reader\n")

    loaded = load_closed()

    assert names(loaded.plugins) == ["provider-errors", "projection-redaction"]
    assert loaded.configuration.settings.max_resumes == 0
    assert caplog.records == []


def test_the_closed_set_keeps_redaction_if_the_reader_of_errors_is_broken(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = load_closed()

    assert names(loaded.plugins) == ["projection-redaction"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_closed_set_is_empty_rather_than_raising(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    folder = install("zz", {}).parent
    (folder / "continuity_core-0.1.0.dist-info" / "entry_points.txt").unlink()

    loaded = load_closed()

    assert names(loaded.plugins) == []
    assert loaded.configuration.settings.max_resumes == 0
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_no_third_party_can_stand_in_for_redaction_in_the_closed_set(install: Install) -> None:
    folder = install(
        "my-dist", {"projection-redaction": "observer_n:Observer"}, {"observer_n": OBSERVER}
    ).parent
    (folder / "continuity_core-0.1.0.dist-info" / "entry_points.txt").unlink()

    assert names(load_closed().plugins) == []
