"""What does not go together with continuity, said once at the start."""

from __future__ import annotations

import logging

from continuity_core.hosts.adapting import Cautions
from continuity_core.hosts.openai_agents.request import Request

LOG = logging.getLogger("continuity")

CONVERSATION = (
    "conversation_id: the provider keeps this conversation and adds every response to it, a broken one too, "
    "so that nothing can be left out of the next request: nothing is recovered in this run"
)
PROGRAMMATIC = (
    "ProgrammaticToolCallingTool: a request that failed may have run tools already, so that it is not sent "
    "again: nothing is recovered in this run"
)
PREVIOUS_RESPONSE = (
    "previous_response_id: the provider keeps the earlier turns, so that nothing of them can be left out; a "
    "broken turn is asked for again from the same response"
)
TIMEOUT = (
    "ModelSettings.timeout covers continuity's waits too: none that would end after it is held, and a turn "
    "that it ends is not recovered. The client's own timeout covers requests only"
)
UNHEARD = (
    "this version of the framework does not let the stop reason of a response be seen: a response counts as "
    "cut where its tokens reach the output limit"
)


class Warnings(Cautions):
    """Says each thing once."""

    def __init__(self) -> None:
        super().__init__(LOG, begins="openai-agents: ")

    def look_at(self, request: Request) -> None:
        """Warn of what this request does not go together with."""
        if request.is_held_by_server:
            self.tell(CONVERSATION)
        elif request.builds_on_server:
            self.tell(PREVIOUS_RESPONSE)
        if request.is_unsafe_to_repeat:
            self.tell(PROGRAMMATIC)
        elif request.model_settings.timeout is not None:
            self.tell(TIMEOUT)
