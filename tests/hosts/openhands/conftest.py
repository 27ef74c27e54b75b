"""What the tests of OpenHands share; they run where ``TEST_HOST`` is ``openhands``, on the real framework."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from host_fixtures import anyio_backend, clock, not_of

from continuity_core import Continuity
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer, ThreadedFaultServer

__all__ = ["anyio_backend", "clock", "finish", "world"]

HERE = Path(__file__).parent

if not (collect_ignore_glob := not_of("openhands")):
    # Read when the client is imported: without it, it asks the network for the prices of models.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

# The framework and what it stands on warn of much; an error in its midst would change what it does.
_WARNINGS = pytest.mark.filterwarnings("ignore", "error:::continuity_(core|plugins)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(_WARNINGS)


@attrs.define(kw_only=True, eq=False)
class World:
    """A provider, a clock, and conversations with the one on the other."""

    folder: Path
    server: ThreadedFaultServer
    clock: VirtualClock
    opened: list[Any] = attrs.field(factory=list)

    def play(self, *script: Mapping[str, Any]) -> None:
        """What the provider answers."""
        self.server.play(script)

    @property
    def requests(self) -> Sequence[Any]:
        """What the provider was asked."""
        return self.server.requests

    @property
    def waits(self) -> list[float]:
        """The seconds of each wait that began."""
        return [wait.seconds for wait in self.clock.waits]

    def kinds(self, conversation: Any) -> list[str]:
        """The kinds of the events in the log, without the system's prompt."""
        return [type(event).__name__ for event in conversation.state.events][1:]

    def load(self, settings: Mapping[str, Any] | None = None, **more: Any) -> Continuity:
        """A Continuity of these settings alone, on the clock."""
        return Continuity.from_settings(settings, clock=self.clock, **more)

    def llm(self, **options: Any) -> Any:
        """A client of the provider; chat completions, not streamed, one try, unless it is told otherwise."""
        from openhands.sdk import LLM

        given = {
            "num_retries": 1,
            "retry_min_wait": 0,
            "retry_max_wait": 0,
            "max_output_tokens": 64,
            **options,
        }
        return LLM(
            model="openai/scripted", base_url=self.server.base_url, api_key="any", usage_id="tests", **given
        )

    def plain(self, *, agent: Any = None, tools: Iterable[Any] = (), **options: Any) -> Any:
        """A conversation without continuity; the agent has these tools, which count their executions."""
        from openhands.sdk import LocalConversation  # What Conversation(...) gives, with all its options.

        made: Any = LocalConversation(
            agent=agent or self.agent(tools=tools),
            workspace=str(self.folder / "workspace"),
            visualizer=None,
            **options,
        )
        self.opened.append(made)
        return made

    def agent(self, *, llm: Any = None, tools: Iterable[Any] = (), **options: Any) -> Any:
        """An agent of the framework's."""
        from openhands.sdk import Agent

        from continuity_core.testing.conformance.hosts.openhands import tool_of

        return Agent(llm=llm or self.llm(), tools=[tool_of(tool) for tool in tools], **options)

    def conversation(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        continuity: Continuity | None = None,
        **options: Any,
    ) -> Any:
        """One with it."""
        from continuity_core.hosts.openhands import ContinuityConversation

        own = {key: options.pop(key) for key in ("parent", "ending_tools") if key in options}
        return ContinuityConversation(
            self.plain(**options), continuity=continuity or self.load(settings), **own
        )


@pytest.fixture
def world(tmp_path: Path, clock: VirtualClock) -> Iterator[World]:
    with FaultServer.in_thread() as server:
        world = World(folder=tmp_path, server=server, clock=clock)
        yield world
        for conversation in world.opened:
            conversation.close()
        assert not server.violations


@pytest.fixture(params=["run", "arun"])
def finish(request: pytest.FixtureRequest) -> Callable[[Any], Awaitable[None]]:
    """Run a conversation to its end, by either way."""

    async def finish(conversation: Any) -> None:
        if request.param == "run":
            conversation.run()
        else:
            await conversation.arun()

    return finish
