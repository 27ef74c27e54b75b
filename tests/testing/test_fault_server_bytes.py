"""What goes over the wire, byte by byte, on both event loops."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import pytest

from continuity_core.testing.fault_server import FaultServer, LoggedRequest, ModelResponse, Response

pytestmark = pytest.mark.anyio

CHAT = {"model": "m", "messages": [{"role": "user", "content": "task"}]}


def request(payload: Any = CHAT, *headers: str, path: str = "/v1/chat/completions") -> bytes:
    body = json.dumps(payload).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def connect(server: FaultServer) -> AsyncIterator[anyio.abc.SocketStream]:
    port = int(server.root_url.rpartition(":")[2])
    with anyio.fail_after(5):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            yield stream


async def read_until(stream: anyio.abc.SocketStream, mark: bytes) -> bytes:
    received = b""
    while mark not in received:
        received += await stream.receive()
    return received


async def read_to_the_end(stream: anyio.abc.SocketStream) -> tuple[bytes, str]:
    """Everything received, and how it ended: ``fin`` or ``rst``."""
    received = b""
    while True:
        try:
            received += await stream.receive()
        except anyio.EndOfStream:
            return received, "fin"
        except anyio.BrokenResourceError:
            return received, "rst"


def chunks(response: bytes) -> tuple[list[bytes], bool]:
    """The chunks of a body, and whether it has a proper end."""
    _, _, rest = response.partition(b"\r\n\r\n")
    found = []
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return found, True
        found.append(rest[:length])
        rest = rest[length + 2 :]
    return found, False


async def test_a_whole_stream_is_chunked_and_ends_with_done() -> None:
    async with FaultServer([{"text": "done"}]) as server, connect(server) as stream:
        await stream.send(request({**CHAT, "stream": True}))
        response = await read_until(stream, b"\r\n0\r\n\r\n")
    assert response.startswith(b"HTTP/1.1 200")
    assert b"content-type: text/event-stream" in response
    events, proper = chunks(response)
    assert proper
    assert events[-1] == b"data: [DONE]\n\n"
    assert all(event.startswith(b"data: ") and event.endswith(b"\n\n") for event in events)


async def test_an_anthropic_stream_names_its_events_and_leaves_no_block_open() -> None:
    script = [{"reasoning": "r", "text": "t", "tool_calls": [{"name": "a"}]}]
    async with FaultServer(script) as server, connect(server) as stream:
        await stream.send(request({**CHAT, "stream": True}, path="/v1/messages"))
        events, proper = chunks(await read_until(stream, b"\r\n0\r\n\r\n"))
    assert proper
    kinds = []
    for event in events:
        name, data = event.decode().strip().split("\n")
        kinds.append(json.loads(data.removeprefix("data: "))["type"])
        assert name == f"event: {kinds[-1]}"
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3


async def test_a_stream_of_responses_numbers_its_events_and_leaves_no_item_open() -> None:
    script = [{"reasoning": "r", "text": "t", "tool_calls": [{"name": "a"}], "stop": "length"}]
    async with FaultServer(script) as server, connect(server) as stream:
        payload = {"model": "m", "input": "task", "stream": True}
        await stream.send(request(payload, path="/v1/responses"))
        events, proper = chunks(await read_until(stream, b"\r\n0\r\n\r\n"))
    assert proper
    kinds = []
    for number, event in enumerate(events):
        name, data = event.decode().strip().split("\n")
        told = json.loads(data.removeprefix("data: "))
        kinds.append(told["type"])
        assert name == f"event: {kinds[-1]}"
        assert told["sequence_number"] == number
    assert (kinds[0], kinds[-1]) == ("response.created", "response.incomplete")
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 3
    assert told["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item.get("status") for item in told["response"]["output"]] == [None, "completed", "incomplete"]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("cut", ["rst", "fin"])
async def test_a_cut_connection_ends_inside_the_chunked_body(cut: str, streaming: bool) -> None:
    async with FaultServer([{"text": "partial plan", "cut": cut}]) as server, connect(server) as stream:
        await stream.send(request({**CHAT, "stream": streaming}))
        response, end = await read_to_the_end(stream)
    pieces, proper = chunks(response)
    assert end == cut
    assert not proper
    if streaming:
        assert "".join(json.loads(piece[6:])["choices"][0]["delta"]["content"] for piece in pieces) == (
            "partial plan"
        )
    else:
        with pytest.raises(json.JSONDecodeError):
            json.loads(b"".join(pieces))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
async def test_half_an_event_is_followed_by_the_proper_end_of_the_body(path: str) -> None:
    async with FaultServer([{"text": "x", "cut": "mid_json"}]) as server, connect(server) as stream:
        await stream.send(request({**CHAT, "input": "task", "stream": True}, path=path))
        events, proper = chunks(await read_until(stream, b"\r\n0\r\n\r\n"))
    assert proper
    assert all(event.endswith(b"\n\n") for event in events[:-1])
    _, _, half = events[-1].partition(b"data: ")
    assert half.startswith(b"{")
    assert not half.endswith(b"\n")
    with pytest.raises(json.JSONDecodeError):
        json.loads(half)


async def test_a_response_that_hangs_without_text_sends_its_head_only() -> None:
    async with FaultServer([{"hang": True}]) as server, connect(server) as stream:
        await stream.send(request({**CHAT, "stream": True}))
        head = await read_until(stream, b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert head.endswith(b"\r\n\r\n")
        with anyio.move_on_after(0.01) as patience:
            await stream.receive()
        assert patience.cancelled_caught


async def test_a_connection_is_used_again_after_every_proper_end() -> None:
    script: list[dict[str, Any]] = [
        {"text": "a"},
        {"text": "a", "cut": "no_finish"},
        {"text": "a", "cut": "mid_json"},
        {"text": "a", "sse_error": {"message": "m"}},
        {"http": 204},
        {"http": 503, "body": {"error": "e"}},
        {"text": "last"},
    ]
    async with FaultServer(script) as server, connect(server) as stream:
        for answer in script:
            await stream.send(request({**CHAT, "stream": True}))
            response = await read_until(
                stream, b"\r\n\r\n" if "http" in answer and answer["http"] == 204 else b"}"
            )
            if "http" not in answer:
                while not response.endswith(b"\r\n0\r\n\r\n"):
                    response += await stream.receive()
        assert len(server.requests) == len(script)
        assert b'"content":"l' in response
        assert server.violations == []


async def test_requests_sent_ahead_are_answered_in_order() -> None:
    async with FaultServer([{"text": "one"}, {"text": "two"}]) as server, connect(server) as stream:
        await stream.send(request() + request())
        response = await read_until(stream, b'"two"')
        assert response.index(b'"one"') < response.index(b'"two"')


async def test_requests_on_several_connections_are_served_at_the_same_time() -> None:
    script = [{"hang": True}, {"text": "second"}]
    async with FaultServer(script) as server, connect(server) as first, connect(server) as second:
        await first.send(request())
        await read_until(first, b"\r\n\r\n")
        await second.send(request())
        assert b"second" in await read_until(second, b"second")


async def test_a_client_that_waits_for_continue_is_told_to() -> None:
    async with FaultServer([{"text": "done"}]) as server, connect(server) as stream:
        whole = request(CHAT, "Expect: 100-continue")
        head, _, body = whole.partition(b"\r\n\r\n")
        await stream.send(head + b"\r\n\r\n")
        assert (await read_until(stream, b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await stream.send(body)
        assert b"done" in await read_until(stream, b"done")


async def test_a_chunked_request_body_is_read_piece_by_piece() -> None:
    async with FaultServer([{"text": "done"}]) as server, connect(server) as stream:
        body = json.dumps(CHAT).encode()
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        await stream.send(head.encode())
        for piece in (body[:10], body[10:]):
            await stream.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        await stream.send(b"0\r\n\r\n")
        assert b"done" in await read_until(stream, b"done")
        assert server.requests[0].body == body


async def test_a_body_larger_than_the_bound_is_refused() -> None:
    async with (
        FaultServer([{"text": "done"}], most_request_bytes=1000) as server,
        connect(server) as stream,
    ):
        await stream.send(request({"messages": [{"role": "user", "content": "x" * 20_000_000}]}))
        response, end = await read_to_the_end(stream)
        assert response.startswith(b"HTTP/1.1 413")
        assert end == "fin"
        assert server.requests == []
        assert server.unserved == ["the body is larger than 1000 bytes (413)"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.0\r\nHost: x\r\n\r\n", b"505"),
        (b"POST / HTTP/1.1\r\nHost: " + b"x" * 70_000, b"431"),
    ],
)
async def test_what_is_no_request_is_refused_and_named(sent: bytes, status: bytes) -> None:
    async with FaultServer() as server, connect(server) as stream:
        await stream.send(sent)
        response, _ = await read_to_the_end(stream)
        assert response.split()[1] == status
        assert server.unserved[0].endswith(f"({status.decode()})")


async def test_a_client_that_leaves_inside_its_request_harms_nothing() -> None:
    async with FaultServer([{"text": "done"}]) as server:
        async with connect(server) as stream:
            await stream.send(request()[:-5])
        async with connect(server) as stream:
            await stream.send(request())
            assert b"done" in await read_until(stream, b"done")
        assert (server.unserved, len(server.requests)) == ([], 1)


async def test_a_client_that_resets_in_the_middle_of_a_long_response_harms_nothing() -> None:
    async with FaultServer([{"text": "x" * 20_000_000}, {"text": "done"}]) as server:
        async with connect(server) as stream:
            await stream.send(request({**CHAT, "stream": True}))
            await stream.receive()
            raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        async with connect(server) as stream:
            await stream.send(request())
            assert b"done" in await read_until(stream, b"done")
        assert server.violations == []


async def test_a_new_script_empties_the_logs_and_breaks_off_what_still_hangs() -> None:
    async with FaultServer([{"hang": True}]) as server, connect(server) as hanging:
        await hanging.send(request())
        await read_until(hanging, b"\r\n\r\n")
        server.play([{"text": "done"}])
        assert await read_to_the_end(hanging) == (b"", "fin")
        assert server.requests == []
        async with connect(server) as stream:
            await stream.send(request())
            assert b"done" in await read_until(stream, b"done")
        assert len(server.requests) == 1


async def test_an_idle_connection_survives_a_new_script() -> None:
    async with FaultServer() as server, connect(server) as stream:
        for number in range(30):
            server.play([{"text": f"answer {number}"}])
            await stream.send(request())
            # The next script may start before the server itself is done with this response.
            response = await read_until(stream, b"\r\n0\r\n\r\n")
            assert b'"answer %d"' % number in response


async def test_leaving_the_server_ends_hanging_connections() -> None:
    async with FaultServer([{"hang": True}]) as server:
        port = int(server.root_url.rpartition(":")[2])
        stream = await anyio.connect_tcp("127.0.0.1", port)
        await stream.send(request())
        await read_until(stream, b"\r\n\r\n")
    async with stream:
        with anyio.fail_after(5):
            assert await read_to_the_end(stream) == (b"", "fin")


async def test_a_server_that_is_not_running_has_no_address() -> None:
    server = FaultServer()
    with pytest.raises(RuntimeError, match="async with FaultServer"):
        _ = server.base_url
    async with server:
        assert server.base_url.startswith("http://127.0.0.1:")
        with pytest.raises(RuntimeError, match="running already"):
            await server.__aenter__()


async def test_scripted_headers_replace_the_servers_own() -> None:
    script = [{"http": 500, "headers": {"Content-Type": "text/plain", "Connection": "close"}, "body": "x"}]
    async with FaultServer(script) as server, connect(server) as stream:
        await stream.send(request())
        response, end = await read_to_the_end(stream)
    head, _, body = response.lower().partition(b"\r\n\r\n")
    assert head.count(b"content-type:") == 1
    assert b"content-type: text/plain" in head
    assert (body, end) == (b"x", "fin")


async def test_what_is_raised_inside_the_server_s_block_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with FaultServer():
            raise ZeroDivisionError


async def test_a_cancellation_from_outside_passes_through_the_server_s_block() -> None:
    async with FaultServer([{"hang": True}]) as server:
        went_on = False
        with anyio.CancelScope() as scope:
            async with FaultServer(), connect(server) as stream:
                await stream.send(request())
                await read_until(stream, b"\r\n\r\n")
                scope.cancel()
                await anyio.sleep_forever()
            went_on = True
        assert scope.cancelled_caught
        assert not went_on


class Echo(FaultServer):
    """Decides when the request is there, for two of them."""

    def response_to(self, request: LoggedRequest) -> Response | None:
        return ModelResponse(text=request.user_texts[-1].upper()) if request.number <= 2 else None


async def test_a_subclass_decides_about_a_response_when_its_request_is_there() -> None:
    async with Echo() as server, connect(server) as stream:
        for _ in range(2):
            await stream.send(request())
            await read_until(stream, b'"TASK"')
        await stream.send(request())
        await read_until(stream, b" 500 ")
    assert server.violations == ["request 3: beyond the script of 0 responses"]
