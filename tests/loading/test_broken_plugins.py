"""A plugin that cannot be used, or not under its name, is named, and the others work."""

from __future__ import annotations

import sys

import pytest
from plugin_sets import (
    OBSERVER,
    RAISES,
    Install,
    Observer,
    configured,
    names,
    problems,
    states,
)

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
