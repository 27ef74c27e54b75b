"""The next request's projection: committed edits, then what the chain says; history is never touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import attrs

from continuity_core.engine.bundles import why_not_of_this_role
from continuity_core.engine.chain import Chain, SlowCall, edits_reader, isolated
from continuity_core.engine.join import describe
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.engine.state import RunState
from continuity_core.model.decisions import Edit, Omit, Replace
from continuity_core.model.entries import Entry, EntryRef, Projection
from continuity_core.model.evolving import changed
from continuity_core.model.proposal import Bundle, Dropped, PluginFault, Proposal

_NOTHING: Mapping[EntryRef, str] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class ProjectionResult:
    """What the host sends in the next request."""

    entries: tuple[Entry, ...]
    """The entries in order; ``text`` is what is to be shown of those in ``replaced``."""
    omitted: frozenset[EntryRef] = frozenset()
    replaced: Mapping[EntryRef, str] = _NOTHING
    """The new, only text of an entry: calls, reasoning and signatures of it are gone."""
    injected: bool = False
    """Whether text of ours is among the entries."""
    dropped: tuple[Dropped, ...] = ()
    """Edits that were refused."""
    faults: tuple[PluginFault, ...] = ()
    slow: tuple[SlowCall, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the host has to send anything but its history as it is."""
        return bool(self.omitted or self.replaced or self.injected)


def without_artefacts(entries: Sequence[Entry]) -> ProjectionResult:
    """The projection while recovery is off: untouched, but for what earlier versions left behind."""
    omitted = frozenset(entry.ref for entry in entries if entry.artefact)
    if not omitted:
        return ProjectionResult(entries=tuple(entries))
    return ProjectionResult(entries=tuple(e for e in entries if not e.artefact), omitted=omitted)


def project(
    entries: Sequence[Entry], chain: Chain, state: RunState, proposal: Proposal, seen: Seen | None = None
) -> ProjectionResult:
    """Apply the edits of the session, then ask the chain.

    ``seen`` is what the run saw at its last request; it is brought up to date.
    """
    seen = seen or Seen()
    given, edits, asked = tuple(entries), state.session.edits, (chain, state.disabled)
    start = seen.length_of_start(given, edits)
    unchanged = len(seen.entries) if start and seen.left_by == asked else 0
    work = _Work(given)
    if edits:
        work = _Work(given[start:])
        work.edit([edits[e.ref] for e in work.entries if e.ref in edits and not _shows_more(edits[e.ref], e)])
        if start:
            work.follow(seen)
    seen.take(given, edits, work)
    read_edits = edits_reader(len(given))
    for link in chain.project:
        if link.name in state.disabled:
            continue
        result = isolated(link, read_edits, Projection(work.entries, unchanged), proposal)
        if result is None:
            continue
        unchanged = 0
        work.faults.extend(result.faults)
        work.slow.extend(result.slow)
        if result.value is not None:
            work.add(result.value, link.plugin)
    if not (work.faults or work.dropped) and work.entries is seen.entries:
        seen.left_by = asked
    return work.result(state)


@attrs.define(eq=False)
class _Work:
    """A projection that is being narrowed."""

    entries: tuple[Entry, ...]
    omitted: set[EntryRef] = attrs.field(factory=set)
    replaced: dict[EntryRef, str] = attrs.field(factory=dict)
    dropped: list[Dropped] = attrs.field(factory=list)
    faults: list[PluginFault] = attrs.field(factory=list)
    slow: list[SlowCall] = attrs.field(factory=list)

    def add(self, bundle: Bundle, plugin: RegisteredPlugin) -> None:
        edits = [d for d in bundle.decisions if isinstance(d, Omit | Replace)]
        why = why_not_project(edits, self.entries, plugin)
        if why is None:
            self.edit(edits)
        else:
            self.dropped.append(Dropped(bundle.plugin, describe(bundle), why))

    def edit(self, edits: Iterable[Edit]) -> None:
        omit = {edit.entry for edit in edits if isinstance(edit, Omit)}
        replace = {edit.entry: edit.content for edit in edits if isinstance(edit, Replace)}
        kept = []
        for entry in self.entries:
            if entry.ref in omit:
                self.omitted.add(entry.ref)
                self.replaced.pop(entry.ref, None)
            elif entry.ref in replace:
                self.replaced[entry.ref] = replace[entry.ref]
                kept.append(narrowed(entry, replace[entry.ref]))
            else:
                kept.append(entry)
        self.entries = tuple(kept)

    def follow(self, seen: Seen) -> None:
        """Put what was seen at the last request, with its edits, before the rest."""
        self.entries = seen.entries + self.entries
        self.omitted |= seen.omitted
        self.replaced = {**seen.replaced, **self.replaced}

    def result(self, state: RunState) -> ProjectionResult:
        return ProjectionResult(
            entries=with_injections(self.entries, state),
            omitted=frozenset(self.omitted),
            replaced=self.replaced,
            injected=bool(state.injections),
            dropped=tuple(self.dropped),
            faults=tuple(self.faults),
            slow=tuple(self.slow),
        )


@attrs.define(eq=False)
class Seen:
    """What a run saw at its last request, so that the next one looks only at what was added.

    It holds on to the entries and pays only where the host gives the same objects again. A host that makes
    them anew for every request shows it at the second one, and nothing is held from then on.
    """

    given: tuple[Entry, ...] = ()
    edits: Mapping[EntryRef, Edit] = attrs.field(factory=dict)
    """Those of the session then."""
    entries: tuple[Entry, ...] = ()
    """The entries with these edits."""
    omitted: frozenset[EntryRef] = frozenset()
    replaced: Mapping[EntryRef, str] = _NOTHING
    left_by: tuple[Chain, frozenset[str]] | None = None
    """The chain, and who of it was disabled, where all others left the entries as they were."""
    hits: int = 0
    misses: int = 0

    def length_of_start(self, entries: tuple[Entry, ...], edits: Mapping[EntryRef, Edit]) -> int:
        """How many of the first entries, and their edits, are the ones seen: all of those, or none."""
        last, length = self.given, len(self.given)
        if not length:
            return 0
        # The comparison of two tuples passes over what is the same object, at the speed of C.
        found = (
            len(entries) >= length
            and entries[0] is last[0]
            and entries[length - 1] is last[-1]
            and entries[:length] == last
        )
        self.hits += found
        self.misses += not found
        return length if found and edits is self.edits else 0

    def take(self, given: tuple[Entry, ...], edits: Mapping[EntryRef, Edit], work: _Work) -> None:
        """See a projection, before any plugin edits it."""
        self.left_by = None
        if self.misses > self.hits:
            self.given = self.entries = ()
            return
        self.given, self.edits, self.entries = given, edits, work.entries
        self.omitted, self.replaced = frozenset(work.omitted), dict(work.replaced)


def narrowed(entry: Entry, content: str) -> Entry:
    """The entry with ``content`` as its only content: calls are gone, results stay results."""
    return attrs.evolve(entry, text=content, calls=())


def with_injections(entries: tuple[Entry, ...], state: RunState) -> tuple[Entry, ...]:
    """The entries with each injected text after the entry it follows, or at the end where that is gone."""
    if not state.injections:
        return entries
    result = list(entries)
    for plugin, injection in state.injections.items():
        entry = Entry(ref=EntryRef(f"injected:{plugin}"), role="user", text=injection.text, injected=True)
        places = [place for place, known in enumerate(result) if known.ref == injection.after]
        result.insert(places[-1] + 1 if places else len(result), entry)
    return tuple(result)


def anchored(state: RunState, last: EntryRef | None) -> RunState:
    """The state after a request carried the injections: each keeps its place from then on."""
    if last is None or all(injection.after is not None for injection in state.injections.values()):
        return state
    injections = {
        plugin: injection if injection.after is not None else attrs.evolve(injection, after=last)
        for plugin, injection in state.injections.items()
    }
    return changed(state, injections=injections)


def _shows_more(edit: Edit, entry: Entry) -> bool:
    return isinstance(edit, Replace) and len(edit.content) > len(entry.text)


def why_not_project(
    edits: Sequence[Edit], entries: tuple[Entry, ...], plugin: RegisteredPlugin
) -> str | None:
    """Why a plugin's edits of a projection do not stand; ``None`` where they do."""
    known = {entry.ref: entry for entry in entries}
    omit = {edit.entry for edit in edits if isinstance(edit, Omit)}
    loses_calls = set(omit)
    for edit in edits:
        entry = known.get(edit.entry)
        if entry is None:
            return f"it edits {edit.entry.key}, an entry that is not in the projection"
        why = why_not_of_this_role(entry, plugin)
        if why is not None:
            return why
        if isinstance(edit, Replace):
            if _shows_more(edit, entry):
                return f"it shows more of {edit.entry.key} than is there: a Replace may only narrow"
            if entry.calls:
                loses_calls.add(edit.entry)
    return _half_pair(entries, omit, loses_calls)


def _half_pair(entries: tuple[Entry, ...], omit: set[EntryRef], loses_calls: set[EntryRef]) -> str | None:
    """Find a call without its result, or the reverse, that only these edits would leave behind."""
    left: set[tuple[int, str]] = set()
    gone: set[tuple[int, str]] = set()
    for entry, callers in zip(entries, Projection(entries).callers(), strict=True):
        for call, place in callers.items():
            if place is None:
                continue
            if entry.ref in omit:
                gone.add((place, call))
                continue
            left.add((place, call))
            if entries[place].ref in loses_calls:
                return f"it edits half of a pair: {entry.ref.key} would be a result without its call"
    for place, _ in gone - left:
        if entries[place].ref not in loses_calls:
            return f"it edits half of a pair: {entries[place].ref.key} would be a call without its result"
    return None
