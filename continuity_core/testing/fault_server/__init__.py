"""A model provider on loopback that answers as scripted and fails as scripted, down to the byte.

The server needs ``h11`` (extra ``demo``); the scripts do not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from continuity_core.testing.fault_server.requests import (
    DecodedRequest,
    LoggedRequest,
    ReceivedCall,
    ReceivedMessage,
    ReceivedResult,
)
from continuity_core.testing.fault_server.responses import (
    Cut,
    HttpResponse,
    ModelResponse,
    Response,
    ScriptedToolCall,
    Stop,
    TokenUsage,
)
from continuity_core.testing.fault_server.script import ScriptError, parse_script

if TYPE_CHECKING:
    from continuity_core.testing.fault_server.holds import Hold
    from continuity_core.testing.fault_server.server import FaultServer
    from continuity_core.testing.fault_server.threaded import ThreadedFaultServer, ThreadedHold

__all__ = [
    "Cut",
    "DecodedRequest",
    "FaultServer",
    "Hold",
    "HttpResponse",
    "LoggedRequest",
    "ModelResponse",
    "ReceivedCall",
    "ReceivedMessage",
    "ReceivedResult",
    "Response",
    "ScriptError",
    "ScriptedToolCall",
    "Stop",
    "ThreadedFaultServer",
    "ThreadedHold",
    "TokenUsage",
    "parse_script",
]

_OF_THE_SERVER = {
    "FaultServer": "server",
    "Hold": "holds",
    "ThreadedFaultServer": "threaded",
    "ThreadedHold": "threaded",
}


def __getattr__(name: str) -> Any:
    """Import what needs ``h11`` when it is used."""
    if name not in _OF_THE_SERVER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_OF_THE_SERVER[name]}"), name)
