"""What a driver of a host does, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, ClassVar, Protocol

import attrs

from continuity_core.continuity import Continuity
from continuity_core.model.events import Event
from continuity_core.model.host_facts import InputKind
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.scenario import ToolEnd

OUTPUT_LIMIT = 1024
"""Output tokens that a host asks for in each request, so that a scripted ``length`` is at cap."""
IDLE_TIMEOUT = 60.0
"""Seconds; longer than any scenario may take, so that only ``idle_timeout`` itself makes a stream dead."""


@attrs.frozen(kw_only=True)
class Mode:
    """One way of playing a scenario."""

    dialect: str
    stream: bool

    def __str__(self) -> str:
        return f"{self.dialect} stream" if self.stream else self.dialect


@attrs.define(kw_only=True, eq=False)
class PlayedTool:
    """A tool of the scenario; the driver offers it to the host and calls :meth:`run` when it is executed."""

    name: str
    result: str
    ends_run: ToolEnd = None
    times_run: int = 0
    schema: ClassVar[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": True}
    """Of its arguments: any object."""

    def run(self, **arguments: Any) -> str:
        """Count the execution and give the result."""
        self.times_run += 1
        return self.result

    async def call(self, **arguments: Any) -> str:
        """The same for hosts whose tools are asynchronous."""
        return self.run(**arguments)


@attrs.frozen(kw_only=True, eq=False)
class Play:
    """One scenario in one mode, as a host is to play it."""

    mode: Mode
    root_url: str
    """Where the provider is; a chat completions client adds ``/v1``, see ``base_url``."""
    tools: tuple[PlayedTool, ...]
    native_retries: int
    """Retries of one request by the host or its client, for HTTP failures before the body; without delay."""
    idle_timeout: float | None
    """Seconds without bytes after which a stream is to count as dead."""
    settings: Mapping[str, Any] | None
    """The keys of ``[tool.continuity]``, trusted; ``None``: the host is to run without continuity."""
    now: datetime
    """Wall time at the start."""
    clock: VirtualClock
    """Holds every wait of continuity. A chain in another process has its waits held here by the driver."""
    continuity: Continuity | None
    """Made of ``settings`` on ``clock``, for hosts that run the chain in this process."""
    on_event: Callable[[Event], None]
    """Takes the events of a chain in another process; ``continuity`` passes on its own."""
    output_limit: int = OUTPUT_LIMIT

    @property
    def base_url(self) -> str:
        """The root URL with ``/v1``."""
        return f"{self.root_url}/v1"

    @property
    def idle_seconds(self) -> float:
        """After how many seconds without bytes a client is to give a stream up, in every scenario."""
        return IDLE_TIMEOUT if self.idle_timeout is None else self.idle_timeout

    def switch(self, on: bool) -> None:
        """Switch recovery on or off as anyone who holds the continuity object; not without one."""
        if self.continuity is not None:
            if on:
                self.continuity.enable()
            else:
                self.continuity.disable()


@attrs.frozen(kw_only=True)
class HostResult:
    """What the host gave its caller for one real user request."""

    text: str | None = None
    """The answer, or what there is of it; ``None`` where the host gave an error instead."""
    stop: str | None = None
    """The stop reason that the caller sees, in the words of the model layer; ``None`` where it sees none."""
    aborted: bool = False
    error: str | None = None
    """The error, on one line."""


class HostSession(Protocol):
    """A session of the host while a scenario is played.

    ``abort``, ``give_input`` and ``switch`` are called while ``prompt`` goes on, possibly from the task that
    holds a wait: they return when the host knows, and do not wait for the run to end.
    """

    async def prompt(self, text: str) -> HostResult:
        """Send a real user request and wait until the host is idle; an error of the host is a result, too."""
        ...

    async def abort(self) -> None:
        """Abort as the user of this host does."""
        ...

    async def give_input(self, kind: InputKind, text: str) -> None:
        """Say something while the run goes on."""
        ...

    async def switch(self, on: bool) -> None:
        """Switch recovery on or off as the user of this host does."""
        ...


class ConformanceHost(Protocol):
    """A driver: it plays scenarios against the real framework with its real client."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects in which it talks to a provider, by the fault server's names."""
        ...

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """The capability table: why the host has no such thing in this mode; ``None`` where it has."""
        ...

    def adds_text(self, text: str) -> bool:
        """Whether the host itself says this in the user's role, e.g. to nudge the model."""
        ...

    def open(self, play: Play) -> AbstractAsyncContextManager[HostSession]:
        """Open a new session with the play's provider, tools and continuity."""
        ...

    async def aclose(self) -> None:
        """Give back what outlives a session, e.g. clients. Called once, after the last session."""
        ...
