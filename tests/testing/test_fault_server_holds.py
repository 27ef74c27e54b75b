"""Holding a response back until the test has done something."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx2
import pytest

from continuity_core.testing.fault_server import FaultServer

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "task"}]}


def request(stream: bool, path: str = "/v1/chat/completions") -> bytes:
    body = json.dumps({**CHAT, "stream": stream}).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@asynccontextmanager
async def connect(server: FaultServer) -> AsyncIterator[anyio.abc.SocketStream]:
    with anyio.fail_after(5):
        async with await anyio.connect_tcp("127.0.0.1", int(server.root_url.rpartition(":")[2])) as stream:
            yield stream


async def read_until(stream: anyio.abc.SocketStream, mark: bytes) -> bytes:
    received = b""
    while mark not in received:
        received += await stream.receive()
    return received


async def nothing_comes(stream: anyio.abc.SocketStream) -> bool:
    with anyio.move_on_after(0.01):
        await stream.receive()
        return False
    return True


def streamed_text(response: bytes) -> str:
    """The text in the complete events of either dialect."""
    text = ""
    for line in response.split(b"\n")[:-1]:
        if line.startswith(b"data: {"):
            data = json.loads(line[6:])
            if "choices" in data:
                text += data["choices"][0]["delta"].get("content", "")
            else:
                text += data.get("delta", {}).get("text", "")
    return text


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_a_stream_is_held_after_half_of_its_text_and_goes_on_when_released(path: str) -> None:
    script = [{"reasoning": "think", "text": "0123456789abcdef", "cut": "fin"}]
    async with FaultServer(script) as server, connect(server) as stream:
        hold = server.hold(1)
        await stream.send(request(True, path))
        await hold.reached()
        first = await read_until(stream, b"4567")
        while not first.endswith(b"\n\n\r\n"):
            first += await stream.receive()
        assert streamed_text(first) == "01234567"
        assert await nothing_comes(stream)
        assert (hold.is_reached, hold.is_over) == (True, False)
        hold.release()
        await hold.over()
        rest = b""
        try:
            while True:
                rest += await stream.receive()
        except anyio.EndOfStream:
            assert streamed_text(rest) == "89abcdef"
        assert not hold.client_gone


@pytest.mark.anyio
async def test_without_streaming_half_of_the_body_is_out() -> None:
    async with FaultServer([{"text": "answer"}]) as server, connect(server) as stream:
        hold = server.hold(1)
        await stream.send(request(False))
        await hold.reached()
        first = await read_until(stream, b'"chatcmpl')
        assert first.startswith(b"HTTP/1.1 200")
        assert b'"usage"' not in first
        assert await nothing_comes(stream)
        hold.release()
        await read_until(stream, b'"usage"')


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("response", "streaming"),
    [
        ({"http": 503, "body": {"error": {"message": "overloaded"}}}, True),
        ({"text": "", "stop": "length"}, True),
        ({"tool_calls": [{"name": "step"}]}, True),
        ({"text": "some", "sse_error": {"message": "m"}}, False),
        ({"hang": True}, True),
    ],
)
async def test_a_response_without_text_is_held_before_it_starts(
    response: dict[str, Any], streaming: bool
) -> None:
    async with FaultServer([response]) as server, connect(server) as stream:
        hold = server.hold(1)
        await stream.send(request(streaming))
        await hold.reached()
        assert await nothing_comes(stream)
        hold.release()
        assert (await stream.receive()).startswith(b"HTTP/1.1")


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["ABORTED_PART one two three four", ""])
async def test_a_held_response_ends_when_its_client_goes(text: str) -> None:
    async with FaultServer([{"text": text}, {"text": "done"}]) as server:
        hold = server.hold(1)
        async with connect(server) as stream:
            await stream.send(request(True))
            await hold.reached()
            assert not hold.client_gone
        with anyio.fail_after(5):
            await hold.over()
        assert hold.client_gone
        async with connect(server) as stream:
            await stream.send(request(False))
            await read_until(stream, b'"done"')


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_sdk_call_lets_the_server_see_that_its_client_is_gone() -> None:
    async with (
        FaultServer([{"text": "one two three four"}]) as server,
        httpx2.AsyncClient(timeout=5, trust_env=False) as client,
    ):
        hold = server.hold(1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: client.post(server.base_url + "/chat/completions", json=CHAT))
            with anyio.fail_after(5):
                await hold.reached()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await hold.over()
        assert hold.client_gone


@pytest.mark.anyio
async def test_a_hold_released_ahead_holds_nothing() -> None:
    async with FaultServer([{"text": "done"}]) as server, connect(server) as stream:
        hold = server.hold(1)
        hold.release()
        await stream.send(request(False))
        await hold.over()
        assert not hold.client_gone
        await read_until(stream, b'"done"')


@pytest.mark.anyio
async def test_only_the_response_of_that_number_is_held() -> None:
    async with FaultServer([{"text": "one"}, {"text": "two"}]) as server, connect(server) as stream:
        hold = server.hold(2)
        assert server.hold(2) is hold
        await stream.send(request(False))
        await read_until(stream, b"\r\n0\r\n\r\n")
        assert not hold.is_reached
        await stream.send(request(False))
        await hold.reached()
        assert hold.number == 2


@pytest.mark.anyio
async def test_what_the_client_sends_ahead_during_a_hold_is_not_lost() -> None:
    async with FaultServer([{"text": "one"}, {"text": "two"}]) as server, connect(server) as stream:
        hold = server.hold(1)
        await stream.send(request(False))
        await hold.reached()
        await stream.send(request(False))
        await read_until(stream, b'"chatcmpl-1')
        assert await nothing_comes(stream)
        hold.release()
        await read_until(stream, b'"two"')


@pytest.mark.anyio
async def test_a_response_that_cannot_be_held_any_more_or_at_all_is_refused() -> None:
    async with FaultServer([{"text": "one"}]) as server, connect(server) as stream:
        for number in (0, 2):
            with pytest.raises(ValueError, match="the script has 1"):
                server.hold(number)
        await stream.send(request(False))
        await stream.receive()
        with pytest.raises(ValueError, match="has been received already"):
            server.hold(1)


def test_in_a_thread_holds_are_waited_for_from_outside() -> None:
    with FaultServer.in_thread([{"text": "one two"}, {"text": "unheard"}]) as server:
        hold = server.hold(1)
        with pytest.raises(TimeoutError):
            hold.reached(timeout=0.01)
        assert (hold.number, hold.is_reached, hold.is_over) == (1, False, False)
        with (
            httpx2.Client(timeout=5, trust_env=False) as client,
            client.stream("POST", server.base_url + "/chat/completions", json=CHAT) as response,
        ):
            hold.reached()
            hold.release()
            hold.over()
            assert not hold.client_gone
            assert json.loads(response.read())["choices"][0]["message"]["content"] == "one two"
            second = server.hold(2)
        with (
            httpx2.Client(timeout=5, trust_env=False) as client,
            client.stream("POST", server.base_url + "/chat/completions", json=CHAT),
        ):
            second.reached()
        second.over()
        assert second.client_gone


def test_a_threaded_server_plays_script_after_script_and_then_stops() -> None:
    threaded = FaultServer.in_thread()
    with pytest.raises(RuntimeError, match=r"with FaultServer\.in_thread"):
        threaded.play([{"text": "x"}])
    with threaded as server, httpx2.Client(timeout=5, trust_env=False) as client:
        for text in ("one", "two"):
            server.play([{"text": text}])
            answer = client.post(server.base_url + "/chat/completions", json=CHAT).json()
            assert answer["choices"][0]["message"]["content"] == text
            assert len(server.requests) == 1
        url = server.root_url
        with pytest.raises(ValueError, match="response 1: cut: must be one of"):
            server.play([{"cut": "x"}])
        assert len(server.requests) == 1
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(url, timeout=5, trust_env=False)
