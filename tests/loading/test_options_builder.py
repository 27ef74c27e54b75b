"""From what the sources say to one options object."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import attrs
import pytest

from continuity_core import Tighten, choice, count, count_or_unlimited, flag, names, option
from continuity_core.loading.options import OptionsClassError, resolve
from continuity_core.loading.sources import Given, Source


class Zeal(StrEnum):
    EAGER = "eager"
    CALM = "calm"
    ASLEEP = "asleep"


@attrs.frozen(kw_only=True)
class Options:
    retries: int = option(6, read=count, tighten=Tighten.LOWER, help="Tries.")
    total: int | None = option(None, read=count_or_unlimited, tighten=Tighten.LOWER, help="Tries in all.")
    eager: bool = option(True, read=flag, tighten=Tighten.OFF, help="At once.")
    careful: bool = option(False, read=flag, tighten=Tighten.ON, help="With care.")
    exclude: tuple[str, ...] = option(("a",), read=names, tighten=Tighten.MORE, help="Not these.")
    zeal: Zeal = option(Zeal.CALM, read=choice(Zeal), tighten=Tighten.LATER, help="How much.")
    label: str = option("", read=str, help="Only trusted sources set it.")

    def __attrs_post_init__(self) -> None:
        if self.total is not None and self.total < self.retries:
            raise ValueError(f"total ({self.total}) must not be less than retries ({self.retries})")


def said(value: object, source: Source = Source.USER, where: str = "there") -> Given:
    return Given(value=value, source=source, where=where)


def test_without_anything_said_the_defaults_stand() -> None:
    resolved = resolve(Options, {})

    assert resolved.options == Options()
    assert {told.source for told in resolved.provenance.values()} == {Source.DEFAULT}
    assert resolved.provenance["total"].text == "unlimited"
    assert resolved.problems == ()


def test_the_highest_source_wins_and_is_remembered() -> None:
    resolved = resolve(
        Options,
        {
            "retries": [
                said(3),
                said("4", Source.ENVIRONMENT, "X_RETRIES"),
                said(5, Source.CODE, "code: retries"),
            ]
        },
    )

    assert resolved.options.retries == 5
    assert str(resolved.provenance["retries"]) == "code (code: retries)"


def test_every_mistake_is_said_with_its_place_and_its_mend() -> None:
    resolved = resolve(
        Options,
        {
            "retries": [said(-1, where="file: retries"), said("many", where="X_RETRIES"), said(2)],
            "eager": [said("perhaps", where="file: eager")],
            "retreis": [said(1, where="file: retreis")],
        },
        "plugins.mine",
    )

    assert [str(problem) for problem in resolved.problems] == [
        'file: retreis: unknown option "retreis". Did you mean "retries"?',
        "file: retries: takes a whole number >= 0, not -1",
        "X_RETRIES: takes a whole number >= 0, not 'many'",
        "file: eager: takes true or false, not 'perhaps'",
    ]


def test_options_that_do_not_fit_together_name_all_their_places() -> None:
    resolved = resolve(Options, {"retries": [said(5, where="here")], "total": [said(4, where="there")]})

    assert [str(problem) for problem in resolved.problems] == [
        "here, there: the options do not fit together: total (4) must not be less than retries (5)"
    ]
    assert resolved.options == Options()


@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        ("retries", [0, 5, 6], [7]),
        ("total", [6, 10**6], []),
        ("eager", [False, True], []),
        ("careful", [True, False], []),
        ("zeal", ["asleep", "calm"], ["eager"]),
        ("label", [""], ["anything"]),
    ],
)
def test_a_file_that_was_found_only_tightens(name: str, accepted: list[Any], refused: list[Any]) -> None:
    for value in accepted:
        resolved = resolve(Options, {name: [said(value, Source.PROJECT)]})
        assert resolved.not_accepted == ()
        assert getattr(resolved.options, name) == value
    for value in refused:
        resolved = resolve(Options, {name: [said(value, Source.PROJECT, "p: key")]}, "plugins.mine")
        assert resolved.options == Options()
        [refusal] = resolved.not_accepted
        assert (refusal.key, refusal.value, refusal.where) == (f"plugins.mine.{name}", value, "p: key")
        assert refusal.why.startswith("a file found by searching may only tighten")


@pytest.mark.parametrize(
    ("name", "value", "below"), [("eager", True, False), ("careful", False, True), ("total", "unlimited", 9)]
)
def test_what_was_tightened_is_not_loosened_by_a_file_that_was_found(
    name: str, value: Any, below: Any
) -> None:
    resolved = resolve(Options, {name: [said(below), said(value, Source.PROJECT)]})

    assert getattr(resolved.options, name) == below
    assert len(resolved.not_accepted) == 1


def test_a_list_in_a_file_that_was_found_adds_and_removes_nothing() -> None:
    resolved = resolve(Options, {"exclude": [said(["b"], Source.PROJECT)]})

    assert resolved.options.exclude == ("a", "b")
    assert resolved.not_accepted == ()


def test_a_trusted_source_may_loosen_what_a_found_file_tightened() -> None:
    resolved = resolve(Options, {"retries": [said(1, Source.PROJECT), said(20, Source.USER)]})

    assert resolved.options.retries == 20


def test_a_value_that_changes_nothing_is_still_the_default() -> None:
    resolved = resolve(Options, {"retries": [said(6, Source.PROJECT)]})

    assert resolved.provenance["retries"].source is Source.DEFAULT


def test_a_reader_that_fails_in_its_own_way_is_a_problem_at_the_value() -> None:
    @attrs.frozen(kw_only=True)
    class Odd:
        key: str = option("a", read=lambda value: {"a": "b", "b": "b"}[value], help="Odd.")

    resolved = resolve(Odd, {"key": [said("c", where="file: key")]})

    assert [str(problem) for problem in resolved.problems] == ["file: key: KeyError: 'c'"]


def test_a_class_that_is_no_attrs_class_is_its_authors_mistake() -> None:
    class Plain:
        pass

    with pytest.raises(OptionsClassError, match=r"Plain is no attrs class: decorate it with attrs.frozen"):
        resolve(Plain, {})


def test_a_field_that_is_no_option_is_its_authors_mistake() -> None:
    @attrs.frozen(kw_only=True)
    class Half:
        retries: int = 3

    with pytest.raises(OptionsClassError, match=r"Half.retries is no option: declare it with option\("):
        resolve(Half, {})


def test_defaults_that_are_not_valid_are_their_authors_mistake() -> None:
    @attrs.frozen(kw_only=True)
    class Broken:
        retries: int = option(-1, read=count, help="Never valid.")

    with pytest.raises(OptionsClassError, match=r"the defaults of .*Broken are not valid"):
        resolve(Broken, {})
