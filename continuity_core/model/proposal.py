"""The joined decisions of the plugins at one boundary, each with the plugin that made it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Generic, TypeVar

import attrs

from continuity_core.model.decisions import (
    Adjust,
    Decision,
    Edit,
    Halt,
    Inject,
    JSONValue,
    Resume,
    Wait,
)
from continuity_core.model.entries import EntryRef

D = TypeVar("D", bound=Decision)

_NO_EDITS: Mapping[EntryRef, Said[Edit]] = MappingProxyType({})
_NO_MEMORY: Mapping[str, JSONValue] = MappingProxyType({})


@attrs.frozen
class Said(Generic[D]):
    """A decision and the plugin that made it."""

    plugin: str
    decision: D


@attrs.frozen
class Bundle:
    """What one plugin returned from one hook call; ``rank`` is its place in the chain."""

    plugin: str
    rank: int
    decisions: tuple[Decision, ...]

    @property
    def resume(self) -> Resume | None:
        """Its first resume, if it asks for one."""
        for decision in self.decisions:
            if isinstance(decision, Resume):
                return decision
        return None


@attrs.frozen
class Dropped:
    """A bundle, or a single decision, that does not stand, and why."""

    plugin: str
    what: str
    why: str


@attrs.frozen
class PluginFault:
    """A plugin's mistake: it raised, or returned what is no decision."""

    plugin: str
    hook: str
    error: str
    disables: bool = False
    """The plugin is left out for the rest of the run."""


@attrs.frozen(kw_only=True, slots=False)
class Proposal:
    """The joined decisions so far at this boundary.

    What a plugin sees is the join of the plugins before it. Whether the resume is affordable was already
    looked at; whether the host's own recovery or other work comes first is decided when the chain is through.
    """

    resume: Said[Resume] | None = None
    wait: Said[Wait] | None = None
    """The longest of all waits."""
    edits: Mapping[EntryRef, Said[Edit]] = _NO_EDITS
    adjust: Said[Adjust] | None = None
    """The smallest value asked for of each setting; the plugin is the one that set the last of them."""
    injections: tuple[Said[Inject], ...] = ()
    memory: Mapping[str, JSONValue] = _NO_MEMORY
    halt: Said[Halt] | None = None
    bundles: tuple[Bundle, ...] = ()
    """The bundles that stand, in chain order."""
    dropped: tuple[Dropped, ...] = ()
    faults: tuple[PluginFault, ...] = ()

    resume_at_settle: bool = False
    """The host's own recovery goes first: the same resume is asked for again at ``before_settle``."""
    hold_seconds: float = 0.0
    """How long the host holds before the next turn; 0 where nothing is to be held."""
    hold_until: datetime | None = None
    """The instant to hold until, where the provider stated the longest wait; it follows wall time."""
    no_resume: str | None = None
    """Why a resume that was proposed does not happen."""
    possible_at: datetime | None = None
    """When a resume would have been possible, where a stated wait reaches too far."""
    wait_refused: bool = False
    """A wait cannot be held: the turn is not resumed before settling either."""
    exhausted: tuple[str, ...] = ()
    """Windows that had no wait left for this turn, as ``plugin.budget``."""
    superseded: bool = False
    """Other work goes on by itself; its edits are made at request time."""


EMPTY_PROPOSAL = Proposal()
