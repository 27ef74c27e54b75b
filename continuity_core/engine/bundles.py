"""Checking one bundle: what a plugin may not ask for falls, and the whole bundle with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import attrs

from continuity_core.engine.budgets import Allowance, Refusal, not_affordable
from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import RunState
from continuity_core.model.boundary import Boundary, Point
from continuity_core.model.decisions import Edit, Inject, JSONValue, Omit, Remember, Replace, Resume, Wait
from continuity_core.model.entries import Entry, EntryRef
from continuity_core.model.proposal import Bundle

MEMORY_LIMIT = 4096
"""Bytes of JSON that a plugin may remember."""

INJECTION_LIMIT = 64_000
"""Characters of one injection, whatever a plugin's own bound is."""

_WAIT_TOO_LATE = "a Wait belongs to continuity_turn_ended: at before_settle an abort would not be seen"


@attrs.frozen(kw_only=True)
class BundleCheck:
    """What is needed to judge the bundles of one boundary."""

    boundary: Boundary
    state: RunState
    settings: Settings
    above: Allowance

    def refusal(self, bundle: Bundle, plugin: RegisteredPlugin) -> Refusal | None:
        """Why the bundle falls; ``None`` where it stands."""
        resumes: list[Resume] = []
        edits: list[Edit] = []
        for decision in bundle.decisions:
            why: str | None = None
            match decision:
                case Resume():
                    resumes.append(decision)
                case Omit() | Replace():
                    edits.append(decision)
                case Wait() if self.boundary.point is Point.BEFORE_SETTLE:
                    why = (
                        "a Wait belongs to continuity_turn_ended: at before_settle an abort would not be seen"
                    )
                case Inject():
                    why = self._why_not_inject(plugin, decision)
                case Remember():
                    why = why_not_json(decision.value)
                case _:
                    pass
            if why is not None:
                return Refusal(why=why)
        why = self._why_not_edit(edits, plugin) if edits else None
        if why is not None:
            return Refusal(why=why)
        if len(resumes) > 1:
            return Refusal(why="it asks for more than one Resume")
        return self._why_not_resume(resumes[0], plugin) if resumes else None

    def _why_not_resume(self, resume: Resume, plugin: RegisteredPlugin) -> Refusal | None:
        if self.state.halted is not None:
            return Refusal(why=f"recovery was halted in this run: {self.state.halted}")
        if self.boundary.point is Point.BEFORE_SETTLE and self.state.turn_refused is not None:
            return Refusal(why=self.state.turn_refused)
        return not_affordable(resume, plugin, self.state, self.settings, self.above)

    def _why_not_inject(self, plugin: RegisteredPlugin, inject: Inject) -> str | None:
        if plugin.name not in self.settings.allow_injection:
            return f'model-visible text needs allow_injection = ["{plugin.name}"] in trusted configuration'
        if len(inject.text) > INJECTION_LIMIT:
            return f"the text has {len(inject.text)} characters, more than {INJECTION_LIMIT}"
        return None

    def _why_not_edit(self, edits: Sequence[Edit], plugin: RegisteredPlugin) -> str | None:
        turn = self.boundary.turn
        own = turn.entries
        if len(edits) == len(own) and all(
            isinstance(edit, Omit) and edit.entry == ref for edit, ref in zip(edits, own, strict=True)
        ):
            return None  # The whole turn goes.
        gone = {edit.entry for edit in edits if isinstance(edit, Omit)}
        already = self.state.session.edits
        gone.update(ref for ref in own if type(already.get(ref)) is Omit)
        for edit in edits:
            if edit.entry in own:
                partners: Iterable[EntryRef] = own if turn.tool_calls or turn.results else ()
                drops_calls = isinstance(edit, Omit) or (edit.entry == turn.entry and bool(turn.tool_calls))
            else:
                entry = self._look_up(edit.entry)
                if entry is None:
                    return f"it edits {edit.entry.key}, an entry that the host does not know"
                why = why_not_of_this_role(entry, plugin)
                if why is not None:
                    return why
                partners = entry.partners
                drops_calls = isinstance(edit, Omit) or bool(entry.calls)
            if drops_calls and any(ref not in gone and ref != edit.entry for ref in partners):
                return f"it edits half of a pair: {edit.entry.key} goes with its calls or results"
            if isinstance(edit, Replace) and self._shows_more(edit):
                return f"it shows more of {edit.entry.key} than is there: a Replace may only narrow"
        return None

    def _shows_more(self, edit: Replace) -> bool:
        if edit.entry == self.boundary.turn.entry:
            return len(edit.content) > len(self.boundary.turn.text)
        entry = self._look_up(edit.entry)
        return entry is not None and len(edit.content) > len(entry.text)

    def _look_up(self, ref: EntryRef) -> Entry | None:
        lookup = self.boundary.host.lookup
        return None if lookup is None else lookup(ref)


def why_not_of_this_role(entry: Entry, plugin: RegisteredPlugin) -> str | None:
    """Why the plugin may not edit this entry because of its role."""
    if entry.role in ("user", "system") and not entry.artefact and not plugin.edits_user_input:
        return f"it edits the {entry.role} entry {entry.ref.key} without declaring edits_user_input"
    return None


def why_not_json(value: JSONValue) -> str | None:
    """Why a plugin may not remember this value."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        again = json.loads(text)
        changed = again != value
    except Exception as error:
        return f"what it remembers is no JSON: {type(error).__name__}: {error}"
    if changed:
        return "what it remembers is no plain JSON: it would come back changed"
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MEMORY_LIMIT:
        return f"what it remembers has {size} bytes of JSON, more than {MEMORY_LIMIT}"
    return None
