"""The readers of options accept what configuration and environment can say, and their own results."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core import Tighten, choice, count, count_or_unlimited, flag, names, option
from continuity_core.model.options import OPTION_METADATA


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("read", "given_", "value"),
    [
        (count, 0, 0),
        (count, " 12 ", 12),
        (count_or_unlimited, "unlimited", None),
        (count_or_unlimited, None, None),
        (count_or_unlimited, "3", 3),
        (flag, True, True),
        (flag, " Yes", True),
        (flag, "on", True),
        (flag, "1", True),
        (flag, "FALSE", False),
        (flag, "off", False),
        (flag, "no", False),
        (flag, "0", False),
        (names, ["a", "b", "a"], ("a", "b")),
        (names, "a, b,,a ", ("a", "b")),
        (names, "", ()),
        (names, (), ()),
        (choice(Colour), "red", Colour.RED),
        (choice(Colour), Colour.BLUE, Colour.BLUE),
    ],
)
def test_what_is_allowed_is_read(read: Callable[[Any], Any], given_: Any, value: Any) -> None:
    assert read(given_) == value
    assert read(read(given_)) == value


@pytest.mark.parametrize(
    ("read", "given_", "told"),
    [
        (count, -1, "a whole number >= 0"),
        (count, True, "a whole number >= 0"),
        (count, 1.0, "a whole number >= 0"),
        (count, "-1", "a whole number >= 0"),
        (count, None, "a whole number >= 0"),
        (count_or_unlimited, "many", '>= 0 or "unlimited"'),
        (count_or_unlimited, False, '>= 0 or "unlimited"'),
        (flag, 1, "true or false"),
        (flag, "perhaps", "true or false"),
        (flag, None, "true or false"),
        (names, 7, "a list of names"),
        (names, [1], "and 1 is none"),
        (names, ["a", " "], "and ' ' is none"),
        (choice(Colour), "green", 'one of "red", "blue"'),
        (choice(Colour), None, 'one of "red", "blue"'),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(
    read: Callable[[Any], Any], given_: Any, told: str
) -> None:
    with pytest.raises(ValueError, match="takes") as refused:
        read(given_)
    assert told in str(refused.value)


@pytest.mark.parametrize("read", [count, count_or_unlimited, flag, names, choice(Colour)])
@given(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()), st.binary()
    )
)
def test_a_reader_gives_a_value_that_it_accepts_again_or_a_value_error(
    read: Callable[[Any], Any], given_: Any
) -> None:
    try:
        value = read(given_)
    except ValueError:
        return
    assert read(value) == value


def test_an_option_carries_its_help_its_reader_and_how_it_may_be_tightened() -> None:
    @attrs.frozen(kw_only=True)
    class Options:
        retries: int = option("3", read=count, tighten=Tighten.LOWER, help="How often.")

    info = attrs.fields(Options).retries.metadata[OPTION_METADATA]
    assert (info.help, info.read, info.tighten) == ("How often.", count, Tighten.LOWER)
    assert Options().retries == 3
    with pytest.raises(ValueError, match="takes a whole number"):
        Options(retries=-1)
