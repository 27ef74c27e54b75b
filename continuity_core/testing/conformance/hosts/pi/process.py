"""One ``pi --mode rpc`` process: commands in, responses and events out."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import attrs
from anyio.streams.buffered import BufferedByteReceiveStream

from continuity_core.testing.conformance.registry import HostError

_LINE_LIMIT = 64 * 1024 * 1024
_KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA")


@attrs.define(eq=False)
class PiProcess:
    """A running Pi."""

    process: anyio.abc.Process
    lines: BufferedByteReceiveStream
    _ids: itertools.count[int] = attrs.field(factory=itertools.count)

    @classmethod
    async def start(cls, command: Sequence[str], agent: Path, work: Path) -> PiProcess:
        """Start it with these as its agent directory and its working directory."""
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        environment |= {"PI_CODING_AGENT_DIR": str(agent), "PI_OFFLINE": "1"}
        process = await anyio.open_process(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        return cls(process, BufferedByteReceiveStream(process.stdout))

    async def send(self, kind: str, **fields: Any) -> str:
        """Send a command; its id."""
        id = f"c{next(self._ids)}"
        assert self.process.stdin is not None
        await self.process.stdin.send(json.dumps({"id": id, "type": kind, **fields}).encode() + b"\n")
        return id

    async def receive(self) -> dict[str, Any]:
        """The next response or event. Raises :class:`HostError` where Pi ended."""
        try:
            line = await self.lines.receive_until(b"\n", _LINE_LIMIT)
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise HostError("pi ended in the middle of a play") from error
        message: dict[str, Any] = json.loads(line)
        return message

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process.returncode is None

    async def stop(self) -> None:
        """End it: by closing its input, and by force where that does not do."""
        with anyio.CancelScope(shield=True):
            if self.is_running:
                assert self.process.stdin is not None
                await self.process.stdin.aclose()
                with anyio.move_on_after(5):
                    await self.process.wait()
                if self.is_running:
                    self.process.kill()
            await self.process.aclose()
