"""What an agent is told where its own parts and continuity are in each other's way."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from continuity_core.hosts.adapting import Cautions
from continuity_core.model.boundary import Mode

_SERVER_HELD = ("previous_response_id", "conversation")
CAUTIONS = Cautions(logging.getLogger("continuity"))
"""What was said in this process."""


def warn_of_outer_retries(mode: Mode) -> None:
    """A middleware listed before ours called the model again after ours had given up."""
    if mode is Mode.ON:
        CAUTIONS.tell(
            "a middleware listed before ContinuityMiddleware asked the model again after its failure. "
            "Recovery comes before that middleware's and is repeated by it: list ContinuityMiddleware "
            "first, before ModelRetryMiddleware and ModelFallbackMiddleware",
        )


def warn_of_server_held_history(model: Any, settings: Mapping[str, Any], mode: Mode) -> None:
    """The provider keeps the history: what a request leaves out stays there."""
    if mode is not Mode.ON:
        return
    if getattr(model, "use_previous_response_id", False) is True:
        CAUTIONS.tell(
            "the model uses use_previous_response_id: the provider keeps earlier messages, and continuity "
            "cannot leave out of a request what was delivered before. Turns that it drops are safe: the "
            "next request builds on the last response that was kept",
        )
    given = {**(getattr(model, "model_kwargs", None) or {}), **settings}
    held = [key for key in _SERVER_HELD if given.get(key)]
    if held:
        CAUTIONS.tell(
            f"the model's settings name {held[0]}: the provider keeps every turn, also those that were cut "
            "or broken, and continuity cannot leave them out. Send the messages with each request instead",
        )
