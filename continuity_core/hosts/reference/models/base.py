"""What a session needs of a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import attrs

from continuity_core.hosts.reference.history import HistoryEntry
from continuity_core.hosts.reference.tools import Tool
from continuity_core.model.decisions import ReasoningEffort
from continuity_core.model.turn import Turn


@attrs.frozen(kw_only=True)
class ModelRequest:
    """One request, before it takes a provider's form."""

    entries: tuple[HistoryEntry, ...]
    instructions: str | None = None
    tools: tuple[Tool, ...] = ()
    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    """``None`` leaves it to the model's own setting."""
    stream: bool = True
    idle_timeout: float | None = None
    """Seconds without a byte after which a stream counts as broken."""


class ModelCall(Protocol):
    """One request on its way, and what came of it so far."""

    @property
    def began(self) -> bool:
        """Whether the body of a successful response has begun."""
        ...

    @property
    def wire(self) -> str | None:
        """The provider's own form of the content, as JSON; ``None`` where the blocks say it all."""
        ...

    async def run(self, on_text: Callable[[str], None]) -> None:
        """Send the request and take in the response; raises what the SDK raises."""
        ...

    def turn(self, *, error: BaseException | None = None, aborted: bool = False) -> Turn:
        """The turn so far; ``error`` is what broke it off, ``aborted`` says that the user did."""
        ...


class Connection(Protocol):
    """A model while a session runs."""

    def call(self, request: ModelRequest) -> ModelCall:
        """Prepare a request; nothing is sent yet."""
        ...


class Model(Protocol):
    """A model of a provider."""

    @property
    def max_output_tokens(self) -> int | None:
        """The output limit that it asks for."""
        ...

    def connect(self) -> AbstractAsyncContextManager[Connection]:
        """Open what is needed for the requests of a run, and close it at its end."""
        ...
