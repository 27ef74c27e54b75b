"""A model provider on loopback that answers as scripted and fails as scripted, down to the byte.

Needs ``h11`` (extra ``demo``).
"""

from __future__ import annotations

from continuity_core.testing.fault_server.holds import Hold
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
