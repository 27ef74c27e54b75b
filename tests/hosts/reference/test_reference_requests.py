"""What a request looks like in each provider's form."""

from __future__ import annotations

from typing import Any

import pytest

from continuity_core import Failure, ReasoningEffort, StopReason, Turn
from continuity_core.hosts.reference import AgentSession, AnthropicModel, ModelRequest, OpenAIChatModel, Tool
from continuity_core.hosts.reference.history import History
from continuity_core.hosts.reference.models import anthropic, openai_chat
from continuity_core.model.turn import Reasoning, Text, ToolCall
from continuity_core.testing.fault_server import FaultServer

ASKED = Turn(
    stop_reason=StopReason.TOOL_USE,
    blocks=(
        Reasoning("let me see"),
        Text("I look"),
        ToolCall("a", "step", '{"n": 1}'),
        ToolCall("b", "step", "{"),
    ),
)


@pytest.fixture
def history() -> History:
    history = History()
    history.add_user("do it")
    asked = history.add_turn(ASKED, None)
    history.add_result(asked, "a", "ONE", is_error=False)
    history.add_result(asked, "b", "no valid JSON", is_error=True)
    return history


def request(history: History, **more: Any) -> ModelRequest:
    return ModelRequest(entries=history.entries, stream=False, **more)


def test_arguments_go_back_to_a_chat_model_as_they_came(history: History) -> None:
    messages = openai_chat.messages_of(OpenAIChatModel(name="m"), request(history))
    assert messages[1] == {
        "role": "assistant",
        "content": "I look",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "step", "arguments": '{"n": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "step", "arguments": "{"}},
        ],
    }
    assert messages[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "ONE"},
        {"role": "tool", "tool_call_id": "b", "content": "no valid JSON"},
    ]


def test_reasoning_goes_back_to_the_servers_that_require_it(history: History) -> None:
    model = OpenAIChatModel(name="m", sends_reasoning=True)
    assert openai_chat.messages_of(model, request(history))[1]["reasoning_content"] == "let me see"


def test_the_results_of_one_turn_stand_in_one_anthropic_message(history: History) -> None:
    messages = anthropic.messages_of(history.entries)
    assert messages[1]["content"] == [
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "a", "name": "step", "input": {"n": 1}},
        {"type": "tool_use", "id": "b", "name": "step", "input": {}},
    ]
    assert messages[2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "ONE"},
                {"type": "tool_result", "tool_use_id": "b", "content": "no valid JSON", "is_error": True},
            ],
        }
    ]


@pytest.mark.parametrize("parameter", ["max_tokens", "max_completion_tokens"])
def test_the_limit_of_a_chat_request_goes_by_the_name_asked_for(history: History, parameter: Any) -> None:
    model = OpenAIChatModel(name="m", limit_parameter=parameter)
    assert openai_chat.request_parameters(model, request(history, max_output_tokens=9))[parameter] == 9


@pytest.mark.parametrize(
    ("effort", "sent"),
    [
        (ReasoningEffort.NONE, {"thinking": {"type": "disabled"}}),
        (ReasoningEffort.MINIMAL, {"output_config": {"effort": "low"}}),
        (ReasoningEffort.HIGH, {"output_config": {"effort": "high"}}),
    ],
)
def test_anthropic_has_its_own_words_for_effort(
    history: History, effort: ReasoningEffort, sent: dict[str, Any]
) -> None:
    parameters = anthropic.request_parameters(
        AnthropicModel(name="m"), request(history, reasoning_effort=effort)
    )
    assert {key: parameters.get(key) for key in sent} == sent


def test_further_parameters_and_tools_are_passed_on(history: History) -> None:
    tool = Tool(name="step", function=print, description="A step.")
    for model, module in (
        (OpenAIChatModel(name="m", options={"temperature": 0.5}), openai_chat),
        (AnthropicModel(name="m", options={"temperature": 0.5}), anthropic),
    ):
        parameters = module.request_parameters(model, request(history, tools=(tool,)))  # type: ignore[attr-defined]
        assert parameters["temperature"] == 0.5
        assert "A step." in str(parameters["tools"])


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(OpenAIChatModel(name="m", api_key="secret"))
    assert "secret" not in repr(AnthropicModel(name="m", api_key="secret"))


@pytest.mark.anyio
async def test_a_given_anthropic_client_stays_open(anyio_backend: str) -> None:
    from anthropic import AsyncAnthropic

    async with (
        FaultServer([{"text": "one"}]) as server,
        AsyncAnthropic(base_url=server.root_url, api_key="any") as client,
    ):
        outcome = await AgentSession(AnthropicModel(name="m", client=client), stream=False).run("Go")
        assert outcome.text == "one"
        assert not client.is_closed()


@pytest.mark.anyio
async def test_a_page_in_place_of_an_answer_is_a_failure_with_its_text(either: Any, session_on: Any) -> None:
    page = {"http": 200, "headers": {}, "body": "<html>Sign in to the network</html>"}
    async with FaultServer([page]) as server:
        outcome = await session_on(either, server).run("Finish the task")
    failure: Failure | None = outcome.failure
    assert failure is not None
    if not either.stream:
        assert failure.body == "<html>Sign in to the network</html>"


def test_one_history_serves_models_of_both_providers() -> None:
    with FaultServer.in_thread([{"text": "one"}]) as server:
        session = AgentSession(OpenAIChatModel(name="m", base_url=server.base_url, api_key="any"))
        session.run_sync("First task")
        messages = anthropic.messages_of(session.history)
    assert messages[1] == {"role": "assistant", "content": [{"type": "text", "text": "one"}]}
