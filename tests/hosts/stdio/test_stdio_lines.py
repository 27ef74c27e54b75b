"""Bytes of a client, cut into lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from continuity_core.hosts.stdio.lines import LineBuffer
from continuity_core.hosts.stdio.rpc import LINE_LIMIT


@given(parts=st.lists(st.text("ab\n").map(str.encode)))
def test_lines_are_the_same_however_the_bytes_come(parts: list[bytes]) -> None:
    buffer = LineBuffer()
    lines = [line for part in parts for line in buffer.feed(part)]
    assert [*lines, buffer.rest()] == b"".join(parts).split(b"\n")


def test_of_a_line_beyond_the_limit_only_the_start_is_kept() -> None:
    buffer = LineBuffer()
    for _ in range(40):
        assert list(buffer.feed(b"x" * (LINE_LIMIT // 16))) == []
    long, short = buffer.feed(b"x\nshort\n")
    assert (len(long), short) == (LINE_LIMIT + 1, b"short")
