"""The state of a run: one immutable value that round-trips through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import attrs

from continuity_core.engine.saved_fields import SavedFields
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Edit, JSONValue, Omit, Replace
from continuity_core.model.entries import EntryRef
from continuity_core.model.evolving import changed
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import TurnFacts

RECENT_TURNS = 16
"""How many turns' facts a run keeps."""

MAX_EDITS = 10_000
"""How many edits a session keeps; the oldest go first."""

_EMPTY: Mapping[Any, Any] = MappingProxyType({})


class Outcome(StrEnum):
    """What became of a proposal."""

    NONE = "none"
    """Nothing was proposed that could be scheduled."""
    SCHEDULED = "scheduled"
    """The host was asked for one more turn."""
    DEFERRED = "deferred"
    """The host's own recovery goes first."""
    CANCELLED = "cancelled"
    """Ended by an abort, by switching recovery off, or by a shutdown."""
    SUPERSEDED = "superseded"
    """Other work goes on by itself."""
    REFUSED = "refused"
    """A resume was proposed and does not stand."""
    OBSERVED = "observed"
    """Mode ``observe``: nothing was done."""


@attrs.frozen(kw_only=True, slots=False)
class HeldWait:
    """How the wait of a boundary went."""

    seconds: float = 0.0
    completed: bool = False
    """Held to its end."""


NOT_HELD = HeldWait()


@attrs.frozen(kw_only=True, slots=False)
class WindowState:
    """What a usage-limit window has used."""

    waits: int = 0
    held: float = 0.0
    exhausted: bool = False
    """One window of this session was exhausted: later ones are longer."""
    closed_in: str | None = None
    """The run in which this window was exhausted; the next run opens a new one."""


@attrs.frozen(kw_only=True, slots=False)
class SessionState:
    """What outlives a run."""

    edits: Mapping[EntryRef, Edit] = _EMPTY
    windows: Mapping[str, WindowState] = _EMPTY
    """By ``plugin.budget``."""

    def with_edits(self, edits: Mapping[EntryRef, Edit]) -> SessionState:
        """Add edits; what is left out, or shown in part, is not shown again by a later replacement."""
        merged = dict(self.edits)
        for ref, edit in edits.items():
            if _narrows(edit, merged.get(ref)):
                merged[ref] = edit
        for ref in list(merged)[: max(0, len(merged) - MAX_EDITS)]:
            del merged[ref]
        return changed(self, edits=merged)


NEW_SESSION = SessionState()


@attrs.frozen(kw_only=True, slots=False)
class PluginWaits:
    """Waits of one plugin in a run."""

    count: int = 0
    """Those held to their end."""
    seconds: float = 0.0


@attrs.frozen(kw_only=True, slots=False)
class Streak:
    """``length`` turns of identical content in a row."""

    digest: str
    resumes: int = 0


@attrs.frozen(kw_only=True, slots=False)
class Injection:
    """Model-visible text of a plugin, and the entry it follows."""

    text: str
    after: EntryRef | None = None
    """``None`` until the first request that carries it."""


@attrs.frozen(kw_only=True, slots=False)
class RunState:
    """Everything that decides about a run, but for the plugins and the settings."""

    run: str
    session_id: str
    started_at: datetime
    parent: str | None = None
    session: SessionState = NEW_SESSION
    turns: int = 0
    requests: int = 0
    output_tokens: int = 0
    resumes: int = 0
    """All that were scheduled, in this run."""
    charged: int = 0
    """Those charged to ``max_resumes``."""
    held: float = 0.0
    spent: Mapping[str, int] = _EMPTY
    """By ``plugin.budget``."""
    waits: Mapping[str, PluginWaits] = _EMPTY
    """By plugin."""
    streak: Streak | None = None
    recent: tuple[TurnFacts, ...] = ()
    memory: Mapping[str, JSONValue] = _EMPTY
    injections: Mapping[str, Injection] = _EMPTY
    """By plugin."""
    halted: str | None = None
    disabled: frozenset[str] = frozenset()
    """Plugins left out for the rest of the run."""
    turn_waited: bool = False
    """A wait was held to its end for the turn that ended last."""
    turn_refused: str | None = None
    """Why the turn that ended last is not resumed, decided when it ended."""

    def to_json(self) -> dict[str, JSONValue]:
        """The state as JSON; :meth:`from_json` gives an equal one back."""
        return {
            "version": STATE_VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "started_at": self.started_at.isoformat(),
            "session": {
                "edits": [_edit_to_json(edit) for edit in self.session.edits.values()],
                "windows": {name: attrs.asdict(window) for name, window in self.session.windows.items()},
            },
            "spent": dict(self.spent),
            "waits": {name: attrs.asdict(waits) for name, waits in self.waits.items()},
            "streak": None if self.streak is None else attrs.asdict(self.streak),
            "recent": [attrs.asdict(facts, value_serializer=_plain_value) for facts in self.recent],
            "memory": deepcopy(dict(self.memory)),
            "injections": {
                name: {"text": injection.text, "after": injection.after and injection.after.key}
                for name, injection in self.injections.items()
            },
            "disabled": sorted(self.disabled),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, JSONValue]) -> RunState:
        """Restore a state.

        Raises ``ValueError`` where ``data`` is none that this version wrote.
        """
        found = data.get("version") if hasattr(data, "get") else None
        if found != STATE_VERSION:
            raise ValueError(
                f"not a run state of version {STATE_VERSION} (found {found!r}): "
                "start the run without a state, or save it again with this version of continuity-core"
            )
        try:
            return _restored(SavedFields(data))
        except (ValueError, TypeError) as error:
            raise ValueError(f"a run state is damaged: {error}; start the run without it") from error


def _narrows(edit: Edit, present: Edit | None) -> bool:
    """Whether ``edit`` shows no more of its entry than ``present`` does."""
    if present is None or isinstance(edit, Omit):
        return not isinstance(present, Omit)
    return isinstance(present, Replace) and len(edit.content) <= len(present.content)


STATE_VERSION = 1

_PLAIN = (
    "run",
    "session_id",
    "parent",
    "turns",
    "requests",
    "output_tokens",
    "resumes",
    "charged",
    "held",
    "halted",
    "turn_waited",
    "turn_refused",
)


def _plain_value(_: object, __: object, value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _edit_to_json(edit: Edit) -> dict[str, JSONValue]:
    data: dict[str, JSONValue] = {"entry": edit.entry.key, "why": edit.why}
    if isinstance(edit, Replace):
        data["content"] = edit.content
    return data


def _restored(saved: SavedFields) -> RunState:
    session, streak = saved.inner("session"), saved.inner_or_none("streak")
    return RunState(
        run=saved.text("run"),
        session_id=saved.text("session_id"),
        started_at=saved.instant("started_at"),
        parent=saved.text_or_none("parent"),
        session=SessionState(
            edits={edit.entry: edit for edit in map(_restored_edit, session.listed("edits"))},
            windows={name: _restored_window(window) for name, window in session.objects("windows").items()},
        ),
        turns=saved.count("turns"),
        requests=saved.count("requests"),
        output_tokens=saved.count("output_tokens"),
        resumes=saved.count("resumes"),
        charged=saved.count("charged"),
        held=saved.seconds("held"),
        spent=saved.counts("spent"),
        waits={
            name: PluginWaits(count=waits.count("count"), seconds=waits.seconds("seconds"))
            for name, waits in saved.objects("waits").items()
        },
        streak=None
        if streak is None
        else Streak(digest=streak.text("digest"), resumes=streak.count("resumes")),
        recent=tuple(_restored_facts(facts) for facts in saved.listed("recent")),
        memory=deepcopy(dict(saved.mapping("memory"))),
        injections={
            name: _restored_injection(injection) for name, injection in saved.objects("injections").items()
        },
        halted=saved.text_or_none("halted"),
        disabled=frozenset(saved.texts("disabled")),
        turn_waited=saved.flag("turn_waited"),
        turn_refused=saved.text_or_none("turn_refused"),
    )


def _restored_edit(saved: SavedFields) -> Edit:
    ref = EntryRef(saved.text("entry"))
    if "content" in saved.data:
        return Replace(ref, saved.text("content"), saved.text("why"))
    return Omit(ref, saved.text("why"))


def _restored_window(saved: SavedFields) -> WindowState:
    return WindowState(
        waits=saved.count("waits"),
        held=saved.seconds("held"),
        exhausted=saved.flag("exhausted"),
        closed_in=saved.text_or_none("closed_in"),
    )


def _restored_injection(saved: SavedFields) -> Injection:
    after = saved.text_or_none("after")
    return Injection(text=saved.text("text"), after=None if after is None else EntryRef(after))


def _restored_facts(saved: SavedFields) -> TurnFacts:
    return TurnFacts(
        cause=CauseKind(saved.text("cause")),
        stop_reason=StopReason(saved.text("stop_reason")),
        tools=saved.texts("tools"),
        argument_digests=saved.texts("argument_digests"),
        content_digest=saved.text("content_digest"),
        ends_in=saved.text_or_none("ends_in"),
    )
