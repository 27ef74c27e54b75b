"""Versions as ``require`` compares them."""

from __future__ import annotations

import itertools

import pytest

from continuity_core.loading.versions import Requirement, requirements, version_key

ASCENDING = [
    "0.9",
    "1.0.dev1",
    "1.0a1.dev2",
    "1.0a1",
    "1.0a2",
    "1.0b1",
    "1.0rc1",
    "1.0",
    "1.0.post1.dev1",
    "1.0.post1",
    "1.0.1",
    "1.2",
    "1.10",
    "1!0.1",
]


def test_versions_sort_as_packaging_sorts_them() -> None:
    for older, newer in itertools.pairwise(ASCENDING):
        assert version_key(older) < version_key(newer), (older, newer)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1.0.0"), ("v1.2", "1.2"), ("1.0-1", "1.0.post1"), ("1.0c1", "1.0-RC.1"), ("1.0+ubuntu1", "1.0")],
)
def test_spellings_of_one_version_are_equal(one: str, other: str) -> None:
    assert version_key(one) == version_key(other)


@pytest.mark.parametrize(
    ("requirement", "version", "allowed"),
    [
        ("name", None, True),
        ("name>=1", "1.0", True),
        ("name>=1", "0.9", False),
        ("name >= 1, <2", "1.9.9", True),
        ("name>=1,<2", "2.0", False),
        ("name==1.2", "1.2.0", True),
        ("name!=1.2", "1.2", False),
        ("name>1.2", "1.2.1", True),
        ("name<=1.2", "1.2.1", False),
        ("name~=1.2", "1.9", True),
        ("name~=1.2", "2.0", False),
        ("name~=1.2.3", "1.2.9", True),
        ("name~=1.2.3", "1.3", False),
        ("name~=1.0", "1", True),
        ("name>=1", None, False),
        ("name>=1", "unknown", False),
    ],
)
def test_a_requirement_allows_what_its_limits_allow(
    requirement: str, version: str | None, allowed: bool
) -> None:
    assert Requirement.parse(requirement).allows(version) is allowed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no requirement"),
        ("a b", "is no requirement"),
        ("name=1", "is no comparison"),
        ("name>=1,", "is no comparison"),
        ("name>=one", "is no version"),
        ("name==1.*", "is no version"),
        ("name~=1", "~= needs a version of two numbers or more, such as ~=1.0"),
    ],
)
def test_what_is_no_requirement_is_said_so(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Requirement.parse(text)


def test_a_requirement_prints_as_it_is_written() -> None:
    assert str(Requirement.parse("my_name >= 1 , <2")) == "my_name>=1,<2"


def test_text_holds_requirements_parted_by_semicolons() -> None:
    assert requirements("a>=1,<2; b") == requirements(["a>=1,<2", "b", "b"])


@pytest.mark.parametrize("value", [3, [3]])
def test_anything_but_texts_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="takes a list"):
        requirements(value)
