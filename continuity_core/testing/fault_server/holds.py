"""Holding a response back until something else has happened."""

from __future__ import annotations

import anyio

from continuity_core.testing.fault_server.http1 import HttpConnection
from continuity_core.testing.fault_server.sockets import ClientGoneError


class Hold:
    """A response that stops after about half of its text, or before it starts where it has none.

    It goes on when it is released and ends when its client goes, whichever comes first. To wait for the
    client to go, do not release it::

        hold = server.hold(1)
        ...
        await hold.reached()
        session.abort()
        await hold.over()
        assert hold.client_gone
    """

    def __init__(self, number: int) -> None:
        self.number = number
        """The number of the response, from 1."""
        self.client_gone = False
        """Whether the client went while the response was held."""
        self._reached = anyio.Event()
        self._released = anyio.Event()
        self._over = anyio.Event()

    @property
    def is_reached(self) -> bool:
        """Whether the response has come to its hold point."""
        return self._reached.is_set()

    @property
    def is_over(self) -> bool:
        """Whether the response has been released or its client has gone."""
        return self._over.is_set()

    async def reached(self) -> None:
        """Wait until the response is held; what was sent before is out."""
        await self._reached.wait()

    def release(self) -> None:
        """Let the response go on; before it is reached: do not hold it at all."""
        self._released.set()

    async def over(self) -> None:
        """Wait until the response goes on or its client has gone."""
        await self._over.wait()

    async def keep(self, connection: HttpConnection) -> None:
        """Hold the response on this connection; called by the server.

        Raises:
            ClientGoneError: the client went before the release.
        """
        self._reached.set()

        async def watch() -> None:
            await connection.client_gone()
            self.client_gone = True
            tasks.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                await self._released.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._over.set()
        if self.client_gone:
            raise ClientGoneError
