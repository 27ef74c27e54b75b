"""From configuration and installed distributions to plugins in order."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import attrs
import pytest

from continuity_core import ConfigurationError, Order, Stage, Tighten, count, hookimpl, option
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.load import load, load_closed, load_plugins
from continuity_core.loading.plugin_set import PluginSet, plugin_name
from continuity_core.loading.sources import Source

Install = Callable[..., Path]
Write = Callable[[str, str], Path]

OBSERVER = """
    from continuity_core import hookimpl

    class Observer:
        @hookimpl
        def continuity_observe(self, event): ...
"""


READER = """
    from continuity_core import hookimpl

    class Reader:
        @hookimpl
        def continuity_classify(self, turn): ...
"""


@attrs.frozen(kw_only=True)
class TunableOptions:
    strength: int = option(3, read=count, tighten=Tighten.LOWER, help="How hard.")
    label: str = option("plain", read=str, help="What it is called.")


@attrs.frozen(eq=False)
class Tunable:
    Options = TunableOptions
    order = Order(stage=Stage.GUARD)
    options: TunableOptions

    @hookimpl
    def continuity_turn_ended(self, boundary: object) -> None: ...


class Observer:
    @hookimpl
    def continuity_observe(self, event: object) -> None: ...


def configured(**keys: Any) -> PluginSet:
    return load_plugins(Configuration.from_mapping(keys))


def names(plugins: PluginSet) -> list[str]:
    return [plugin.name for plugin in plugins.plugins]


def states(plugins: PluginSet) -> dict[str, str]:
    return {row.name: row.state for row in plugins.table}


def problems(*extra: object, **keys: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_plugins(Configuration.from_mapping(keys), extra)
    return [str(problem) for problem in caught.value.problems]


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

RAISES = "raise RuntimeError('imported after all')"


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


# ---------------------------------------------------------------- what is broken

BROKEN = {
    "import": ("import no_such_module_anywhere", "importing it raises ModuleNotFoundError: No module named"),
    "exit": ("import sys; sys.exit(3)", "importing it raises SystemExit: 3 ("),
    "missing class": (
        "x = 1",
        "importing it raises AttributeError: module 'broken_b' has no attribute 'Broken'",
    ),
    "no class": ("Broken = 3", "what it names is a int, not a class. Name the plugin's class"),
    "constructor": (
        "class Broken:\n    def __init__(self): raise ValueError('not today')",
        "making an instance of it raises ValueError: not today (",
    ),
    "exit in the constructor": (
        "class Broken:\n    def __init__(self): raise SystemExit",
        "making an instance of it raises SystemExit (",
    ),
    "no hook": ("class Broken: ...", "it has no hook. Decorate at least one of"),
    "misspelt hook": (
        (
            "from continuity_core import hookimpl\n"
            "class Broken:\n    @hookimpl\n    def continuity_turn_edned(self, boundary): ..."
        ),
        "continuity_turn_edned is no hook of continuity. Did you mean continuity_turn_ended?",
    ),
    "options": ("class Broken:\n    class Options: ...", "Broken.Options is no attrs class"),
    "metaclass": (
        (
            "class Meta(type):\n    @property\n    def Options(cls): raise RuntimeError('odd')\n"
            "class Broken(metaclass=Meta): ..."
        ),
        "looking at its class raises RuntimeError: odd (",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_third_party_plugin_is_a_warning_and_the_others_work(
    kind: str, install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    source, cause = BROKEN[kind]
    install("my-dist", {"broken": "broken_b:Broken"}, {"broken_b": source}, "3.1")

    plugins = configured()

    assert names(plugins) == ["stream-recovery", "tool-tail", "projection-redaction"]
    [warning] = plugins.warnings
    assert warning.startswith(f'plugin "broken" (my-dist 3.1) is left out: {cause}')
    assert warning.endswith('To silence this: disable = ["broken"], or uninstall my-dist.')
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("WARNING", warning)]
    assert states(plugins)["broken"].startswith(f"broken: {cause}")


def test_the_place_of_an_exception_is_named(install: Install) -> None:
    install("my-dist", {"broken": "broken_c:Broken"}, {"broken_c": "x = 1\nx / 0\n"})

    [warning] = configured().warnings

    assert "ZeroDivisionError: division by zero" in warning
    assert "broken_c.py, line 2)" in warning


def test_control_characters_and_markup_of_others_do_not_reach_the_log(install: Install) -> None:
    source = "raise RuntimeError('\\x1b[31mred\\x1b]0;title\\x07 [bold]x[/bold] \\u202e' + 'y' * 9000)"
    install("my-dist", {"broken": "broken_d:Broken"}, {"broken_d": source})

    [warning] = configured().warnings

    assert warning.isprintable()
    assert "RuntimeError: red [bold]x[/bold] yyy" in warning
    assert len(warning) < 1200


def test_an_interrupt_while_a_plugin_is_imported_is_passed_on(install: Install) -> None:
    install("my-dist", {"broken": "broken_e:Broken"}, {"broken_e": "raise KeyboardInterrupt"})

    with pytest.raises(KeyboardInterrupt):
        configured()


def test_a_broken_plugin_of_our_own_is_a_problem(install: Install) -> None:
    install("continuity_core", {"extra": "broken_f:Broken"}, {"broken_f": RAISES}, "0.0.9")
    folder = install("zz", {}).parent
    (folder / "continuity_core-0.1.0.dist-info" / "entry_points.txt").write_text(
        "[continuity]\nprojection-redaction = broken_f:Broken\n"
    )
    (folder / "continuity_core-0.0.9.dist-info" / "entry_points.txt").unlink()

    [problem] = [each for each in problems() if "imported after all" in each]

    assert problem.startswith('plugin "projection-redaction" (continuity-core 0.1.0): importing it raises')
    assert problem.endswith("Reinstall continuity-core.")


def test_a_missing_redaction_is_a_problem(install: Install) -> None:
    folder = install("zz", {}).parent
    (folder / "continuity_core-0.1.0.dist-info" / "entry_points.txt").unlink()

    assert problems() == [
        (
            'plugin "projection-redaction" (continuity-core): is not installed, so nothing keeps '
            "broken protocol out of requests. Install continuity-core as a distribution: "
            "copied files declare no plugins."
        )
    ]
    assert names(configured(disable=["projection-redaction"])) == []


@pytest.mark.parametrize("kind", ["import", "no class", "misspelt hook"])
def test_broken_code_that_was_named_is_a_problem(kind: str, install: Install) -> None:
    source, cause = BROKEN[kind]
    install("some-code", {}, {"broken_b": source})

    [problem] = problems(load=["broken_b:Broken"])

    assert problem.startswith(f'plugin "broken" (load): {cause}')


def test_a_refused_plugin_from_code_is_a_problem(install: Install) -> None:
    class Empty:
        pass

    assert problems(Empty())[0].startswith('plugin "empty" (code): it has no hook.')


def test_entry_points_that_cannot_be_read_are_a_warning(install: Install) -> None:
    metadata = install("my-dist", {})
    (metadata / "entry_points.txt").write_bytes(b"[continuity]\nx = \xff\n")
    second = install("other-dist", {})
    (second / "entry_points.txt").write_text("[continuity]\nthis is no entry point\n")

    plugins = configured()

    assert [
        warning.partition(" are left out: its entry points cannot be read (")[0]
        for warning in plugins.warnings
    ]
    assert {warning.split()[2] for warning in plugins.warnings} == {"my_dist", "other_dist"}
    assert "stream-recovery" in plugins


def test_a_distribution_without_metadata_is_named_by_its_folder(install: Install) -> None:
    metadata = install("my-dist", {"observer": "observer_d:Observer"}, {"observer_d": OBSERVER})
    (metadata / "METADATA").unlink()

    [row] = [row for row in configured().table if row.name == "observer"]

    assert (row.distribution, row.version, row.state) == ("my_dist", None, "on")


# ---------------------------------------------------------------- names


def test_two_distributions_with_one_name_are_both_left_out_and_both_named(install: Install) -> None:
    install("first-dist", {"observer": "observer_e:Observer"}, {"observer_e": OBSERVER}, "1.1")
    install("second-dist", {"observer": "observer_f:Observer"}, {"observer_f": OBSERVER}, "2.2")

    plugins = configured()

    assert "observer" not in plugins
    assert "observer_e" not in sys.modules
    assert [warning.partition(". To silence this: ")[0] for warning in plugins.warnings] == [
        (
            'plugin "observer" (first-dist 1.1) is left out: its name is also declared by '
            'plugin "observer" (second-dist 2.2), and neither is loaded'
        ),
        (
            'plugin "observer" (second-dist 2.2) is left out: its name is also declared by '
            'plugin "observer" (first-dist 1.1), and neither is loaded'
        ),
    ]
    assert 'disable = ["first-dist"]' in plugins.warnings[0]

    plugins = configured(disable=["first-dist"])
    assert [row.distribution for row in plugins.table if row.name == "observer" and row.state == "on"] == [
        "second-dist"
    ]
    assert plugins.warnings == ()


def test_our_own_plugin_keeps_its_name_and_the_other_is_reported(install: Install) -> None:
    install("my-dist", {"tool-tail": "observer_g:Observer"}, {"observer_g": OBSERVER})

    plugins = configured()

    assert [row.distribution for row in plugins.table if row.name == "tool-tail" and row.state == "on"] == [
        "continuity-core"
    ]
    [warning] = plugins.warnings
    assert warning == (
        'plugin "tool-tail" (my-dist 1.0) is left out: its name belongs to continuity-core\'s own plugin. '
        'To silence this: disable = ["my-dist"], or uninstall my-dist.'
    )


def test_code_cannot_take_a_name_that_is_taken(install: Install) -> None:
    class ToolTail(Observer):
        pass

    [problem] = problems(ToolTail())

    assert 'already taken by plugin "tool-tail" (continuity-core 0.1.0)' in problem


def test_of_a_distribution_on_the_path_twice_the_first_counts(install: Install) -> None:
    metadata = install("my-dist", {"observer": "observer_h:Observer"}, {"observer_h": OBSERVER}, "1.0")
    metadata.rename(metadata.with_name("My.Dist-0.9.dist-info"))
    install("my-dist", {"observer": "observer_h:Observer"}, version="1.0")

    plugins = configured()

    assert names(plugins).count("observer") == 1
    assert plugins.warnings == ()


def test_a_bad_entry_point_name_is_refused(install: Install) -> None:
    install("my-dist", {"My Observer": "observer_i:Observer"}, {"observer_i": OBSERVER})

    [warning] = configured().warnings

    assert "'My Observer' is no plugin name" in warning


# ---------------------------------------------------------------- options


def test_mistakes_in_the_core_and_in_plugins_are_said_at_once(install: Install, write: Write) -> None:
    install("my-dist", {"observer": "observer_j:Observer"}, {"observer_j": OBSERVER})
    path = write(
        "named.toml",
        """
        max_resumes = -1
        [plugins.stream-recovery]
        retreis = 3
        retries = "many"
        [plugins.observer]
        volume = 11
        [plugins.tool-tial]
        include = []
        """,
    )

    with pytest.raises(ConfigurationError) as caught:
        load(config=path, environment={"CONTINUITY_TOOL_TAIL__INCLUD": "a"}, folder=path.parent)

    assert [str(problem) for problem in caught.value.problems] == [
        f'{path}: max_resumes: takes a whole number >= 0 or "unlimited", not -1',
        f'{path}: plugins.stream-recovery.retreis: unknown option "retreis". Did you mean "retries"?',
        f"{path}: plugins.stream-recovery.retries: takes a whole number >= 0, not 'many'",
        'CONTINUITY_TOOL_TAIL__INCLUD: unknown option "includ". Did you mean "include"?',
        f'{path}: plugins.observer.volume: plugin "observer" takes no options. Remove it.',
        (
            f'{path}: plugins.tool-tial: there is no plugin "tool-tial". Install it, or remove its options. '
            'Did you mean "tool-tail"?'
        ),
    ]


def test_while_it_is_unknown_what_is_disabled_no_third_party_is_imported(
    install: Install, write: Write
) -> None:
    install("my-dist", {"broken": "broken_g:Broken"}, {"broken_g": RAISES})
    path = write("named.toml", 'disabel = ["broken"]\n[plugins.stream-recovery]\nretries = -1')

    with pytest.raises(ConfigurationError) as caught:
        load(config=path, environment={}, folder=path.parent)

    assert "broken_g" not in sys.modules
    assert [problem.what for problem in caught.value.problems] == [
        'unknown key "disabel"',
        "takes a whole number >= 0, not -1",
    ]


def test_options_of_a_disabled_plugin_are_not_looked_at(install: Install) -> None:
    plugins = configured(disable=["tool-tail"], plugins={"tool-tail": {"no": "matter"}})

    assert states(plugins)["tool-tail"].startswith("off by")


def test_options_of_an_instance_belong_into_code(install: Install) -> None:
    assert problems(Tunable(TunableOptions()), plugins={"tunable": {"strength": 3}}) == [
        (
            'code: plugins.tunable.strength: plugin "tunable" was made in code, and its options with it. '
            "Remove the option, or hand over the class."
        )
    ]


def test_a_found_file_may_only_tighten_the_options_of_plugins(
    install: Install, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(
        "project/continuity.toml",
        """
        max_resumes = 20
        [plugins.tunable]
        strength = 2
        label = "other"
        """,
    )

    loaded = load(environment={}, folder=path.parent, extra_plugins=[Tunable])

    [row] = [row for row in loaded.plugins.table if row.name == "tunable"]
    assert (row.options["strength"].value, row.options["strength"].source) == (2, Source.PROJECT)
    assert row.options["label"].value == "plain"
    assert [each.key for each in loaded.not_accepted] == ["max_resumes", "plugins.tunable.label"]
    [record] = caplog.records
    assert record.getMessage() == (
        f"{path} was found by searching and may only tighten; not accepted: max_resumes = 20, "
        "plugins.tunable.label = other. To have it all, name the file: CONTINUITY_CONFIG or --config."
    )


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
