"""What the real SDK clients make of each response, in every dialect, streaming and not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import anthropic
import attrs
import httpx2
import openai
import pytest

from continuity_core.testing.fault_server import FaultServer, ThreadedFaultServer

PROMPT: Any = [{"role": "user", "content": "Finish the task"}]
LIMIT = 33


@attrs.define
class Answer:
    """What a client was given, up to its end or its error."""

    text: str = ""
    reasoning: str = ""
    calls: dict[int, list[str]] = attrs.Factory(dict)
    """Id, name and arguments by index."""
    stop: str | None = None
    output_tokens: int | None = None
    text_pieces: int = 0
    signature: str = ""
    error: Exception | None = None


Ask: TypeAlias = Callable[..., Answer]


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedFaultServer]:
    with FaultServer.in_thread() as running:
        yield running


@pytest.fixture(params=["chat", "responses", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["stream", "plain"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def clients(server: ThreadedFaultServer) -> Iterator[dict[str, Any]]:
    settings: dict[str, Any] = {"api_key": "any", "max_retries": 0, "timeout": 5.0}
    with (
        openai.OpenAI(base_url=server.base_url, **settings) as gpt,
        anthropic.Anthropic(base_url=server.root_url, **settings) as claude,
    ):
        yield {"chat": gpt, "responses": gpt, "anthropic": claude}


@pytest.fixture
def ask(server: ThreadedFaultServer, clients: dict[str, Any], dialect: str, stream: bool) -> Ask:
    """Plays one response and asks for it."""

    def play_and_ask(response: dict[str, Any], timeout: float | None = None) -> Answer:
        server.play([response])
        client = clients[dialect].with_options(timeout=timeout or 5.0)
        answer = Answer()
        reader = {
            ("chat", True): read_chat_stream,
            ("chat", False): read_chat,
            ("responses", True): read_responses_stream,
            ("responses", False): read_responses,
            ("anthropic", True): read_anthropic_stream,
            ("anthropic", False): read_anthropic,
        }[dialect, stream]
        try:
            reader(client, answer)
        except Exception as error:
            answer.error = error
        assert server.violations == []
        assert len(server.requests) == 1
        return answer

    return play_and_ask


def read_chat(client: Any, answer: Answer) -> None:
    completion = client.chat.completions.create(model="m", messages=PROMPT, max_completion_tokens=LIMIT)
    choice = completion.choices[0]
    answer.text = choice.message.content or ""
    answer.reasoning = getattr(choice.message, "reasoning_content", "")
    for index, call in enumerate(choice.message.tool_calls or []):
        answer.calls[index] = [call.id, call.function.name, call.function.arguments]
    answer.stop = choice.finish_reason
    answer.output_tokens = completion.usage.completion_tokens


def read_chat_stream(client: Any, answer: Answer) -> None:
    with client.chat.completions.create(
        model="m", messages=PROMPT, max_tokens=LIMIT, stream=True, stream_options={"include_usage": True}
    ) as chunks:
        for chunk in chunks:
            if chunk.usage is not None:
                answer.output_tokens = chunk.usage.completion_tokens
            for choice in chunk.choices:
                if choice.delta.content:
                    answer.text += choice.delta.content
                    answer.text_pieces += 1
                answer.reasoning += getattr(choice.delta, "reasoning_content", "")
                for call in choice.delta.tool_calls or []:
                    known = answer.calls.setdefault(call.index, [call.id or "", call.function.name or "", ""])
                    known[2] += call.function.arguments
                answer.stop = choice.finish_reason or answer.stop


def read_responses(client: Any, answer: Answer) -> None:
    response = client.responses.create(model="m", input=PROMPT, max_output_tokens=LIMIT)
    read_responses_object(response, answer)


def read_responses_object(response: Any, answer: Answer) -> None:
    answer.text = response.output_text
    for item in response.output:
        if item.type == "reasoning":
            answer.reasoning += "".join(part.text for part in item.summary)
            answer.signature = item.encrypted_content
        elif item.type == "function_call":
            answer.calls[len(answer.calls)] = [item.call_id, item.name, item.arguments]
    answer.stop = response.incomplete_details.reason if response.incomplete_details else None
    answer.stop = answer.stop or response.status
    answer.output_tokens = response.usage.output_tokens


def read_responses_stream(client: Any, answer: Answer) -> None:
    with client.responses.create(model="m", input=PROMPT, max_output_tokens=LIMIT, stream=True) as events:
        for event in events:
            match event.type:
                case "response.output_item.added" if event.item.type == "function_call":
                    answer.calls[len(answer.calls)] = [event.item.call_id, event.item.name, ""]
                case "response.output_text.delta":
                    answer.text += event.delta
                    answer.text_pieces += 1
                case "response.reasoning_summary_text.delta":
                    answer.reasoning += event.delta
                case "response.function_call_arguments.delta":
                    answer.calls[len(answer.calls) - 1][2] += event.delta
                case "response.completed" | "response.incomplete":
                    assert event.type == f"response.{event.response.status}"
                    streamed = (answer.text, answer.reasoning, dict(answer.calls))
                    answer.reasoning, answer.calls = "", {}
                    read_responses_object(event.response, answer)
                    assert (answer.text, answer.reasoning, answer.calls) == streamed


def read_anthropic(client: Any, answer: Answer) -> None:
    read_anthropic_message(client.messages.create(model="m", messages=PROMPT, max_tokens=LIMIT), answer)


def read_anthropic_message(message: Any, answer: Answer) -> None:
    for block in message.content:
        if block.type == "text":
            answer.text += block.text
        elif block.type == "thinking":
            answer.reasoning += block.thinking
            answer.signature = block.signature
        else:
            answer.calls[len(answer.calls)] = [block.id, block.name, json.dumps(block.input)]
    answer.stop = message.stop_reason
    answer.output_tokens = message.usage.output_tokens


def read_anthropic_stream(client: Any, answer: Answer) -> None:
    with client.messages.create(model="m", messages=PROMPT, max_tokens=LIMIT, stream=True) as events:
        for event in events:
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                answer.calls[len(answer.calls)] = [event.content_block.id, event.content_block.name, ""]
            elif event.type == "message_delta":
                answer.stop = event.delta.stop_reason
                answer.output_tokens = event.usage.output_tokens
            elif event.type == "content_block_delta":
                delta = event.delta
                if delta.type == "text_delta":
                    answer.text += delta.text
                    answer.text_pieces += 1
                elif delta.type == "thinking_delta":
                    answer.reasoning += delta.thinking
                elif delta.type == "signature_delta":
                    answer.signature += delta.signature
                else:
                    answer.calls[len(answer.calls) - 1][2] += delta.partial_json


def root_cause(error: BaseException | None) -> BaseException:
    """The transport's own error under what the SDK raised."""
    assert error is not None
    while error.__cause__ is not None and not isinstance(error, httpx2.TransportError):
        error = error.__cause__
    return error


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        ("stop", {"chat": "stop", "responses": "completed", "anthropic": "end_turn"}),
        ("length", {"chat": "length", "responses": "max_output_tokens", "anthropic": "max_tokens"}),
        (
            "content_filter",
            {"chat": "content_filter", "responses": "content_filter", "anthropic": "refusal"},
        ),
    ],
)
def test_a_text_arrives_whole_with_the_stop_in_the_dialects_own_word(
    ask: Ask, dialect: str, stop: str, words: dict[str, str]
) -> None:
    answer = ask({"text": 'Zeilen\n"ß" 漢字 \U0001f600', "stop": stop})
    assert answer.error is None
    assert answer.text == 'Zeilen\n"ß" 漢字 \U0001f600'
    assert answer.stop == words[dialect]


def test_a_streamed_text_comes_in_several_pieces(ask: Ask, stream: bool) -> None:
    answer = ask({"text": "one two three four"})
    assert answer.text_pieces == (4 if stream else 0)


def test_usage_is_at_cap_for_length_few_else_and_as_scripted_where_it_is(ask: Ask) -> None:
    at_cap = ask({"text": "x", "stop": "length"}).output_tokens
    few = ask({"text": "x"}).output_tokens
    scripted = ask({"text": "x", "stop": "length", "usage": {"output": 7}}).output_tokens
    assert at_cap == LIMIT
    assert few is not None
    assert few < LIMIT
    assert scripted == 7


def test_reasoning_arrives_beside_the_text(ask: Ask, dialect: str) -> None:
    answer = ask({"reasoning": "partial thought", "text": "partial answer", "stop": "length"})
    assert (answer.reasoning, answer.text) == ("partial thought", "partial answer")
    assert answer.signature == ("" if dialect == "chat" else "signature-of-response-1")


def test_reasoning_may_come_alone(ask: Ask) -> None:
    answer = ask({"reasoning": "work out the next step", "stop": "length"})
    assert (answer.reasoning, answer.text, answer.error) == ("work out the next step", "", None)


def test_an_empty_text_is_an_empty_answer(ask: Ask) -> None:
    answer = ask({"text": ""})
    assert (answer.text, answer.calls, answer.error) == ("", {}, None)
    assert answer.stop in ("stop", "completed", "end_turn")


def test_tool_calls_arrive_in_order_with_ids_of_the_servers_own(ask: Ask, dialect: str) -> None:
    answer = ask(
        {
            "text": "running",
            "tool_calls": [{"name": "a", "arguments": '{"x": 1}'}, {"name": "b", "arguments": "{}"}],
        }
    )
    assert answer.error is None
    assert answer.text == "running"
    assert [call[1] for call in answer.calls.values()] == ["a", "b"]
    assert [json.loads(call[2]) for call in answer.calls.values()] == [{"x": 1}, {}]
    assert len({call[0] for call in answer.calls.values()}) == 2
    assert answer.stop == {"chat": "tool_calls", "responses": "completed", "anthropic": "tool_use"}[dialect]


def test_broken_arguments_go_out_raw_wherever_the_dialect_can_carry_them(
    ask: Ask, dialect: str, stream: bool
) -> None:
    broken = '{"path": "UNSAFE_ARG'
    answer = ask({"tool_calls": [{"name": "step", "arguments": broken}], "stop": "length"})
    carries = dialect != "anthropic" or stream
    assert answer.calls[0][1:] == ["step", broken if carries else "{}"]


@pytest.mark.parametrize("arguments", ["", "[1]", "null"])
def test_arguments_that_are_no_object_go_out_raw_wherever_the_dialect_can_carry_them(
    ask: Ask, dialect: str, stream: bool, arguments: str
) -> None:
    answer = ask({"tool_calls": [{"name": "step", "arguments": arguments}]})
    carries = dialect != "anthropic" or stream
    assert answer.calls[0][2] == (arguments if carries else "{}")


def test_a_reset_is_a_transport_error_after_the_text(ask: Ask, stream: bool) -> None:
    answer = ask({"text": "partial plan", "cut": "rst"})
    assert isinstance(root_cause(answer.error), httpx2.ReadError)
    assert answer.text == ("partial plan" if stream else "")
    assert answer.stop is None


def test_an_early_close_is_a_protocol_error_after_the_text(ask: Ask, stream: bool) -> None:
    answer = ask({"text": "partial plan", "cut": "fin"})
    cause = root_cause(answer.error)
    assert isinstance(cause, httpx2.RemoteProtocolError)
    assert "incomplete chunked read" in str(cause)
    assert answer.text == ("partial plan" if stream else "")


def test_a_cut_may_come_before_any_text_and_inside_a_tool_call(ask: Ask, stream: bool) -> None:
    assert isinstance(root_cause(ask({"cut": "rst"}).error), httpx2.ReadError)
    answer = ask({"tool_calls": [{"name": "step", "arguments": '{"path": "CUT'}], "cut": "fin"})
    assert isinstance(root_cause(answer.error), httpx2.RemoteProtocolError)
    assert answer.stop is None
    if stream:
        assert answer.calls[0][1:] == ["step", '{"path": "CUT']


def test_half_an_event_is_no_finish_and_half_a_json_text_is_an_error(ask: Ask, stream: bool) -> None:
    answer = ask({"text": "partial plan", "cut": "mid_json"})
    assert answer.stop is None
    if stream:
        # Both SDKs drop an event that its blank line does not end.
        assert (answer.text, answer.error) == ("partial plan", None)
    else:
        assert isinstance(answer.error, json.JSONDecodeError)


def test_without_a_finish_the_iteration_just_ends(ask: Ask) -> None:
    answer = ask({"text": "half an ans", "cut": "no_finish"})
    assert (answer.text, answer.stop, answer.error) == ("half an ans", None, None)


def test_an_error_in_the_stream_comes_after_the_text_and_else_has_a_status(
    ask: Ask, dialect: str, stream: bool
) -> None:
    error = {"message": "The usage limit has been reached", "type": "usage_limit_reached"}
    answer = ask({"text": "some text", "sse_error": error, "status": 429})
    assert isinstance(answer.error, openai.APIError | anthropic.APIError)
    assert "The usage limit has been reached" in str(answer.error)
    assert answer.error.body == ({"type": "error", "error": error} if dialect == "anthropic" else error)
    assert answer.text == ("some text" if stream else "")
    if not stream:
        assert isinstance(answer.error, openai.RateLimitError | anthropic.RateLimitError)


def test_an_error_without_a_status_of_its_own_is_a_500(ask: Ask, stream: bool) -> None:
    answer = ask({"text": "", "sse_error": {"message": "Response truncated"}})
    if stream:
        assert "Response truncated" in str(answer.error)
    else:
        assert isinstance(answer.error, openai.InternalServerError | anthropic.InternalServerError)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 529])
def test_any_status_arrives_with_its_headers_and_body(ask: Ask, status: int) -> None:
    answer = ask({"http": status, "headers": {"Retry-After": "7"}, "body": {"detail": "Bad Request"}})
    assert isinstance(answer.error, openai.APIStatusError | anthropic.APIStatusError)
    assert answer.error.status_code == status
    assert answer.error.response.headers["retry-after"] == "7"
    assert answer.error.response.json() == {"detail": "Bad Request"}


def test_a_text_as_the_body_is_html(ask: Ask) -> None:
    answer = ask({"http": 502, "body": "<html>Bad gateway ß</html>"})
    assert isinstance(answer.error, openai.APIStatusError | anthropic.APIStatusError)
    assert answer.error.response.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.error.response.text == "<html>Bad gateway ß</html>"


def test_a_response_without_a_body_is_possible(ask: Ask) -> None:
    answer = ask({"http": 400})
    assert isinstance(answer.error, openai.BadRequestError | anthropic.BadRequestError)
    assert answer.error.response.content == b""


@pytest.mark.parametrize("text", [None, "HANGING_PART"])
def test_a_hanging_response_sends_its_text_and_then_nothing(ask: Ask, stream: bool, text: str | None) -> None:
    answer = ask({"text": text, "hang": True}, timeout=0.1)
    assert isinstance(root_cause(answer.error), httpx2.ReadTimeout)
    assert answer.text == ((text or "") if stream else "")


def test_a_stream_reports_usage_only_if_the_request_asks_for_it(server: ThreadedFaultServer) -> None:
    server.play([{"text": "done"}])
    with (
        openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0, timeout=5) as client,
        client.chat.completions.create(
            model="m",
            messages=PROMPT,
            stream=True,
        ) as chunks,
    ):
        assert [chunk.usage for chunk in chunks] == [None] * 6


def test_the_anthropic_sdks_own_accumulation_reads_a_whole_stream(server: ThreadedFaultServer) -> None:
    server.play(
        [{"reasoning": "thought", "text": "words", "tool_calls": [{"name": "a", "arguments": '{"x": [1]}'}]}]
    )
    answer = Answer()
    with (
        anthropic.Anthropic(base_url=server.root_url, api_key="any", max_retries=0, timeout=5) as client,
        client.messages.stream(
            model="m",
            messages=PROMPT,
            max_tokens=LIMIT,
        ) as events,
    ):
        read_anthropic_message(events.get_final_message(), answer)
    assert (answer.reasoning, answer.text, answer.stop) == ("thought", "words", "tool_use")
    assert json.loads(answer.calls[0][2]) == {"x": [1]}
    assert answer.signature == "signature-of-response-1"


def test_the_openai_sdks_own_accumulation_reads_a_whole_stream(server: ThreadedFaultServer) -> None:
    server.play([{"text": "words", "tool_calls": [{"name": "a", "arguments": '{"x": [1]}'}]}])
    with (
        openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0, timeout=5) as client,
        client.chat.completions.stream(
            model="m",
            messages=PROMPT,
        ) as events,
    ):
        message = events.get_final_completion().choices[0].message
    assert message.content == "words"
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == '{"x": [1]}'


def test_the_openai_sdks_own_accumulation_reads_a_whole_stream_of_responses(
    server: ThreadedFaultServer,
) -> None:
    server.play(
        [{"reasoning": "thought", "text": "words", "tool_calls": [{"name": "a", "arguments": '{"x": [1]}'}]}]
    )
    answer = Answer()
    with (
        openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0, timeout=5) as client,
        client.responses.stream(model="m", input=PROMPT) as events,
    ):
        read_responses_object(events.get_final_response(), answer)
    assert (answer.reasoning, answer.text, answer.stop) == ("thought", "words", "completed")
    assert answer.calls == {0: ["call_1_1", "a", '{"x": [1]}']}


def test_the_clients_own_retries_take_the_next_responses(server: ThreadedFaultServer) -> None:
    busy = {"http": 503, "headers": {"retry-after-ms": "1"}, "body": {"error": {"message": "overloaded"}}}
    server.play([busy, busy, {"text": "done"}])
    with openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=2, timeout=5) as client:
        completion = client.chat.completions.create(model="m", messages=PROMPT)
    assert completion.choices[0].message.content == "done"
    assert len(server.requests) == 3


@pytest.mark.anyio
@pytest.mark.parametrize("response", [{"text": "done"}, {"text": "done", "stop": "length"}])
async def test_the_asynchronous_clients_are_served_on_both_loops(response: dict[str, Any]) -> None:
    async with (
        FaultServer([response, response, response]) as server,
        openai.AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0, timeout=5) as gpt,
        anthropic.AsyncAnthropic(base_url=server.root_url, api_key="any", max_retries=0, timeout=5) as claude,
    ):
        completion = await gpt.chat.completions.create(model="m", messages=PROMPT)
        answer = await gpt.responses.create(model="m", input=PROMPT)
        message = await claude.messages.create(model="m", messages=PROMPT, max_tokens=LIMIT)
        assert completion.choices[0].message.content == "done"
        assert answer.output_text == "done"
        assert message.content[0].text == "done"  # type: ignore[union-attr]
        assert [request.dialect for request in server.requests] == ["chat", "responses", "anthropic"]
        assert server.violations == []


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_asynchronous_stream_is_cut_where_the_script_says() -> None:
    async with (
        FaultServer([{"text": "partial plan", "cut": "rst"}]) as server,
        openai.AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0, timeout=5) as client,
    ):
        received: list[str] = []
        chunks = await client.chat.completions.create(
            model="m",
            messages=PROMPT,
            stream=True,
        )

        async def read() -> None:
            async for chunk in chunks:
                received.extend(choice.delta.content or "" for choice in chunk.choices)

        with pytest.raises(openai.APIConnectionError):
            await read()
        assert "".join(received) == "partial plan"
