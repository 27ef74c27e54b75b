"""OpenAI-compatible chat completions through the ``openai`` SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import attrs

from continuity_core.hosts.reference.history import HistoryEntry
from continuity_core.hosts.reference.models.base import Connection, ModelRequest
from continuity_core.hosts.reference.models.clients import closed_in_any_case, tls_context
from continuity_core.hosts.reference.tools import Tool
from continuity_core.model.decisions import ReasoningEffort
from continuity_core.model.reading.fields import field, items, text
from continuity_core.model.reading.openai_chat import ChatStreamReader, read
from continuity_core.model.turn import Turn

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@attrs.frozen(kw_only=True)
class OpenAIChatModel:
    """A model behind a chat completions endpoint. Needs the ``openai`` SDK (extra ``openai``)."""

    name: str
    base_url: str | None = None
    """Up to and with ``/v1``; by default OpenAI's."""
    api_key: str | None = attrs.field(default=None, repr=False)
    max_output_tokens: int | None = None
    limit_parameter: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """The name under which the limit is sent; older servers know only ``max_tokens``."""
    reasoning_effort: ReasoningEffort | None = None
    sends_reasoning: bool = False
    """Send ``reasoning_content`` back, as some servers require between tool calls."""
    timeout: float = 600.0
    """Seconds that a request without streaming may take."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Further parameters of each request, as ``client.chat.completions.create`` takes them."""
    client: AsyncOpenAI | None = attrs.field(default=None, repr=False)
    """A client to use, which stays open; its own retries are not used."""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Make a client for one event loop, or borrow the one that was given."""
        if self.client is not None:
            yield ChatConnection(self, self.client.with_options(max_retries=0))
            return
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        client = AsyncOpenAI(
            base_url=self.base_url,
            api_key=self.api_key,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(verify=tls_context()),
        )
        try:
            yield ChatConnection(self, client)
        finally:
            await closed_in_any_case(client.close())


@attrs.frozen
class ChatConnection:
    """A client of the SDK, and the model that it asks."""

    model: OpenAIChatModel
    client: AsyncOpenAI

    def call(self, request: ModelRequest) -> ChatCall:
        """Prepare a request."""
        return ChatCall(client=self.client, model=self.model, request=request)


@attrs.define(kw_only=True, eq=False)
class ChatCall:
    """One chat completion."""

    client: AsyncOpenAI
    model: OpenAIChatModel
    request: ModelRequest
    began: bool = False
    wire: str | None = None
    _reader: ChatStreamReader = attrs.field(factory=ChatStreamReader)
    _whole: Turn | None = None

    async def run(self, on_text: Callable[[str], None]) -> None:
        """Send the request; a streamed answer is taken in piece by piece."""
        from openai import Timeout

        completions: Any = self.client.chat.completions
        parameters = request_parameters(self.model, self.request)
        if not self.request.stream:
            response = await completions.create(**parameters, timeout=self.model.timeout)
            self.began = True
            self._whole = read(response)
            return
        timeout = Timeout(self.model.timeout, read=self.request.idle_timeout or self.model.timeout)
        async with await completions.create(**parameters, timeout=timeout) as stream:
            self.began = True
            async for chunk in stream:
                self._reader.feed(chunk)
                for choice in items(field(chunk, "choices"))[:1]:
                    if told := text(field(field(choice, "delta"), "content")):
                        on_text(told)

    def turn(self, *, error: BaseException | None = None, aborted: bool = False) -> Turn:
        """The turn so far."""
        if self._whole is not None and error is None and not aborted:
            return self._whole
        return self._reader.turn(error=error, aborted=aborted)


def request_parameters(model: OpenAIChatModel, request: ModelRequest) -> dict[str, Any]:
    """The parameters of ``client.chat.completions.create``."""
    parameters: dict[str, Any] = {"model": model.name, "messages": messages_of(model, request)}
    if request.tools:
        parameters["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        parameters[model.limit_parameter] = request.max_output_tokens
    effort = request.reasoning_effort or model.reasoning_effort
    if effort is not None:
        parameters["reasoning_effort"] = effort.value
    if request.stream:
        parameters |= {"stream": True, "stream_options": {"include_usage": True}}
    return parameters | dict(model.options)


def messages_of(model: OpenAIChatModel, request: ModelRequest) -> list[dict[str, Any]]:
    """The messages in the format of chat completions."""
    messages: list[dict[str, Any]] = []
    if request.instructions is not None:
        messages.append({"role": "system", "content": request.instructions})
    messages += [_message(entry, sends_reasoning=model.sends_reasoning) for entry in request.entries]
    return messages


def _message(entry: HistoryEntry, *, sends_reasoning: bool) -> dict[str, Any]:
    if entry.role == "tool":
        return {"role": "tool", "tool_call_id": entry.call_id, "content": entry.text}
    if entry.role == "user":
        return {"role": "user", "content": entry.text}
    message: dict[str, Any] = {"role": "assistant", "content": entry.text or None}
    if sends_reasoning and entry.reasoning:
        message["reasoning_content"] = entry.reasoning
    if entry.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in entry.calls
        ]
    return message


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
