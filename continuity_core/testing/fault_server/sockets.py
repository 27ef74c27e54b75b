"""TCP on loopback, close enough to the socket that a connection can be reset on purpose.

Raw sockets, because a reset needs a close without the orderly shutdown that stream classes do first.
"""

from __future__ import annotations

import contextlib
import socket
import struct

import anyio
import anyio.lowlevel

_READ_SIZE = 65_536
_BACKLOG = 128
_LINGER_SECONDS = 1.0
_RESET_GRACE_SECONDS = 0.005


class ClientGoneError(Exception):
    """The client closed or reset its connection."""


def listen() -> socket.socket:
    """A listening socket on an ephemeral port of loopback."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        listener.bind(("127.0.0.1", 0))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


async def accept(listener: socket.socket) -> Wire:
    """The next connection."""
    while True:
        try:
            connected, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            await anyio.wait_readable(listener)
        else:
            connected.setblocking(False)
            # Some systems refuse options on a connection that its client has reset already.
            with contextlib.suppress(OSError):
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return Wire(connected)


class Wire:
    """One accepted connection; bytes in, bytes out, and three ways to end it."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` once the client has closed or reset the connection."""
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                return self._socket.recv(_READ_SIZE)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
            except OSError:
                return b""

    async def send(self, data: bytes) -> None:
        """Send all of ``data``.

        Raises:
            ClientGoneError: nobody reads it any more.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise ClientGoneError from error
        # Lets the client read this piece by itself, and others run.
        await anyio.lowlevel.checkpoint()

    async def reset(self) -> None:
        """End the connection by RST."""
        # A reset may overtake what was sent just before on some systems: let it be read first.
        await anyio.sleep(_RESET_GRACE_SECONDS)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    async def finish(self) -> None:
        """End the connection by FIN.

        Waits a moment for the client's, so that no reset destroys what it has not read yet.
        """
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return
        with anyio.move_on_after(_LINGER_SECONDS):
            while await self.receive():
                pass

    def close(self) -> None:
        """Give the socket back; harmless after any other end."""
        self._socket.close()
