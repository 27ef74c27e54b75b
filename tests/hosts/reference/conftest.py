"""What the reference session's tests share: both wire formats, streamed and not, over real HTTP."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from continuity_core import Continuity
from continuity_core.hosts.reference import AgentSession, AnthropicModel, OpenAIChatModel
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import FaultServer

MakeSession: TypeAlias = Callable[..., AgentSession]

# On trio the SDKs leave generators of a stream that was not read to its end to the garbage collector.
_LEFT_GENERATORS = "ignore:Async generator '(openai|httpx2|httpcore2)[.]:ResourceWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.filterwarnings(_LEFT_GENERATORS))


@pytest.fixture(scope="module", autouse=True)
def _left_generators_end_with_their_module() -> Iterator[None]:
    yield
    gc.collect()


@attrs.frozen
class Wire:
    """A format, and whether answers are streamed."""

    dialect: str
    stream: bool

    def model(self, server: Any, **more: Any) -> OpenAIChatModel | AnthropicModel:
        options: dict[str, Any] = {"name": "m", "api_key": "any", "max_output_tokens": 64, **more}
        if self.dialect == "chat":
            return OpenAIChatModel(base_url=server.base_url, **options)
        return AnthropicModel(base_url=server.root_url, **options)


@pytest.fixture(
    params=[Wire("chat", True), Wire("chat", False), Wire("anthropic", True), Wire("anthropic", False)],
    ids=["chat-stream", "chat-plain", "anthropic-stream", "anthropic-plain"],
)
def wire(request: pytest.FixtureRequest) -> Wire:
    """Every way to ask a model."""
    given: Wire = request.param
    return given


@pytest.fixture(params=[Wire("chat", True), Wire("anthropic", False)], ids=["chat-stream", "anthropic-plain"])
def either(request: pytest.FixtureRequest) -> Wire:
    """Two ways that have nothing in common."""
    given: Wire = request.param
    return given


@pytest.fixture
def streamed() -> Wire:
    """One way, where it makes no difference."""
    return Wire("anthropic", True)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def continuity(clock: VirtualClock) -> Continuity:
    """The bundled plugins with their defaults; waits take no time."""
    return Continuity.from_settings(clock=clock)


@pytest.fixture
def session_on() -> MakeSession:
    """Makes a session that asks a fault server."""

    def make(wire: Wire, server: FaultServer, **options: Any) -> AgentSession:
        model = {key: options.pop(key) for key in ("max_output_tokens", "reasoning_effort") if key in options}
        return AgentSession(wire.model(server, **model), stream=wire.stream, **options)

    return make
