"""The SDKs' own clients, as drivers give them to frameworks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

API_KEY = "any"
"""What the fault server takes for a key."""

ClientT = TypeVar("ClientT")


def without_delay(client: ClientT) -> ClientT:
    """Let the retries of an SDK's client come at once; one that cannot be told so waits as it does.

    A copy that the client makes of itself does not know of it.
    """
    held: Any = client
    with suppress(AttributeError):
        held._calculate_retry_timeout = lambda *args, **named: 0.0
    return client
