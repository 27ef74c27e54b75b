"""Show the model the readable part of what it was interrupted in. Only where injection is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

import attrs

from continuity_core import (
    Boundary,
    CauseKind,
    Decision,
    Inject,
    Order,
    Proposal,
    Stage,
    Tighten,
    count,
    hookimpl,
    option,
)

HARD_LIMIT = 64_000
"""Characters of a checkpoint, whatever the option says."""

_HEADER = (
    "[Checkpoint: your output was interrupted. The readable parts so far are quoted below, one JSON string a "
    "line; interrupted tool calls were not executed. Go on with the task from here.]"
)
# What JSON itself leaves as it is: line separators and control characters beyond ASCII, lone surrogates.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_QUOTED_CAUSES = (CauseKind.LENGTH, CauseKind.TRANSIENT)


def _characters(value: object) -> int:
    characters = count(value)
    if not len(_HEADER) + 100 <= characters <= HARD_LIMIT:
        raise ValueError(f"takes a whole number from {len(_HEADER) + 100} to {HARD_LIMIT}, not {value!r}")
    return characters


@attrs.frozen(kw_only=True)
class PartialCheckpointOptions:
    """How much of the partial is shown."""

    max_characters: int = option(
        12_000,
        read=_characters,
        tighten=Tighten.LOWER,
        help="Length of the whole checkpoint; the oldest parts are dropped first.",
    )


@attrs.frozen(eq=False)
class PartialCheckpoint:
    """Quotes the readable text of interrupted turns; never arguments, signatures or reasoning."""

    Options = PartialCheckpointOptions
    order = Order(stage=Stage.RECOVER, runs_after=("length-resume", "stream-recovery"))
    injects = True

    options: PartialCheckpointOptions = attrs.field(factory=PartialCheckpointOptions)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._checkpoint(boundary, proposal)

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> Iterable[Decision] | None:
        return self._checkpoint(boundary, proposal)

    def _checkpoint(self, boundary: Boundary, proposal: Proposal) -> list[Decision] | None:
        text = boundary.turn.text
        if proposal.resume is None or boundary.cause.kind not in _QUOTED_CAUSES or not text.strip():
            return None
        parts = [*_parts_of(boundary.run.injected), _quoted(text)]
        return [Inject(_merged(list(dict.fromkeys(parts)), self.options.max_characters))]


def _parts_of(checkpoint: str | None) -> list[str]:
    return checkpoint.split("\n")[1:] if checkpoint else []


def _merged(parts: Sequence[str], limit: int) -> str:
    """The newest parts that fit; a single one that is too long keeps its end, where the work goes on."""
    room = limit - len(_HEADER)
    kept: list[str] = []
    for part in reversed(parts):
        if len(part) + 1 > room:
            break
        kept.insert(0, part)
        room -= len(part) + 1
    if not kept:
        kept = [_end_of(parts[-1], room - 1)]
    return "\n".join([_HEADER, *kept])


def _end_of(quoted: str, room: int) -> str:
    text = json.loads(quoted)
    tail = text[-room:]
    while len(_quoted("… " + tail)) > room:
        tail = tail[max(1, len(tail) // 20) :]
    return _quoted("… " + tail)


def _quoted(text: str) -> str:
    """JSON of the text on one line, in characters that every client can send: no half of a surrogate pair."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
