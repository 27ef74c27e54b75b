"""The contract with plugins, frozen: a change here breaks plugins that others have written."""

from __future__ import annotations

import inspect

import attrs
import pytest

from continuity_core import SPEC_VERSION, hookspecs
from continuity_core.model import boundary, decisions, host_facts, order, turn
from continuity_core.model.proposal import Proposal

MEND = """
The hook specification changed. If that is meant:
  1. say in the changelog what plugins have to do;
  2. raise SPEC_VERSION in continuity_core/hookspecs.py (the second number for what old plugins survive, such
     as a new hook; the first for everything else): a plugin that pins it is then refused with an explanation;
  3. write the new contract down in this snapshot and in the documentation of the hooks.
"""

VERSION = (0, 1)
HOOKS = {
    "continuity_classify": "(turn: 'Turn', run: 'RunView') -> 'Cause | None'",
    "continuity_turn_ended": (
        "(boundary: 'Boundary', proposal: 'Proposal') -> 'Decision | Iterable[Decision] | None'"
    ),
    "continuity_before_settle": (
        "(boundary: 'Boundary', proposal: 'Proposal') -> 'Decision | Iterable[Decision] | None'"
    ),
    "continuity_project": "(projection: 'Projection', proposal: 'Proposal') -> 'Iterable[Edit] | None'",
    "continuity_observe": "(event: 'Event', run: 'RunView') -> 'None'",
}
DECISIONS = {
    "Resume": ("reason", "budget"),
    "Wait": ("seconds", "until", "why", "stated", "cap"),
    "Omit": ("entry", "why"),
    "Replace": ("entry", "content", "why"),
    "Adjust": ("max_output_tokens", "reasoning_effort"),
    "Inject": ("text",),
    "Remember": ("value",),
    "Halt": ("reason", "end_run"),
}
SHOWN = {
    boundary.Boundary: {"point", "turn", "cause", "host", "run", "now", "recent"},
    boundary.RunView: {
        "id",
        "session",
        "parent",
        "mode",
        "started_at",
        "now",
        "turns",
        "requests",
        "output_tokens",
        "resumes",
        "held_seconds",
        "waits",
        "waited_seconds",
        "spent",
        "memory",
        "injected",
    },
    turn.Turn: {
        "stop_reason",
        "blocks",
        "results",
        "usage",
        "failure",
        "entry",
        "provider_stop",
        "unfinished",
        "requests",
    },
    turn.TurnFacts: {"cause", "stop_reason", "tools", "argument_digests", "content_digest", "ends_in"},
    host_facts.HostFacts: {
        "pending_input",
        "continuation_requested",
        "aborted",
        "output_limit",
        "classification",
        "recovers_length",
        "retry_follows",
        "ending_tools",
        "ended_on_purpose",
        "no_more_turns",
        "deadline",
        "lookup",
    },
    Proposal: {
        "resume",
        "wait",
        "edits",
        "adjust",
        "injections",
        "memory",
        "halt",
        "bundles",
        "dropped",
        "faults",
    },
}
"""What a plugin may read: these fields stay; new ones may come."""


def specified() -> dict[str, object]:
    return {name: one for name, one in vars(hookspecs).items() if name.startswith("continuity_")}


def test_the_version_of_the_specification_is_the_frozen_one() -> None:
    assert SPEC_VERSION == VERSION, MEND


def test_the_hooks_and_their_signatures_are_the_frozen_ones() -> None:
    found = {name: str(inspect.signature(hook)) for name, hook in specified().items()}  # type: ignore[arg-type]
    assert found == HOOKS, MEND


@pytest.mark.parametrize("hook", HOOKS)
def test_no_hook_is_historic_first_result_or_renamed(hook: str) -> None:
    options = getattr(specified()[hook], "continuity_spec")  # noqa: B009
    assert not options["firstresult"], MEND
    assert not options["historic"], MEND


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_says_when_it_is_called_and_what_its_result_means(hook: str) -> None:
    told = inspect.getdoc(specified()[hook]) or ""
    assert "Called" in told
    assert "eturn" in told or "results are ignored" in told


def test_the_decisions_and_the_order_of_their_fields_are_the_frozen_ones() -> None:
    found = {kind.__name__: tuple(f.name for f in attrs.fields(kind)) for kind in decisions.DECISIONS}
    assert found == DECISIONS, MEND
    assert {kind.__name__ for kind in decisions.EDITS} == {"Omit", "Replace"}, MEND


@pytest.mark.parametrize("kind", decisions.DECISIONS)
def test_decisions_never_change_once_they_are_made(kind: type) -> None:
    assert attrs.fields_dict(kind)
    assert kind.__setattr__ is not object.__setattr__


@pytest.mark.parametrize("shown", SHOWN, ids=lambda kind: kind.__name__)
def test_what_plugins_may_read_is_still_there(shown: type) -> None:
    assert SHOWN[shown] <= set(attrs.fields_dict(shown)), MEND


def test_the_stages_and_their_order_are_the_frozen_ones() -> None:
    assert [stage.value for stage in order.Stage] == ["wait", "recover", "tail", "guard", "redact"], MEND
    assert [stage.rank for stage in order.Stage] == [0, 1, 2, 3, 4]
