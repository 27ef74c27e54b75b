"""Options reach the plugins they are for, and only as far as their source is trusted."""

from __future__ import annotations

import sys

import pytest
from plugin_sets import (
    OBSERVER,
    RAISES,
    Install,
    Tunable,
    TunableOptions,
    Write,
    configured,
    problems,
    states,
)

from continuity_core import ConfigurationError
from continuity_core.loading.load import load
from continuity_core.loading.sources import Source


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
