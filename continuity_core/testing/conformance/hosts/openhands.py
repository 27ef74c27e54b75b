"""OpenHands as a host: its conversation with its own client, streaming and not."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, ClassVar
from unittest import mock

# Read when the framework is imported: the client asks the network for the prices of models otherwise.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import LLM, Agent, Conversation
from openhands.sdk.conversation import ConversationExecutionStatus, get_agent_final_response
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.llm import TextContent
from openhands.sdk.tool import Action, Observation, Tool, ToolDefinition, ToolExecutor, register_tool
from pydantic import ConfigDict

from continuity_core.hosts.openhands import ContinuityConversation
from continuity_core.hosts.openhands.reading import read_response
from continuity_core.model.host_facts import InputKind
from continuity_core.model.incomplete import IncompleteRun
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play, PlayedTool

_MODELS = {"chat": "openai/scripted", "responses": "openai/scripted", "anthropic": "anthropic/scripted"}
_DEFAULT_IDLE_TIMEOUT = 60.0
"""Seconds; longer than any scenario may take, so that only ``idle_timeout`` itself makes a stream dead."""
_NUDGE = (
    "Your last response did not include a function call or a message. "
    "Please use a tool to proceed with the task."
)
_ONE_INPUT = (
    "a message that is sent while the conversation runs is part of the next request: "
    "there is no queue for after the run"
)
_IN_THE_LOG = "a message is in the log, and with that in the conversation, from the moment it is sent"
_NUDGES = (
    "the agent answers an empty answer by a nudge of its own in the user's role and asks again at once: "
    "its own recovery, which cannot be switched off"
)
CANNOT: Mapping[Feature, str] = {
    Feature.FOLLOW_UP: _ONE_INPUT,
    Feature.FOLLOW_UP_DURING_WAIT: _ONE_INPUT,
    Feature.DROPPED_INPUT: _IN_THE_LOG,
    Feature.EMPTY: _NUDGES,
}
"""The capability table: what the host has not, and why."""


class OpenHandsHost:
    """Plays scenarios on ``Conversation.arun``, which streams where somebody listens."""

    name = "openhands"
    dialects = ("chat", "responses", "anthropic")

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="continuity-openhands-")
        logging.getLogger("openhands").setLevel(logging.CRITICAL)
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        warnings.filterwarnings("ignore", "Cost calculation failed", UserWarning)

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """See ``CANNOT``."""
        return CANNOT.get(feature)

    def adds_text(self, text: str) -> bool:
        """Its nudge after an answer without text and calls."""
        return text == _NUDGE

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new conversation for each scenario."""
        stops = _StopWords()
        session = OpenHandsSession(play, self._folder.name, stops)
        try:
            with stops.noted():
                yield session
        finally:
            session.close()

    async def aclose(self) -> None:
        """Remove the workspace."""
        self._folder.cleanup()


class _StopWords:
    """Notes the finish reason of the last answer: the framework itself shows it to nobody.

    The class of the client stays what it is, and with that its copies and what they are watched by.
    """

    last: str | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note those of every client, while this holds."""
        generate = LLM.agenerate

        async def noting(llm: LLM, *arguments: Any, **options: Any) -> Any:
            self.last = None
            response = await generate(llm, *arguments, **options)
            self.last = read_response(response).stop_reason.value
            return response

        with mock.patch.object(LLM, "agenerate", noting):
            yield


class OpenHandsSession:
    """One conversation while a scenario is played."""

    def __init__(self, play: Play, folder: str, stops: _StopWords) -> None:
        self._continuity = play.continuity
        self._stops = stops
        tools = [tool_of(tool) for tool in play.tools]
        self._conversation: Any = Conversation(
            agent=Agent(llm=_llm(play), tools=tools),
            workspace=folder,
            visualizer=None,
            token_callbacks=[_listen] if play.mode.stream else None,
        )
        if play.continuity is not None:
            self._conversation = ContinuityConversation(
                self._conversation,
                continuity=play.continuity,
                ending_tools=[tool.name for tool in play.tools if tool.ends_run == "on_purpose"],
            )

    async def prompt(self, text: str) -> HostResult:
        """Send a message, and run until the conversation is over with it."""
        self._conversation.send_message(text)
        try:
            # In a task of its own, as a server does: an interruption cancels the task that runs.
            await asyncio.create_task(self._conversation.arun())
        except ConversationRunError as error:
            # Its own text names the conversation, whose id is another each time.
            return HostResult(stop="error", error=" ".join(str(error.original_exception).split()))
        except IncompleteRun as error:
            return HostResult(stop="error", error=str(error))
        state = self._conversation.state
        if state.execution_status is ConversationExecutionStatus.PAUSED:
            return HostResult(stop="aborted", aborted=True)
        if state.execution_status is not ConversationExecutionStatus.FINISHED:
            return HostResult(error=f"the conversation is {state.execution_status.value}")
        return HostResult(text=get_agent_final_response(state.events), stop=self._stops.last)

    async def abort(self) -> None:
        """As whoever holds the conversation."""
        self._conversation.interrupt()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """As whoever holds the conversation."""
        self._conversation.send_message(text)

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        if self._continuity is not None:
            if on:
                self._continuity.enable()
            else:
                self._continuity.disable()

    def close(self) -> None:
        """The conversation is not needed any more."""
        self._conversation.close()


def _llm(play: Play) -> LLM:
    idle = _DEFAULT_IDLE_TIMEOUT if play.idle_timeout is None else play.idle_timeout
    return LLM(
        model=_MODELS[play.mode.dialect],
        base_url=play.root_url if play.mode.dialect == "anthropic" else play.base_url,
        api_key="any",
        usage_id="conformance",
        api_mode="responses" if play.mode.dialect == "responses" else "chat",
        stream=play.mode.stream,
        stream_idle_timeout=idle,
        # In this API a stream that says nothing is ended by the timeout of the whole call alone.
        timeout=max(1, round(idle)) if play.mode.dialect == "responses" else 300,
        max_output_tokens=play.output_limit,
        num_retries=play.native_retries + 1,  # What it calls retries are tries.
        retry_min_wait=0,
        retry_max_wait=0,
    )


def _listen(chunk: Any) -> None:
    """Somebody has to, or nothing is streamed."""


# ---------------------------------------------------------------- tools


class _AnyAction(Action):
    """A tool of a scenario takes any JSON object."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow", frozen=True)


class _PlayedObservation(Observation):
    """The result of a tool of a scenario."""


class _PlayedExecutor(ToolExecutor[_AnyAction, _PlayedObservation]):
    def __init__(self, tool: PlayedTool) -> None:
        self._tool = tool

    def __call__(self, action: _AnyAction, conversation: Any = None) -> _PlayedObservation:
        result = self._tool.run()
        if self._tool.ends_run is not None:
            conversation.state.execution_status = ConversationExecutionStatus.FINISHED
        return _PlayedObservation(content=[TextContent(text=result)])


class _PlayedDefinition(ToolDefinition[_AnyAction, _PlayedObservation]):
    """A tool of a scenario; the class of each name is made when a scenario has a tool of that name."""

    @classmethod
    def create(cls, conv_state: Any = None, *, number: int) -> Sequence[Any]:
        return [
            cls(
                description=cls.name,
                action_type=_AnyAction,
                observation_type=_PlayedObservation,
                executor=_PlayedExecutor(_OFFERED.pop(number)),
            )
        ]


_OFFERED: dict[int, PlayedTool] = {}
_NUMBERS = itertools.count()
_DEFINED: set[str] = set()


def tool_of(tool: PlayedTool) -> Tool:
    """What an agent is given so that it has the tool of a scenario."""
    if tool.name not in _DEFINED:
        kind = type(f"Played_{tool.name}", (_PlayedDefinition,), {"name": tool.name, "__module__": __name__})
        register_tool(tool.name, kind)
        _DEFINED.add(tool.name)
    number = next(_NUMBERS)
    _OFFERED[number] = tool
    return Tool(name=tool.name, params={"number": number})
