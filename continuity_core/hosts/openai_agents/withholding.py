"""Keeping what came of a broken turn from being executed, and remembering what was handed out of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import attrs
from agents import ModelBehaviorError

from continuity_core.hosts.adapting import Newest
from continuity_core.hosts.openai_agents.reading import CLIENT_CALLS, text_of_message
from continuity_core.model.entries import EntryRef
from continuity_core.model.reading.fields import field, text
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

_KEPT = 1000
_WHOLE = (StopReason.STOP, StopReason.TOOL_USE)
_NO_ID = "__fake_id__"


def is_broken(turn: Turn) -> bool:
    """Whether nothing that the turn asks for may be executed."""
    return turn.stop_reason not in _WHOLE


def without_calls(output: Iterable[Any]) -> list[Any]:
    """The output items without calls, and without the reasoning that led to nothing but calls."""
    kept = [item for item in output if field(item, "type") not in CLIENT_CALLS]
    while kept and field(kept[-1], "type") == "reasoning":
        kept.pop()
    return kept


def nothing_is_left(turn: Turn) -> ModelBehaviorError:
    """The framework's error for a response that was cut and says nothing, for one cut in its only call."""
    word = turn.provider_stop or "none"
    return ModelBehaviorError(
        f"The response ended with finish_reason={word!r} inside a tool call and said nothing else; "
        "the call was not executed."
    )


@attrs.frozen
class HandedOut:
    """A message that was handed out of a broken turn."""

    ref: EntryRef
    stop_reason: StopReason


@attrs.define(eq=False)
class Delivered:
    """The messages that were handed out of broken turns; the newest thousand."""

    _known: Newest[str, HandedOut] = attrs.field(factory=lambda: Newest(_KEPT))

    def note(self, output: Iterable[Any], turn: Turn) -> None:
        """Remember the messages of a broken turn."""
        if turn.entry is None:
            return
        for item in output:
            if field(item, "type") == "message":
                self._known.put(_identity(item), HandedOut(turn.entry, turn.stop_reason))

    def find(self, item: Any) -> HandedOut | None:
        """What is remembered of this message."""
        return self._known.get(_identity(item)) if self._known else None


def _identity(item: Any) -> str:
    """The provider's id where the framework keeps one, and a digest of the text."""
    own = text(field(item, "id"))
    response = text(field(field(item, "provider_data"), "response_id"))
    known = response if own in ("", _NO_ID) else own
    digest = hashlib.blake2b(text_of_message(item).encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{known}:{digest.hexdigest()}"
