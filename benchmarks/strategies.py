"""What people use against the faults of ``fault_model.py``, each as a loop over the same provider.

Those of others are modelled on their documented defaults and on what the real ones did with the same luck
over HTTP (``over_http.py`` compares them task by task). An agent loop alone takes a cut answer for a whole
one, and runs a cut call whose arguments parse.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import attrs
from fault_model import (
    REFUSED,
    THROTTLE_SECONDS,
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

ERRORS = (Fault.CUT_STREAM, *REFUSED)
"""What a client raises."""


class BrokenCall(StrEnum):
    """What a loop does with a call whose arguments do not parse."""

    LOST = "lost"
    """The run ends with an error."""
    RUN = "run"
    """It is run with what can be read of them."""
    ASKED_AGAIN = "asked again"
    """The model is told, once."""


@attrs.frozen(kw_only=True)
class Loop:
    """How a framework's loop takes what a model does wrong."""

    broken_call: BrokenCall
    tail_ends: bool = False
    """A call with the stop word of a last answer ends the run."""
    empty_retries: int | None = None
    """How often in a run an empty answer is asked for again before it is an error; ``None``: it is taken."""


PLAIN = Loop(broken_call=BrokenCall.LOST, tail_ends=True)
LANGCHAIN = Loop(broken_call=BrokenCall.RUN)
PYDANTIC_AI = Loop(broken_call=BrokenCall.ASKED_AGAIN, empty_retries=1)


@attrs.define
class Attempts:
    """How a wrapper around the model call asks again: how often, after what, and how long it waits."""

    retries: int = 0
    retried: tuple[Fault, ...] = ()
    wait: Callable[[int, Fault], float] = lambda number, fault: 0.0
    loop: Loop = PLAIN
    swallows: bool = False
    """After the last attempt the error is handed on as if it were an answer."""
    other_provider: bool = False
    """Each retry goes to another provider, whose usage window is its own."""

    def ask(self, task: Task, step: int, result: Result) -> Drawn:
        """One turn, with the wrapper's attempts."""
        for number in range(self.retries + 1):
            drawn = task.request(step, result.slept, other_provider=self.other_provider and number > 0)
            if drawn.fault not in self.retried or number == self.retries:
                return drawn
            result.slept += self.wait(number, drawn.fault)
        raise AssertionError("the last attempt returns")


def _client_wait(number: int, fault: Fault) -> float:
    """The SDKs' own: Retry-After up to a minute, else half a second, doubling up to 8 s."""
    return THROTTLE_SECONDS if fault is Fault.THROTTLE else min(8.0, 0.5 * 2**number)


def _exponential(number: int, fault: Fault) -> float:
    return min(60.0, 2.0**number)


def _retry_after(number: int, fault: Fault) -> float:
    return THROTTLE_SECONDS if fault is Fault.THROTTLE else _exponential(number, fault)


LIMITS = (Fault.THROTTLE, Fault.USAGE_LIMIT)
OTHERS = {
    "no recovery": Attempts(),
    "the SDK's retries (2)": Attempts(2, (*LIMITS, Fault.OVERLOAD), _client_wait),
    "tenacity, 5 attempts": Attempts(4, ERRORS, _exponential),
    "LangChain ModelRetryMiddleware": Attempts(
        2, (*LIMITS, Fault.OVERLOAD, Fault.CUT_STREAM), _exponential, loop=LANGCHAIN, swallows=True
    ),
    "pydantic-ai, retrying transport": Attempts(4, LIMITS, _retry_after, loop=PYDANTIC_AI),
    "pydantic-ai FallbackModel": Attempts(1, REFUSED, loop=PYDANTIC_AI, other_provider=True),
}


def play_other(task: Task, attempts: Attempts) -> Result:
    """Play the task in a framework's loop with this wrapper."""
    result, step, loop = Result(), 0, attempts.loop
    empties, told = 0, False
    while step < task.steps:
        drawn = attempts.ask(task, step, result)
        fault = drawn.fault
        if fault in ERRORS:
            result.wrong_success = attempts.swallows and fault in attempts.retried
            return result
        if fault is Fault.ABORT:
            return result
        if fault is Fault.EMPTY and loop.empty_retries is not None:
            if empties == loop.empty_retries:
                return result
            empties += 1
            continue
        if fault is Fault.CAP_IN_CALL and (drawn.parses or loop.broken_call is BrokenCall.RUN):
            result.truncated_tools += 1
        elif fault is Fault.CAP_IN_CALL:
            if loop.broken_call is BrokenCall.LOST or told:
                return result
            told = True
            continue
        elif fault in (Fault.CAP_IN_TEXT, Fault.EMPTY) or (fault is Fault.TOOL_TAIL and loop.tail_ends):
            result.wrong_success = True
            return result
        step, told = step + 1, False
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
    quotable = False
    while True:
        result.slept = clock.monotonic() - clock_start
        drawn = task.request(step, result.slept, sees_partial=checkpoints and quotable)
        quotable = drawn.fault is Fault.CAP_IN_TEXT
        turn = turn_of(task, step, drawn, task.now(result.slept))
        if drawn.fault is Fault.ABORT:
            run.abort()
        ended = drawn.fault is Fault.TOOL_TAIL
        goes_on = (await run.turn_ended(turn)).resume
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
    result.slept = clock.monotonic() - clock_start
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
