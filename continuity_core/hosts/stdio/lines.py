"""Lines from the client, as they come.

Where the platform can watch the descriptor in the event loop, a line is taken without a change of threads,
which is most of what a call costs. Elsewhere, and for a plain file, a thread reads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import threading
from collections.abc import Callable, Iterator

from continuity_core.hosts.stdio.rpc import LINE_LIMIT

LOG = logging.getLogger("continuity")

CHUNK = 64 * 1024
"""Bytes that are read at a time."""


class LineBuffer:
    """Bytes, cut into lines. Of a line beyond the limit only the start is kept, and it stays too long."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._keep(end)
            yield self.rest()
        self._keep(rest)

    def rest(self) -> bytes:
        """What came since the last line; it is forgotten here."""
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line

    def _keep(self, part: bytes) -> None:
        kept = part[: LINE_LIMIT + 1 - self._size]
        if kept:
            self._parts.append(kept)
            self._size += len(kept)


class Lines:
    """Gives each line to ``take``, and ``None`` at the end, in the event loop that runs.

    ``on_end`` is called in a thread of its own, also while something holds up the loop.
    """

    def __init__(
        self, descriptor: int, take: Callable[[bytes | None], None], on_end: Callable[[], None]
    ) -> None:
        self._descriptor = descriptor
        self._take = take
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._buffer = LineBuffer()
        try:
            self._loop.add_reader(descriptor, self._readable)
        except (NotImplementedError, OSError):
            work = self._read
        else:
            work = self._watch
        threading.Thread(target=work, daemon=True, name="continuity-stdin").start()

    def _readable(self) -> None:
        """A pipe that is readable gives what there is at once."""
        data = self._bytes()
        if not data:
            self._loop.remove_reader(self._descriptor)
        self._give(data)

    def _read(self) -> None:
        try:
            while data := self._bytes():
                self._loop.call_soon_threadsafe(self._give, data)
            self._loop.call_soon_threadsafe(self._give, b"")
        except RuntimeError:  # The loop is closed.
            return
        self._on_end()

    def _watch(self) -> None:
        """Wait for the client to hang up."""
        poll = select.poll()
        poll.register(self._descriptor, getattr(select, "POLLRDHUP", 0))
        poll.poll()
        self._on_end()

    def _bytes(self) -> bytes:
        try:
            return os.read(self._descriptor, CHUNK)
        except OSError as error:
            LOG.debug("the input cannot be read: %s", error)
            return b""

    def _give(self, data: bytes) -> None:
        lines = self._buffer.feed(data) if data else (self._buffer.rest(),)
        for line in lines:
            if line.strip():
                self._take(line)
        if not data:
            self._take(None)
