"""Anthropic Messages through the ``anthropic`` SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import attrs

from continuity_core.hosts.reference.history import HistoryEntry
from continuity_core.hosts.reference.models.base import Connection, ModelRequest
from continuity_core.hosts.reference.models.clients import closed_in_any_case, tls_context
from continuity_core.hosts.reference.tools import Tool
from continuity_core.model.decisions import ReasoningEffort
from continuity_core.model.failure import Failure
from continuity_core.model.reading.anthropic_messages import MessageStreamReader, arguments_object
from continuity_core.model.reading.fields import field, text
from continuity_core.model.turn import Text, ToolCall, Turn

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


@attrs.frozen(kw_only=True)
class AnthropicModel:
    """A model behind a Messages endpoint. Needs the ``anthropic`` SDK (extra ``anthropic``)."""

    name: str
    base_url: str | None = None
    """Without ``/v1``; by default Anthropic's."""
    api_key: str | None = attrs.field(default=None, repr=False)
    max_output_tokens: int = 4096
    """The format demands a limit."""
    reasoning_effort: ReasoningEffort | None = None
    timeout: float = 600.0
    """Seconds that a request without streaming may take."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Further parameters of each request, as ``client.messages.create`` takes them."""
    client: AsyncAnthropic | None = attrs.field(default=None, repr=False)
    """A client to use, which stays open; its own retries are not used."""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Make a client for one event loop, or borrow the one that was given."""
        if self.client is not None:
            yield MessagesConnection(self, self.client.with_options(max_retries=0))
            return
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        client = AsyncAnthropic(
            base_url=self.base_url,
            api_key=self.api_key,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(verify=tls_context()),
        )
        try:
            yield MessagesConnection(self, client)
        finally:
            await closed_in_any_case(client.close())


@attrs.frozen
class MessagesConnection:
    """A client of the SDK, and the model that it asks."""

    model: AnthropicModel
    client: AsyncAnthropic

    def call(self, request: ModelRequest) -> MessagesCall:
        """Prepare a request."""
        return MessagesCall(client=self.client, model=self.model, request=request)


@attrs.define(kw_only=True, eq=False)
class MessagesCall:
    """One message of the model."""

    client: AsyncAnthropic
    model: AnthropicModel
    request: ModelRequest
    began: bool = False
    _reader: MessageStreamReader = attrs.field(factory=MessageStreamReader)
    _strange: Failure | None = None

    @property
    def wire(self) -> str | None:
        """The content blocks, signatures included."""
        content = self._reader.content()
        return json.dumps(content, ensure_ascii=False) if content else None

    async def run(self, on_text: Callable[[str], None]) -> None:
        """Send the request; a streamed answer is taken in piece by piece."""
        from anthropic import Timeout

        messages: Any = self.client.messages
        parameters = request_parameters(self.model, self.request)
        if not self.request.stream:
            response = await messages.create(**parameters, timeout=self.model.timeout)
            self.began = True
            if isinstance(response, str | bytes):
                self._strange = Failure.from_text("The response is no message", body=str(response))
            else:
                self._reader.feed_message(response)
            return
        timeout = Timeout(self.model.timeout, read=self.request.idle_timeout or self.model.timeout)
        async with await messages.create(**parameters, timeout=timeout) as stream:
            self.began = True
            async for event in stream:
                self._reader.feed(event)
                if told := text(field(field(event, "delta"), "text")):
                    on_text(told)

    def turn(self, *, error: BaseException | None = None, aborted: bool = False) -> Turn:
        """The turn so far."""
        return self._reader.turn(error=error, failure=self._strange, aborted=aborted)


def request_parameters(model: AnthropicModel, request: ModelRequest) -> dict[str, Any]:
    """The parameters of ``client.messages.create``."""
    parameters: dict[str, Any] = {
        "model": model.name,
        "messages": messages_of(request.entries),
        "max_tokens": request.max_output_tokens or model.max_output_tokens,
    }
    if request.instructions is not None:
        parameters["system"] = request.instructions
    if request.tools:
        parameters["tools"] = [_tool(tool) for tool in request.tools]
    effort = request.reasoning_effort or model.reasoning_effort
    if effort is ReasoningEffort.NONE:
        parameters["thinking"] = {"type": "disabled"}
    elif effort is not None:
        level = ReasoningEffort.LOW if effort is ReasoningEffort.MINIMAL else effort
        parameters["output_config"] = {"effort": level.value}
    if request.stream:
        parameters["stream"] = True
    return parameters | dict(model.options)


def messages_of(entries: Sequence[HistoryEntry]) -> list[dict[str, Any]]:
    """The messages in Anthropic's format: all results of a turn stand in one message."""
    messages: list[dict[str, Any]] = []
    before: HistoryEntry | None = None
    for entry in entries:
        if entry.role == "tool" and before is not None and before.role == "tool":
            messages[-1]["content"].append(_result(entry))
        else:
            messages.append(_message(entry))
        before = entry
    return messages


def _message(entry: HistoryEntry) -> dict[str, Any]:
    if entry.role == "user":
        return {"role": "user", "content": entry.text}
    if entry.role == "tool":
        return {"role": "user", "content": [_result(entry)]}
    content = json.loads(entry.wire) if entry.wire is not None else _content(entry)
    return {"role": "assistant", "content": content}


def _content(entry: HistoryEntry) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for block in entry.blocks:
        if isinstance(block, Text) and block.text.strip():
            content.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolCall):
            content.append(
                {
                    "type": "tool_use",
                    "id": block.id,
                    "name": block.name,
                    "input": arguments_object(block.arguments),
                }
            )
    return content


def _result(entry: HistoryEntry) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": entry.call_id, "content": entry.text}
    return {**result, "is_error": True} if entry.is_error else result


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
