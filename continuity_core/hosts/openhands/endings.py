"""Whether a stream said why it ended.

The client (litellm) makes up the finish reason ``stop`` for a stream that just ends, and counts the tokens by
itself where the provider reports none. What it made up bears no trace of a provider's chunk.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import attrs

_TRACES = ("received_model_id", "provider_response_model")
"""What the client notes on a chunk that came of a provider's."""
SILENT_STREAMS = 3
"""Streams in a row that ended alike, without one that said why: the provider never says, or never so."""


class _Habit(StrEnum):
    UNKNOWN = "unknown"
    TELLS = "tells"
    """It says so in a chunk of its own: a stream without one broke off."""
    UNTRACED = "untraced"
    """It says so in a way that leaves no trace, e.g. with the last piece of text, or not at all."""


@attrs.define(eq=False)
class StreamEndings:
    """What was learnt of each provider's way to end a stream."""

    _habits: dict[tuple[str, str], _Habit] = attrs.field(factory=dict)
    _silent: dict[tuple[str, str], int] = attrs.field(factory=dict)

    def are_told(self, chunk: Any, raw: Any, model: Any, messages: Any) -> bool:
        """Whether the provider said why the stream ended whose last chunk with a finish reason this is."""
        key = (str(model.model), str(model.base_url))
        if _is_traced(chunk):
            self._habits[key] = _Habit.TELLS
            return True
        habit = self._habits.get(key, _Habit.UNKNOWN)
        if habit is _Habit.TELLS:
            return False
        if habit is _Habit.UNTRACED:
            return True
        if not _is_usage_made_up(raw, model, messages):
            self._habits[key] = _Habit.UNTRACED
            return True
        self._silent[key] = self._silent.get(key, 0) + 1
        if self._silent[key] > SILENT_STREAMS:
            self._habits[key] = _Habit.UNTRACED
            return True
        return False


def _is_traced(chunk: Any) -> bool:
    notes = getattr(chunk, "_hidden_params", None)
    return isinstance(notes, dict) and any(notes.get(name) for name in _TRACES)


def _is_usage_made_up(raw: Any, model: Any, messages: Any) -> bool:
    """Whether the tokens are those that the client counts by itself.

    Anthropic reports those of the request at the start of a stream, so only the others are counted there.
    """
    usage = getattr(raw, "usage", None)
    if usage is None:
        return True
    import litellm

    try:
        if usage.prompt_tokens == litellm.token_counter(
            model=raw.model, messages=model.format_messages_for_llm(messages)
        ):
            return True
        message = raw.choices[0].message
        text = (message.content or "") + "".join(
            call.model_dump_json() for call in getattr(message, "tool_calls", None) or ()
        )
        counted = litellm.token_counter(model=raw.model, text=text, count_response_tokens=True)
        reasoning = getattr(message, "reasoning_content", None)
        if reasoning:
            counted += litellm.token_counter(text=reasoning, count_response_tokens=True)
        return bool("anthropic" in str(model.model) and usage.completion_tokens == counted)
    except Exception:
        return False
