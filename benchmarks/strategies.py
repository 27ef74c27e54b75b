"""What people use against the faults of ``fault_model.py``, each as a loop over the same provider.

Those of others are modelled on their documented defaults, on top of an agent loop that behaves as agent
frameworks do alone: a cut or empty answer is an answer, a cut call that parses is run.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from fault_model import (
    CAPS,
    REFUSED,
    THROTTLE_SECONDS,
    TURN_SECONDS,
    Drawn,
    Fault,
    Result,
    Task,
)

from continuity_core import (
    Continuity,
    EntryRef,
    Failure,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)


class LostError(Exception):
    """The run ends with an error."""


@attrs.define
class Attempts:
    """How a wrapper around the model call asks again: how often, after what, and how long it waits."""

    retries: int = 0
    retried: tuple[Fault, ...] = ()
    wait: Callable[[int, Fault], float] = lambda number, fault: 0.0
    swallows: bool = False
    """After the last attempt the error is handed on as if it were an answer."""
    other_provider: bool = False
    """Each retry goes to another provider, whose window and throttles are its own."""

    def ask(self, task: Task, step: int, result: Result) -> Drawn:
        """One turn, with the wrapper's attempts."""
        for number in range(self.retries + 1):
            result.seconds += TURN_SECONDS
            drawn = task.request(step, result.seconds)
            if drawn.fault not in self.retried or number == self.retries:
                return drawn
            result.seconds += self.wait(number, drawn.fault)
            if self.other_provider:
                task.limited_until = 0.0
        raise AssertionError("the last attempt returns")


ERRORS = (Fault.CUT_STREAM, *REFUSED)


def _client_wait(number: int, fault: Fault) -> float:
    """The SDKs' own: Retry-After up to a minute, else half a second, doubling up to 8 s."""
    return THROTTLE_SECONDS if fault is Fault.THROTTLE else min(8.0, 0.5 * 2**number)


def _exponential(number: int, fault: Fault) -> float:
    return min(60.0, 2.0**number)


OTHERS = {
    "no recovery": Attempts(),
    "the SDK's retries (2)": Attempts(2, (Fault.THROTTLE, Fault.OVERLOAD, Fault.USAGE_LIMIT), _client_wait),
    "tenacity, 5 attempts": Attempts(4, ERRORS, _exponential),
    "LangChain ModelRetryMiddleware": Attempts(2, ERRORS, _exponential, swallows=True),
    "pydantic-ai FallbackModel": Attempts(1, REFUSED, other_provider=True),
}


def play_other(task: Task, attempts: Attempts) -> Result:
    """Play the task in a framework's loop with this wrapper."""
    result = Result()
    for step in range(task.steps):
        drawn = attempts.ask(task, step, result)
        if drawn.fault in ERRORS:
            result.wrong_success = attempts.swallows
            return result
        if drawn.fault is Fault.ABORT:
            return result
        if drawn.fault is Fault.CAP_IN_CALL and drawn.parses:
            result.truncated_tools += 1
            continue
        if drawn.fault in (*CAPS, Fault.EMPTY, Fault.TOOL_TAIL):
            result.wrong_success = True
            return result
    result.finished = result.truncated_tools == 0
    result.wrong_success = not result.finished
    return result


HTTP = {
    Fault.THROTTLE: Failure.from_text(
        "Rate limit reached for requests per minute",
        status=429,
        headers={"retry-after": f"{THROTTLE_SECONDS}"},
    ),
    Fault.OVERLOAD: Failure.from_text("Overloaded", status=529, type="overloaded_error"),
    Fault.PERMANENT: Failure.from_text("Incorrect API key provided", status=401, code="invalid_api_key"),
    Fault.CUT_STREAM: Failure.from_text("Connection reset by peer", exceptions=("httpx.ReadError",)),
}


def _usage_limit(task: Task, now: float) -> Failure:
    left = max(1, round(task.limited_until - now))
    return Failure.from_text(
        f"The usage limit has been reached. resets_in_seconds: {left}", status=429, type="usage_limit_reached"
    )


async def play_continuity(task: Task, continuity: Continuity, clock_start: float) -> Result:
    """Play the task in the same loop with continuity: the real engine, on virtual time."""
    result, step = Result(), 0
    run = continuity.start_run()
    clock = continuity.clock
    checkpoints = "partial-checkpoint" in continuity.plugins
    cut = False
    while True:
        result.seconds = clock.monotonic() - clock_start + task.requests * TURN_SECONDS
        drawn = task.request(step, result.seconds, sees_partial=checkpoints and cut)
        cut = drawn.fault in CAPS
        turn = turn_of(task, step, drawn, result.seconds)
        if drawn.fault is Fault.ABORT:
            run.abort()
        ended = drawn.fault is Fault.TOOL_TAIL
        boundary = await run.turn_ended(turn)
        goes_on = boundary.resume
        if not goes_on and (not turn.executable_calls or ended) and not run.aborted:
            goes_on = (await run.before_settle()).resume
            if goes_on and ended:
                step += 1
        elif not goes_on and turn.executable_calls:
            step += 1
            goes_on = True
        if not goes_on:
            break
    report = run.settled()
    result.seconds = clock.monotonic() - clock_start + task.requests * TURN_SECONDS
    result.finished = report.outcome == "completed" and step == task.steps - 1
    # By default the host hands out its own half, with a report and a warning that call it one.
    result.wrong_success = report.outcome in ("completed", "incomplete") and not result.finished
    return result


def turn_of(task: Task, step: int, drawn: Drawn, now: float) -> Turn:
    """What the host makes of a response."""
    ref = EntryRef.stable(f"{task.seed}-{task.requests}")
    usage = Usage(output_tokens=drawn.tokens)
    if drawn.fault in HTTP or drawn.fault is Fault.USAGE_LIMIT:
        failure = HTTP.get(drawn.fault) or _usage_limit(task, now)
        return Turn(stop_reason=StopReason.ERROR, failure=failure, entry=ref, usage=usage)
    if drawn.fault is Fault.ABORT:
        return Turn(stop_reason=StopReason.ABORTED, entry=ref)
    if drawn.fault is Fault.EMPTY:
        return Turn(stop_reason=StopReason.STOP, entry=ref)
    if drawn.fault is Fault.CAP_IN_TEXT:
        return Turn(
            stop_reason=StopReason.LENGTH, blocks=(Text(f"half {task.requests}"),), entry=ref, usage=usage
        )
    call = ToolCall(f"c{task.requests}", "step", "{}" if drawn.parses else '{"path": "')
    if drawn.fault is Fault.CAP_IN_CALL:
        return Turn(stop_reason=StopReason.LENGTH, blocks=(call,), entry=ref, usage=usage)
    if step == task.steps - 1:
        return Turn(stop_reason=StopReason.STOP, blocks=(Text("the answer"),), entry=ref, usage=usage)
    answer = ToolResult(call_id=call.id, entry=EntryRef.stable(f"r{task.requests}"))
    return Turn(stop_reason=StopReason.TOOL_USE, blocks=(call,), results=(answer,), entry=ref, usage=usage)
