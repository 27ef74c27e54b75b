"""A provider on loopback with the luck of a task of ``fault_model.py``, for ``over_http.py``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import attrs
from fault_model import THROTTLE_SECONDS, Drawn, Fault, Task

from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.fault_server import (
    Cut,
    FaultServer,
    HttpResponse,
    LoggedRequest,
    ModelResponse,
    Response,
    ScriptedToolCall,
    Stop,
)

ANSWER, HALF = "the answer", "half of it"
OTHER_PROVIDER = "another"
"""Name of the model that stands for another provider."""


@attrs.define(eq=False)
class Slept:
    """Virtual seconds between requests: no client really waits."""

    clock: VirtualClock = attrs.field(factory=VirtualClock)
    """Continuity's."""
    elsewhere: float = 0.0

    def total(self) -> float:
        """All of them."""
        return self.elsewhere + self.clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """In the place of a library's sleep."""
        self.elsewhere += seconds
        await asyncio.sleep(0)

    @contextmanager
    def in_place_of_sleeping(self) -> Iterator[None]:
        """For libraries that take no sleep of ours."""
        real = asyncio.sleep

        async def sleep(delay: float, result: object = None) -> object:
            self.elsewhere += delay
            return await real(0, result)

        with mock.patch("asyncio.sleep", sleep), mock.patch("anyio.sleep", sleep):
            yield


@attrs.define(eq=False)
class Play:
    """One task while a real client plays it."""

    task: Task
    slept: Slept
    abort: Callable[[], object] = lambda: None
    """What the user does when luck says so."""
    steps_done: int = 0
    truncated_tools: int = 0
    _call_is_cut: bool = False
    slept_before: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.slept_before = self.slept.total()

    def step(self, path: str = "") -> str:
        """The tool that the model calls."""
        self.steps_done += 1
        self.truncated_tools += self._call_is_cut
        return "done"

    def draw(self, request: LoggedRequest) -> Drawn:
        """What luck has for the request; an abort is the user's, while the response is still to come."""
        drawn = self.task.request(
            min(self.steps_done, self.task.steps - 1),
            self.slept.total() - self.slept_before,
            sees_partial=request.mentions(HALF),
            other_provider=request.decoded.model == OTHER_PROVIDER,
        )
        self._call_is_cut = drawn.fault is Fault.CAP_IN_CALL
        if drawn.fault is Fault.ABORT:
            self.abort()
        return drawn

    def response(self, drawn: Drawn) -> Response:
        """What is sent for it."""
        if drawn.fault in REFUSALS:
            return REFUSALS[drawn.fault]
        if drawn.fault is Fault.USAGE_LIMIT:
            now = self.task.now(self.slept.total() - self.slept_before)
            return _error(
                429,
                "usage_limit_reached",
                "The usage limit has been reached",
                resets_in_seconds=max(1, round(self.task.limited_until - now)),
            )
        if drawn.fault in CONTENT:
            return CONTENT[drawn.fault]
        if drawn.fault is Fault.CAP_IN_CALL:
            arguments = '{"path": "a"}' if drawn.parses else '{"path": "a'
            return ModelResponse(
                tool_calls=(ScriptedToolCall(name="step", arguments=arguments),), stop=Stop.LENGTH
            )
        if self.steps_done >= self.task.steps - 1:
            return ModelResponse(text=ANSWER)
        if drawn.fault is Fault.TOOL_TAIL:
            return ModelResponse(tool_calls=(ScriptedToolCall(name="last_step"),), stop=Stop.STOP)
        return ModelResponse(tool_calls=(ScriptedToolCall(name="step"),))


def _error(status: int, kind: str, message: str, **more: int) -> HttpResponse:
    return HttpResponse(status=status, body={"error": {"type": kind, "message": message, **more}})


REFUSALS = {
    Fault.THROTTLE: HttpResponse(
        status=429,
        headers={"retry-after": f"{THROTTLE_SECONDS}"},
        body={"error": {"message": "Rate limit reached for requests per minute", "type": "requests"}},
    ),
    Fault.OVERLOAD: _error(529, "overloaded_error", "Overloaded"),
    Fault.PERMANENT: _error(401, "invalid_request_error", "Incorrect API key provided"),
}
CONTENT = {
    Fault.CUT_STREAM: ModelResponse(text="some of it", cut=Cut.RST),
    Fault.ABORT: ModelResponse(hang=True),
    Fault.EMPTY: ModelResponse(text=""),
    Fault.CAP_IN_TEXT: ModelResponse(text=HALF, stop=Stop.LENGTH),
}


class UnluckyProvider(FaultServer):
    """Draws each response when its request is there."""

    playing: Play
    """Whose requests come now."""

    def response_to(self, request: LoggedRequest) -> Response | None:
        """By the luck of the task."""
        return self.playing.response(self.playing.draw(request))
