"""Responses whose format the caller does not name."""

from __future__ import annotations

from typing import Any

import pytest

from continuity_core.model.reading import read_response, stream_reader
from continuity_core.model.stop_reason import StopReason

CHAT = {
    "object": "chat.completion",
    "choices": [{"message": {"content": "chat"}, "finish_reason": "stop"}],
}
CHAT_CHUNKS: list[dict[str, Any]] = [
    {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "chat"}, "finish_reason": "stop"}]},
    {"object": "chat.completion.chunk", "choices": [], "usage": {"completion_tokens": 2}},
]
MESSAGE = {"type": "message", "content": [{"type": "text", "text": "message"}], "stop_reason": "end_turn"}
MESSAGE_EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "message"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
]


@pytest.mark.parametrize(
    ("response", "text"),
    [(CHAT, "chat"), (CHAT_CHUNKS, "chat"), (MESSAGE, "message"), (MESSAGE_EVENTS, "message")],
)
def test_both_formats_are_recognised_whole_and_streamed(response: Any, text: str) -> None:
    turn = read_response(response)
    assert (turn.text, turn.stop_reason) == (text, StopReason.STOP)


@pytest.mark.parametrize("response", [{"error": "busy"}, {"type": "error", "error": {"message": "busy"}}])
def test_an_error_alone_is_a_failed_turn(response: Any) -> None:
    turn = read_response(response)
    assert turn.failure is not None
    assert turn.failure.message == "busy"


@pytest.mark.parametrize("response", [None, 3, {"answer": "x"}, object()])
def test_anything_else_is_refused_by_its_type(response: Any) -> None:
    with pytest.raises(TypeError, match=type(response).__name__):
        read_response(response)


@pytest.mark.parametrize("pieces", [CHAT_CHUNKS, MESSAGE_EVENTS])
def test_a_stream_decides_with_its_first_piece_of_a_format(pieces: list[Any]) -> None:
    reader = stream_reader()
    reader.feed({})
    for piece in pieces:
        reader.feed(piece)
    assert reader.turn().stop_reason is StopReason.STOP


def test_a_stream_that_breaks_before_its_first_piece_is_a_failed_turn() -> None:
    turn = stream_reader().turn(error=TimeoutError("no answer"))
    assert turn.failure is not None
    assert turn.failure.message == "no answer"


def test_an_error_that_comes_first_is_kept() -> None:
    reader = stream_reader()
    reader.feed({"error": {"message": "busy", "code": 503}})
    turn = reader.turn()
    assert turn.failure is not None
    assert turn.failure.status == 503
