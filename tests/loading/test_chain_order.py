"""The order of the chain."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core import Order, Stage
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.errors import OrderError
from continuity_core.loading.ordering import in_chain_order


def plugin(
    name: str, stage: Stage = Stage.RECOVER, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> RegisteredPlugin:
    order = Order(stage=stage, runs_before=before, runs_after=after)
    return RegisteredPlugin(name=name, plugin=object(), order=order, distribution="some-dist", version="1.0")


def ordered(*plugins: RegisteredPlugin) -> list[str]:
    return [entry.name for entry in in_chain_order(plugins)]


def test_stages_come_first_and_names_last() -> None:
    plugins = [
        plugin("z", Stage.WAIT),
        plugin("b", Stage.GUARD),
        plugin("a", Stage.REDACT),
        plugin("d", Stage.RECOVER),
        plugin("c", Stage.RECOVER),
        plugin("e", Stage.TAIL),
    ]

    assert ordered(*plugins) == ["z", "c", "d", "e", "b", "a"]


def test_constraints_outrank_names() -> None:
    assert ordered(plugin("a", after=("c",)), plugin("b"), plugin("c")) == ["b", "c", "a"]
    assert ordered(plugin("a"), plugin("b"), plugin("c", before=("a",))) == ["b", "c", "a"]


def test_an_order_that_fulfils_its_constraints_stays_as_it_is() -> None:
    assert ordered(plugin("a", before=("d",)), plugin("b", after=("a",)), plugin("c"), plugin("d")) == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_a_constraint_on_a_plugin_that_is_not_there_counts_for_nothing() -> None:
    assert ordered(plugin("a", after=("missing",)), plugin("b", before=("missing",))) == ["a", "b"]


def test_a_constraint_that_the_stages_fulfil_anyway_is_allowed() -> None:
    assert ordered(plugin("a", Stage.GUARD, after=("b",)), plugin("b", before=("a",))) == ["b", "a"]


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (plugin("a", Stage.GUARD, before=("b",)), plugin("b"), 'runs_before "b" of stage recover'),
        (plugin("a", Stage.WAIT, after=("b",)), plugin("b"), 'runs_after "b" of stage recover'),
    ],
)
def test_a_constraint_against_the_stages_is_an_error_that_names_its_author(
    first: RegisteredPlugin, second: RegisteredPlugin, says: str
) -> None:
    with pytest.raises(OrderError) as caught:
        in_chain_order((first, second))

    message = str(caught.value)
    assert message.startswith(
        f'plugin "a" (some-dist 1.0) of stage {first.order.stage.value} asks for {says}'
    )
    assert "wait, recover, tail, guard, redact" in message
    assert 'disable = ["a"]' in message


def test_a_cycle_is_printed() -> None:
    plugins = (plugin("d", before=("a",)), plugin("a", before=("c",)), plugin("c", before=("b",)))

    with pytest.raises(OrderError, match=r"in a circle: a -> c -> b -> a \(each runs before the next\)"):
        in_chain_order((*plugins, plugin("b", before=("a",))))


def test_two_that_each_want_to_be_last_are_a_cycle() -> None:
    with pytest.raises(OrderError, match="in a circle: a -> b -> a"):
        in_chain_order((plugin("a", after=("b",)), plugin("b", after=("a",))))


NAMES = "abcdefgh"
CONSTRAINTS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=12)


@given(CONSTRAINTS, st.permutations(NAMES))
def test_every_constraint_holds_or_a_real_cycle_is_printed(
    pairs: list[tuple[str, str]], given_order: str
) -> None:
    before = {name: tuple(late for early, late in pairs if early == name and late != name) for name in NAMES}
    plugins = [plugin(name, before=before[name]) for name in given_order]

    try:
        result = ordered(*plugins)
    except OrderError as error:
        cycle = str(error).split("circle: ")[1].split(" (")[0].split(" -> ")
        assert cycle[0] == cycle[-1]
        assert all(late in before[early] for early, late in itertools.pairwise(cycle))
        return
    assert sorted(result) == list(NAMES)
    assert all(result.index(early) < result.index(late) for early in NAMES for late in before[early])
    if all(early < late for early in NAMES for late in before[early]):
        assert result == list(NAMES)
