"""What the consumers of an event stream are told."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai import CapabilityEvent


@dataclass(kw_only=True)
class TurnResumed(CapabilityEvent, namespace="continuity"):  # type: ignore[call-arg]
    """One more turn was asked for; the next model response is another attempt, and starts at part 0 again."""

    reason: str
    left_out: bool
    """Whether the response before it does not count any more: what was shown of it is to be taken back."""
