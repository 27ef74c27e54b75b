"""The lock of a conversation's state, given back while continuity waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def released(state: Any) -> Iterator[None]:
    """Give back every level of the lock that this thread holds, and take them again at the end.

    The conversation does the same while it waits for the model: others may send messages meanwhile.
    """
    levels = 0
    while state.owned():
        state.release()
        levels += 1
    try:
        yield
    finally:
        for _ in range(levels):
            state.acquire()
