"""The one table of providers' words for why a model stopped with something to show for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason

NO_STOP_WORD = "Stream ended without finish_reason"
"""The failure of a response that ends without any word for why it stopped."""


@attrs.frozen
class Stop:
    """What a provider's word means."""

    reason: StopReason
    failure: Failure | None = None
    unfinished: bool = False


_ENDS = "stop end_turn stop_sequence end eos eos_token end_of_turn complete completed"
_CALLS = "tool_calls tool_use function_call tool_call function_calls"
_CUTS = "length max_tokens max_output_tokens max_completion_tokens max_length token_limit"
_PAUSES = "pause_turn pending deferred in_progress queued"

_STOP = Stop(StopReason.STOP)
_REASONS: Mapping[str, Stop] = MappingProxyType(
    dict.fromkeys(_ENDS.split(), _STOP)
    | {word: Stop(StopReason.TOOL_USE) for word in _CALLS.split()}
    | {word: Stop(StopReason.LENGTH) for word in _CUTS.split()}
    | {word: Stop(StopReason.STOP, unfinished=True) for word in _PAUSES.split()}
)


def read_stop_word(word: object, *, told: str = "") -> Stop:
    """What the provider's word means, in any case of its letters; ``told`` is what it said besides.

    A missing word is a failure, and so is one that is not in the table: a content filter's, that of a full
    context, and any that nobody knows, since nothing is taken for a whole answer that nobody called one. The
    failure's code is the word; what it means is for the reader of errors to say.
    """
    if not isinstance(word, str) or not word.strip():
        return Stop(StopReason.ERROR, Failure.from_text(NO_STOP_WORD))
    code = word.strip().lower()
    known = _REASONS.get(code)
    if known is not None:
        return known
    message = f"Provider finish_reason: {word.strip()}"
    if told.strip():
        message = f"{message}: {told.strip()}"
    return Stop(StopReason.ERROR, Failure.from_text(message, code=code[:128]))
