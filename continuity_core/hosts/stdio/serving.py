"""The server: lines in, lines out, until the client closes the pipe."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from continuity_core.engine.clock import SYSTEM_CLOCK, Clock
from continuity_core.hosts.stdio.lines import Lines
from continuity_core.hosts.stdio.methods import Load, Methods, load_continuity
from continuity_core.hosts.stdio.rpc import (
    Call,
    Code,
    RpcError,
    error_line,
    notification_line,
    read_line,
    result_line,
)

LOG = logging.getLogger("continuity")

GRACE_SECONDS = 2.0
"""Real seconds that the server has to end after the client closed the pipe; a plugin may be stuck."""


def serve_stdio(*, clock: Clock = SYSTEM_CLOCK, load: Load = load_continuity) -> None:
    """Serve the client on standard input and output until it closes the pipe.

    The protocol gets descriptors of its own; what else reads standard input finds it empty, and what else
    prints does so on standard error, so that a plugin's ``print`` harms nothing.
    """
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    asyncio.run(Server(source, target, clock=clock, load=load).run())


class Server:
    """Serves one client over two streams."""

    def __init__(
        self,
        source: BinaryIO,
        target: BinaryIO,
        *,
        clock: Clock = SYSTEM_CLOCK,
        load: Load = load_continuity,
        end_process: Callable[[int], object] = os._exit,
    ) -> None:
        self._source = source
        self._target = target
        self._end_process = end_process
        self._methods = Methods(self._notify, clock=clock, load=load)
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = threading.Event()

    async def run(self) -> None:
        """Serve until the source ends; then every wait is given up, and nobody is waited for."""
        ended = asyncio.Event()
        Lines(self._source.fileno(), lambda line: self._receive(line) if line else ended.set(), self._end)
        try:
            await ended.wait()
        finally:
            self._over.set()
            self._methods.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---------------------------------------------------------------- in

    def _end(self) -> None:
        """The client has gone: end the process where the loop does not, because a plugin holds it up."""
        if not self._over.wait(GRACE_SECONDS):
            self._end_process(1)

    def _receive(self, line: bytes) -> None:
        try:
            call = read_line(line)
        except RpcError as error:
            self._write(error_line(error.id, error))
            return
        if self._methods.answers_at_once(call):
            self._answer_at_once(call)
            return
        task = asyncio.get_running_loop().create_task(self._answer(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---------------------------------------------------------------- out

    def _answer_at_once(self, call: Call) -> None:
        try:
            result = self._methods.do(call)
        except RpcError as error:
            self._fail(call, error)
        except Exception as error:
            self._fail(call, _internal(call, error))
        else:
            if call.id is not None:
                self._write(result_line(call.id, result))

    async def _answer(self, call: Call) -> None:
        try:
            result = await self._methods.do_slowly(call)
        except RpcError as error:
            self._fail(call, error)
        except Exception as error:
            self._fail(call, _internal(call, error))
        else:
            if call.id is not None:
                self._write(result_line(call.id, result))

    def _fail(self, call: Call, error: RpcError) -> None:
        if call.id is None:
            LOG.info("notification %s: %s", call.method, error)
        else:
            self._write(error_line(call.id, error))

    def _notify(self, method: str, params: object) -> None:
        self._write(notification_line(method, params))  # type: ignore[arg-type]

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        try:
            while view:
                view = view[self._target.write(view) :]
        except OSError as error:
            # The reader sees the end of the input at the same time and stops the server.
            LOG.debug("the client closed its end: %s", error)


def _internal(call: Call, error: Exception) -> RpcError:
    LOG.error("%s failed", call.method, exc_info=error)
    return RpcError(Code.INTERNAL_ERROR, f"{type(error).__name__}: {error}")
