"""Reading what providers' SDKs return, by its shape: SDK objects and plain dicts; no SDK is imported."""

from __future__ import annotations

from continuity_core.model.reading.detection import StreamReader, read_response, stream_reader

__all__ = ["StreamReader", "read_response", "stream_reader"]
