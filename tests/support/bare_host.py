"""A host of a few lines: what it does at a prompt is the test's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

from continuity_core import HostFacts, Run, StopReason, Text, Turn
from continuity_core.model.host_facts import InputKind
from continuity_core.testing.conformance import (
    Feature,
    HostResult,
    HostSession,
    Mode,
    Play,
    Result,
    run_scenarios,
    scenarios_of,
)

Prompt = Callable[["BareSession", str], Awaitable[HostResult]]


class BareSession:
    """A host of a few lines; what a prompt does is the test's."""

    def __init__(self, play: Play, client: httpx2.AsyncClient, prompt: Prompt) -> None:
        self.play = play
        self.client = client
        self.on_prompt = prompt
        self.messages: list[dict[str, Any]] = []
        self.run: Run | None = None
        self.scope = anyio.CancelScope()

    async def ask(self, *messages: dict[str, Any]) -> str:
        """Send a request with these messages added; the answer's text, or the error's."""
        self.messages += messages
        response = await self.client.post(
            f"{self.play.base_url}/chat/completions", json={"model": "m", "messages": self.messages}
        )
        if response.status_code != 200:
            return str(response.json()["error"]["message"])
        return str(response.json()["choices"][0]["message"]["content"])

    async def say(self, text: str) -> str:
        return await self.ask({"role": "user", "content": text})

    async def prompt(self, text: str) -> HostResult:
        with anyio.CancelScope() as self.scope:
            return await self.on_prompt(self, text)
        return HostResult(aborted=True)

    async def abort(self) -> None:
        self.scope.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        raise RuntimeError(f"no {kind} here")

    async def switch(self, on: bool) -> None:
        assert self.play.continuity is not None
        if on:
            self.play.continuity.enable()
        else:
            self.play.continuity.disable()


class BareHost:
    name = "bare"
    dialects = ("chat",)

    def __init__(self, prompt: Prompt, cannot: dict[Feature, str] | None = None, adds: str = "") -> None:
        self.on_prompt = prompt
        self.table = cannot or {}
        self.adds = adds
        self.opened: list[BareSession] = []
        self.closed = 0

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        return self.table.get(feature)

    def adds_text(self, text: str) -> bool:
        return text == self.adds

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=5) as client:
            session = BareSession(play, client, self.on_prompt)
            self.opened.append(session)
            yield session

    async def aclose(self) -> None:
        self.closed += 1


async def answer(session: BareSession, text: str) -> HostResult:
    """What a good host without recovery does."""
    return HostResult(text=await session.say(text), stop="stop")


async def played(host: BareHost, time_limit: float = 5.0, **keys: Any) -> Result:
    scenario = {"name": "one", "prompts": ["Go"], "responses": [{"text": "done"}], **keys}
    scenario.setdefault("host", {"stream": False})
    [result] = await run_scenarios(host, scenarios_of([scenario]), time_limit=time_limit)
    return result


def broken_turn() -> Turn:
    return Turn.from_exception(ConnectionResetError(104, "Connection reset by peer"))


async def recover(session: BareSession, text: str) -> HostResult:
    """Ask continuity after a broken stream that this host makes up, until it does not resume any more."""
    assert session.play.continuity is not None
    told = await session.say(text)
    with session.play.continuity.start_run("s") as run:
        session.run = run
        result = await run.turn_ended(broken_turn())
        resumed = result.resume or (await run.before_settle()).resume
        if resumed:
            session.run.project([])
            told = await session.ask()
            await run.turn_ended(Turn(stop_reason=StopReason.STOP, blocks=(Text(told),)), HostFacts())
        return HostResult(text=told, stop="stop" if resumed else "error", aborted=run.aborted)


RECOVERY: dict[str, Any] = {"responses": [{"text": "half"}, {"text": "done"}]}
