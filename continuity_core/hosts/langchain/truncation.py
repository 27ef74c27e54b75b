"""Calls that must not be executed, as LangChain marks them itself."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import ModelResponse
from langchain_core.messages import AIMessage, ToolMessage

from continuity_core.hosts.langchain.reading import arguments_of

NOT_EXECUTED = "the turn was cut before it was complete, and the call was not executed"


def without_cut_calls(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response with the calls that nobody answered yet moved to the invalid ones.

    That is where LangChain puts a call whose arguments do not parse: it executes none of them, ends the loop,
    and answers them in the next request.
    """
    answered = {message.tool_call_id for message in response.result if isinstance(message, ToolMessage)}
    result = [
        _marked(message, answered) if isinstance(message, AIMessage) and message.tool_calls else message
        for message in response.result
    ]
    return ModelResponse(result=result, structured_response=response.structured_response)


def _marked(message: AIMessage, answered: set[str]) -> AIMessage:
    kept = [call for call in message.tool_calls if call["id"] in answered]
    cut = [
        {
            "type": "invalid_tool_call",
            "id": call["id"],
            "name": call["name"],
            "args": arguments_of(call),
            "error": NOT_EXECUTED,
        }
        for call in message.tool_calls
        if call["id"] not in answered
    ]
    changes = {"tool_calls": kept, "invalid_tool_calls": [*message.invalid_tool_calls, *cut]}
    return message.model_copy(update=changes)
