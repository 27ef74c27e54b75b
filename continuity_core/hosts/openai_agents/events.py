"""What consumers of a streamed run are told besides the framework's own events."""

from __future__ import annotations

from typing import Literal

from openai import BaseModel


class TurnResumed(BaseModel):
    """The response that was streamed so far is left out, and another one follows.

    It comes as the ``data`` of a raw response event, after the wait and before the ``response.created`` of
    the next attempt. What was shown since the ``response.created`` before it belongs to a turn that is gone.
    """

    type: Literal["continuity.turn_resumed"] = "continuity.turn_resumed"
    reason: str
    """Why, in a few words."""
    resumes: int
    """Resumes of this run so far."""
