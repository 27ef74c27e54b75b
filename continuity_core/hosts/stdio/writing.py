"""What the engine answered, in its JSON form."""

from __future__ import annotations

from continuity_core.engine.project import ProjectionResult
from continuity_core.engine.results import BoundaryResult
from continuity_core.engine.state import Outcome
from continuity_core.model.decisions import Adjust, Edit, JSONValue, Replace
from continuity_core.model.entries import EntryRef
from continuity_core.model.masking import shown

_STABLE = len(EntryRef.stable("").key)


def id_of(ref: EntryRef) -> str:
    """The client's own name of the entry."""
    return ref.key[_STABLE:]


def boundary_json(result: BoundaryResult) -> JSONValue:
    """What the client does next."""
    proposal = result.proposal
    said = proposal.resume
    return {
        "resume": result.resume,
        "reason": None if said is None else f"{said.plugin}: {shown(said.decision.reason)}",
        "edits": [_edit_json(edit) for edit in result.edits.values()],
        "superseded": _superseded_json(result),
        "adjust": None if result.adjust is None else _adjust_json(result.adjust),
        "end_run": result.end_run and shown(result.end_run),
        "outcome": result.outcome.value,
        "no_resume": proposal.no_resume and shown(proposal.no_resume),
        "possible_at": proposal.possible_at and proposal.possible_at.isoformat(),
    }


def _superseded_json(result: BoundaryResult) -> JSONValue:
    """Edits that other work made needless for a resume, but that later requests carry all the same."""
    if result.outcome is not Outcome.SUPERSEDED or not result.proposal.superseded:
        return []
    return [_edit_json(said.decision) for said in result.proposal.edits.values()]


def _edit_json(edit: Edit) -> JSONValue:
    """``content`` is null where the entry is left out."""
    return {"entry": id_of(edit.entry), "content": edit.content if isinstance(edit, Replace) else None}


def _adjust_json(adjust: Adjust) -> JSONValue:
    effort = adjust.reasoning_effort
    return {
        "max_output_tokens": adjust.max_output_tokens,
        "reasoning_effort": None if effort is None else effort.value,
    }


def projection_json(result: ProjectionResult) -> JSONValue:
    """What the client leaves out, shows otherwise, and adds; empty lists where nothing changes."""
    if not result.changed:
        return {"omit": [], "replace": [], "inject": []}
    inject = []
    after: str | None = None
    for entry in result.entries:
        if entry.injected:
            inject.append({"after": after, "text": entry.text})
        else:
            after = id_of(entry.ref)
    return {
        "omit": [id_of(ref) for ref in result.omitted],
        "replace": [{"entry": id_of(ref), "content": content} for ref, content in result.replaced.items()],
        "inject": inject,
    }
