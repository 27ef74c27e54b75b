"""Names, values and error texts of others, made fit to be shown."""

from __future__ import annotations

from continuity_core import Mode
from continuity_core.loading.printable import describe_exception, describe_with_place, printable, value_text
from continuity_core.loading.showing import value_json
from continuity_core.loading.suggesting import closest, did_you_mean


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_an_object_that_has_no_text_is_named_by_its_type() -> None:
    assert printable(Unspeakable()) == "(Unspeakable whose text cannot be read)"
    assert describe_exception(Unspeakable()) == "Unspeakable: (Unspeakable whose text cannot be read)"


def test_an_exception_is_told_with_its_type_and_without_secrets() -> None:
    assert describe_exception(ValueError("key sk-abcdefghijklmnop\nrefused")) == "ValueError: key *** refused"
    assert describe_exception(ValueError()) == "ValueError"


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert describe_with_place(ValueError("x")) == "ValueError: x"


def test_values_are_told_as_configuration_writes_them() -> None:
    values = (True, 3, 2.5, 3600.0, None, (), ("a", "b"), Mode.OFF, "a\tb")
    assert [value_text(value) for value in values] == [
        "true",
        "3",
        "2.5",
        "3600",
        "unset",
        "(empty)",
        "a, b",
        "off",
        "a b",
    ]


def test_what_json_does_not_have_becomes_text() -> None:
    value = {"a": (Mode.OFF, 1, None), 2: ValueError("x")}

    assert value_json(value) == {"a": ["off", 1, None], "2": "x"}


def test_a_near_word_is_suggested_and_a_far_one_is_not() -> None:
    assert closest("Max-Resume", ["max_resumes", "mode"]) == "max_resumes"
    assert did_you_mean("zzz", ["b", "a"]) == "Known are a, b."
    assert did_you_mean("zzz", []) == ""
