"""Hosts in other languages: the chain served over JSON-RPC 2.0 on standard input and output.

Internal until a second host uses it: method names and fields may change with :data:`PROTOCOL_VERSION`.
"""

from __future__ import annotations

from continuity_core.hosts.stdio.rpc import PROTOCOL_VERSION
from continuity_core.hosts.stdio.serving import serve_stdio

__all__ = ["PROTOCOL_VERSION", "serve_stdio"]
