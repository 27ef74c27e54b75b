"""The algebra of joining: what depends on the chain's order, and what must not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import ref

from continuity_core import (
    Adjust,
    Halt,
    Inject,
    Omit,
    Proposal,
    ReasoningEffort,
    Remember,
    Replace,
    Resume,
    Wait,
)
from continuity_core.engine.join import join, without_resumes
from continuity_core.model.proposal import Bundle
from continuity_core.testing.strategies import NOW, bundles


def said(*several: Sequence[Any]) -> list[Bundle]:
    return [Bundle(f"plugin-{rank}", rank, tuple(each)) for rank, each in enumerate(several)]


def reordered(given_bundles: list[Bundle], data: st.DataObject) -> list[Bundle]:
    """The same plugins saying the same from other places of the chain."""
    ranks = data.draw(st.permutations(range(len(given_bundles))))
    return [attrs.evolve(bundle, rank=rank) for bundle, rank in zip(given_bundles, ranks, strict=True)]


def without_place(proposal: Proposal) -> dict[str, Any]:
    """What of a join must not depend on who stands where."""
    return {
        "resumes": proposal.resume is not None,
        "wait": proposal.wait and proposal.wait.decision.seconds_from(NOW),
        "omitted": {entry for entry, edit in proposal.edits.items() if isinstance(edit.decision, Omit)},
        "edited": set(proposal.edits),
        "adjust": proposal.adjust and proposal.adjust.decision,
        "halted": proposal.halt is not None,
        "ends the run": proposal.halt is not None and proposal.halt.decision.end_run,
        "memory": dict(proposal.memory),
        "injected": {(one.plugin, one.decision.text) for one in proposal.injections},
        "fallen": {(one.plugin, one.what) for one in proposal.dropped if one.what != "Replace"},
    }


@settings(max_examples=50)
@given(bundles(), st.randoms(use_true_random=False))
def test_the_order_in_which_bundles_are_given_never_matters(several: list[Bundle], random: Any) -> None:
    shuffled = list(several)
    random.shuffle(shuffled)
    assert join(shuffled, NOW) == join(several, NOW)


@settings(max_examples=50)
@given(bundles(), st.data())
def test_only_replace_inject_and_attribution_look_at_the_place_in_the_chain(
    several: list[Bundle], data: st.DataObject
) -> None:
    assert without_place(join(reordered(several, data), NOW)) == without_place(join(several, NOW))


@settings(max_examples=50)
@given(bundles())
def test_a_halt_leaves_no_resume_and_drops_every_bundle_that_asked_for_one(several: list[Bundle]) -> None:
    proposal = join(several, NOW)
    halts = any(isinstance(d, Halt) for bundle in several for d in bundle.decisions)
    asking = {bundle.plugin for bundle in several if bundle.resume is not None}
    assert (proposal.halt is not None) is halts
    assert (proposal.resume is not None) is (bool(asking) and not halts)
    if halts:
        assert {one.plugin for one in proposal.dropped if "Resume" in one.what} == asking
        assert (proposal.no_resume is not None) is bool(asking)


@settings(max_examples=50)
@given(bundles())
def test_an_omission_beats_every_replacement_of_the_same_entry(several: list[Bundle]) -> None:
    proposal = join(several, NOW)
    for bundle in proposal.bundles:
        for decision in bundle.decisions:
            if isinstance(decision, Omit):
                assert isinstance(proposal.edits[decision.entry].decision, Omit)


@settings(max_examples=50)
@given(bundles())
def test_no_later_plugin_ever_shows_more_of_an_entry(several: list[Bundle]) -> None:
    for earlier, later in zip(prefixes(several), prefixes(several)[1:], strict=False):
        if any(bundle not in later.bundles for bundle in earlier.bundles):
            continue  # A halt took bundles away, and their edits with them.
        for entry, before in earlier.edits.items():
            after = later.edits[entry].decision
            if isinstance(before.decision, Omit):
                assert isinstance(after, Omit)
            elif isinstance(after, Replace):
                assert len(after.content) <= len(before.decision.content)


def prefixes(several: list[Bundle]) -> list[Proposal]:
    return [join(start, NOW) for start in accumulate(([bundle] for bundle in several), initial=[])]


@settings(max_examples=50)
@given(bundles())
def test_without_resumes_no_bundle_that_asked_for_one_stands(several: list[Bundle]) -> None:
    proposal = without_resumes(join(several, NOW), "the wait is too long", NOW)
    assert proposal.resume is None
    assert proposal.no_resume == "the wait is too long"
    assert proposal.wait_refused
    assert all(bundle.resume is None for bundle in proposal.bundles)
    assert (proposal.halt is None) is (join(several, NOW).halt is None)
    assert len(set(proposal.dropped)) == len(proposal.dropped)


def test_nothing_said_is_the_empty_proposal_itself() -> None:
    assert join([], NOW) is join([], NOW)


def test_the_first_of_several_resumes_stands_and_the_others_keep_their_decisions() -> None:
    proposal = join(said([Resume("one")], [Resume("two"), Omit(ref("a"), "broken")]), NOW)
    assert proposal.resume is not None
    assert proposal.resume.plugin == "plugin-0"
    assert set(proposal.edits) == {ref("a")}


def test_the_longest_wait_counts_and_a_stated_one_wins_a_tie() -> None:
    own, stated = Wait(seconds=7, why="own"), Wait(seconds=7, why="stated", stated=True)
    shorter = Wait(seconds=6.9, why="short", stated=True)
    proposal = join(said([own], [shorter], [stated]), NOW)
    assert proposal.wait is not None
    assert proposal.wait.decision is stated


def test_a_wait_of_our_own_is_compared_after_its_cap() -> None:
    capped, plain = Wait(seconds=100, cap=3, why="capped"), Wait(seconds=4, why="plain")
    proposal = join(said([capped], [plain]), NOW)
    assert proposal.wait is not None
    assert proposal.wait.decision is plain


def test_each_setting_is_adjusted_to_the_smaller_value() -> None:
    proposal = join(
        said(
            [Adjust(max_output_tokens=900, reasoning_effort="high")],
            [Adjust(reasoning_effort="low")],
            [Adjust(max_output_tokens=1000, reasoning_effort="medium")],
            [Adjust(max_output_tokens=800)],
        ),
        NOW,
    )
    assert proposal.adjust is not None
    assert proposal.adjust.decision == Adjust(max_output_tokens=800, reasoning_effort=ReasoningEffort.LOW)
    assert proposal.adjust.plugin == "plugin-3"


def test_replacements_are_threaded_and_one_that_shows_more_is_dropped_with_its_reason() -> None:
    entry = ref("a")
    narrowed = join(said([Replace(entry, "12345", "w")], [Replace(entry, "123", "w")]), NOW)
    assert narrowed.edits[entry].plugin == "plugin-1"
    widened = join(said([Replace(entry, "123", "w")], [Replace(entry, "12345", "w")]), NOW)
    assert widened.edits[entry].plugin == "plugin-0"
    assert [(one.plugin, one.what) for one in widened.dropped] == [("plugin-1", "Replace")]
    assert "plugin-0 shows less of id:a" in widened.dropped[0].why


def test_a_replacement_after_an_omission_is_dropped_with_its_reason() -> None:
    entry = ref("a")
    proposal = join(said([Omit(entry, "broken")], [Replace(entry, "1", "w")]), NOW)
    assert isinstance(proposal.edits[entry].decision, Omit)
    assert "an omission is not taken back" in proposal.dropped[0].why


def test_a_halt_that_ends_the_run_is_the_one_that_is_shown() -> None:
    proposal = join(said([Halt("softly")], [Halt("now", end_run=True)]), NOW)
    assert proposal.halt is not None
    assert proposal.halt.decision == Halt("now", end_run=True)


def test_injections_and_memories_are_kept_by_plugin_in_chain_order() -> None:
    proposal = join(said([Inject("one"), Remember(1)], [Inject("two"), Remember({"a": 2})]), NOW)
    assert [one.decision.text for one in proposal.injections] == ["one", "two"]
    assert proposal.memory == {"plugin-0": 1, "plugin-1": {"a": 2}}


@pytest.mark.parametrize("halted", [True, False])
def test_a_bundle_that_halts_and_asks_for_a_resume_halts(halted: bool) -> None:
    first = [Resume("again"), Omit(ref("a"), "broken"), *([Halt("enough")] if halted else [])]
    proposal = join(said(first, [Resume("me too")]), NOW)
    assert (proposal.resume is None) is halted
    assert (proposal.edits == {}) is halted
