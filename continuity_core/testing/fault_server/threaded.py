"""The fault server in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from continuity_core.testing.fault_server.holds import Hold
from continuity_core.testing.fault_server.requests import LoggedRequest
from continuity_core.testing.fault_server.responses import Response

if TYPE_CHECKING:
    from continuity_core.testing.fault_server.server import FaultServer

_WAIT_SECONDS = 10.0


class ThreadedHold:
    """A hold whose waits block the calling thread; else as ``Hold``."""

    def __init__(self, hold: Hold, portal: BlockingPortal) -> None:
        self._hold = hold
        self._portal = portal

    @property
    def number(self) -> int:
        """The number of the response, from 1."""
        return self._hold.number

    @property
    def client_gone(self) -> bool:
        """Whether the client went while the response was held."""
        return self._hold.client_gone

    @property
    def is_reached(self) -> bool:
        """Whether the response has come to its hold point."""
        return self._hold.is_reached

    @property
    def is_over(self) -> bool:
        """Whether the response has been released or its client has gone."""
        return self._hold.is_over

    def reached(self, timeout: float = _WAIT_SECONDS) -> None:
        """Wait until the response is held; ``TimeoutError`` after that many seconds."""
        self._portal.call(_within, timeout, self._hold.reached)

    def release(self) -> None:
        """Let the response go on."""
        self._portal.call(self._hold.release)

    def over(self, timeout: float = _WAIT_SECONDS) -> None:
        """Wait until it goes on or its client has gone; ``TimeoutError`` after that many seconds."""
        self._portal.call(_within, timeout, self._hold.over)


class ThreadedFaultServer:
    """What ``FaultServer.in_thread`` returns. Enter it once; every method may be called from any thread."""

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._portal: BlockingPortal | None = None
        self._exit = ExitStack()

    def __enter__(self) -> ThreadedFaultServer:
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal("asyncio"))
            stack.enter_context(self._portal.wrap_async_context_manager(self._server))
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._portal = None
        self._exit.__exit__(kind, error, traceback)

    @property
    def root_url(self) -> str:
        """As ``FaultServer.root_url``."""
        return self._server.root_url

    @property
    def base_url(self) -> str:
        """As ``FaultServer.base_url``."""
        return self._server.base_url

    @property
    def requests(self) -> list[LoggedRequest]:
        """As ``FaultServer.requests``."""
        return self._server.requests

    @property
    def violations(self) -> list[str]:
        """As ``FaultServer.violations``."""
        return self._server.violations

    @property
    def unserved(self) -> list[str]:
        """As ``FaultServer.unserved``."""
        return self._server.unserved

    def play(self, script: Iterable[Response | Mapping[str, Any]]) -> None:
        """As ``FaultServer.play``."""
        self._running.call(self._server.play, script)

    def hold(self, number: int) -> ThreadedHold:
        """As ``FaultServer.hold``."""
        return ThreadedHold(self._running.call(self._server.hold, number), self._running)

    @property
    def _running(self) -> BlockingPortal:
        if self._portal is None:
            raise RuntimeError(
                "the fault server is not running; enter it with: with FaultServer.in_thread(…)"
            )
        return self._portal


async def _within(seconds: float, wait: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with anyio.fail_after(seconds):
        await wait()
