"""The reference session as a host: the SDKs' own clients, streaming and not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from continuity_core.hosts.reference import (
    AgentSession,
    AnthropicModel,
    Model,
    OpenAIChatModel,
    SessionOutcome,
    Tool,
)
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play
from continuity_core.testing.conformance.sdk_clients import API_KEY

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI


class ReferenceHost:
    """Plays scenarios on ``AgentSession``. A client is made once for each dialect: making one is slow."""

    name = "reference"
    dialects = ("chat", "anthropic")

    def __init__(self) -> None:
        self._openai: AsyncOpenAI | None = None
        self._anthropic: AsyncAnthropic | None = None

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """There is nothing that it cannot do."""
        return None

    def adds_text(self, text: str) -> bool:
        """It adds none."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new session for each scenario."""
        session = AgentSession(
            self._model(play),
            tools=[Tool(name=tool.name, function=tool.call, ends_run=tool.ends_run) for tool in play.tools],
            continuity=play.continuity,
            stream=play.mode.stream,
            idle_timeout=play.idle_seconds,
            native_retries=play.native_retries,
        )
        yield ReferenceSession(session, play)

    async def aclose(self) -> None:
        """Close the clients."""
        clients = (self._openai, self._anthropic)
        self._openai = self._anthropic = None
        for client in clients:
            if client is not None:
                await client.close()

    def _model(self, play: Play) -> Model:
        if play.mode.dialect == "anthropic":
            return AnthropicModel(
                name="scripted", client=self._anthropic_client(play), max_output_tokens=play.output_limit
            )
        return OpenAIChatModel(
            name="scripted", client=self._openai_client(play), max_output_tokens=play.output_limit
        )

    def _openai_client(self, play: Play) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        if self._openai is None:
            # A proxy of the environment is of no use for loopback.
            transport: Any = DefaultAsyncHttpxClient(trust_env=False)
            self._openai = AsyncOpenAI(base_url=play.base_url, api_key=API_KEY, http_client=transport)
        return self._openai

    def _anthropic_client(self, play: Play) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        if self._anthropic is None:
            transport: Any = DefaultAsyncHttpxClient(trust_env=False)
            self._anthropic = AsyncAnthropic(base_url=play.root_url, api_key=API_KEY, http_client=transport)
        return self._anthropic


class ReferenceSession:
    """One session while a scenario is played."""

    def __init__(self, session: AgentSession, play: Play) -> None:
        self._session = session
        self._play = play

    async def prompt(self, text: str) -> HostResult:
        """One run, and those of follow-ups that arrive meanwhile."""
        try:
            return _result(await self._session.run(text))
        except IncompleteRun as incomplete:
            turn = incomplete.partial
            return HostResult(
                text=None if turn is None else turn.text,
                stop=None if turn is None else turn.stop_reason.value,
                error=str(incomplete),
            )

    async def abort(self) -> None:
        """As the session's user."""
        self._session.abort()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """As the session's user."""
        if kind == "steer":
            self._session.steer(text)
        else:
            self._session.follow_up(text)

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        self._play.switch(on)


def _result(outcome: SessionOutcome) -> HostResult:
    return HostResult(
        text=outcome.text,
        stop=outcome.stop_reason.value,
        aborted=outcome.aborted,
        error=None if outcome.failure is None else outcome.failure.message,
    )
