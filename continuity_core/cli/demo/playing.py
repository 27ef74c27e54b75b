"""Playing one fault: a real session over a real SDK client against the fault server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import attrs

from continuity_core.cli.demo.faults import ANSWER, PROMPT, TOOL, Fault
from continuity_core.cli.output import foreign
from continuity_core.engine.state import Outcome
from continuity_core.model.events import EventKind
from continuity_core.model.report import Report
from continuity_core.model.stop_reason import StopReason

if TYPE_CHECKING:
    from continuity_core.continuity import Continuity
    from continuity_core.hosts.reference import Model, SessionOutcome
    from continuity_core.hosts.reference.events import SessionEvent
    from continuity_core.testing.fault_server import FaultServer

PLAY_SECONDS = 6.0
"""Real seconds after which a play is given up; only a configuration with other waits comes near."""
OUTPUT_LIMIT = 64
"""Output tokens that the session asks for."""
_KEY = "unused"
_MODEL = "demo"


@attrs.frozen(kw_only=True)
class Played:
    """What became of one run."""

    ok: bool
    """The caller got the whole answer, and the tool ran exactly as the model meant."""
    outcome: str
    """What the caller got, in a few words."""
    requests: int
    """HTTP requests, as the server counted them."""
    resumes: int = 0
    resumed_by: tuple[str, ...] = ()
    """The plugin that asked for each resume."""
    waits: tuple[float, ...] = ()
    """Seconds of each wait, on the sped-up clock."""
    tools_run: int = 0
    not_resumed: str | None = None
    """Why the last turn was not resumed, where a resume was proposed."""
    error: str | None = None
    """The error that the caller got; secrets are masked."""
    problems: tuple[str, ...] = ()
    """What no provider would have accepted."""

    def __str__(self) -> str:
        return self.outcome if self.error is None else f"{self.outcome}: {self.error}"


@asynccontextmanager
async def open_models(server: FaultServer) -> AsyncIterator[Mapping[str, Model]]:
    """A model for each dialect, over one client of its SDK."""
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

    from continuity_core.hosts.reference import AnthropicModel, OpenAIChatModel

    async with (
        AsyncOpenAI(base_url=server.base_url, api_key=_KEY) as openai,
        AsyncAnthropic(base_url=server.root_url, api_key=_KEY) as anthropic,
    ):
        yield {
            "chat": OpenAIChatModel(name=_MODEL, client=openai, max_output_tokens=OUTPUT_LIMIT),
            "anthropic": AnthropicModel(name=_MODEL, client=anthropic, max_output_tokens=OUTPUT_LIMIT),
        }


async def play(
    fault: Fault,
    server: FaultServer,
    model: Model,
    continuity: Continuity | None,
    tell: Callable[[str], None],
) -> Played:
    """Play ``fault`` with one session, and judge what its caller gets; ``tell`` is given what happens."""
    from continuity_core.hosts.reference import AgentSession
    from continuity_core.hosts.reference.events import RunEnded
    from continuity_core.model.incomplete import IncompleteRun

    calls: list[Mapping[str, Any]] = []
    outcome: SessionOutcome | None = None

    def notice(event: SessionEvent) -> None:
        nonlocal outcome
        if isinstance(event, RunEnded):
            outcome = event.outcome
        elif line := _line_of(event):
            tell(line)

    server.play(fault.script)
    session = AgentSession(
        model,
        tools=(_tool(fault, calls),),
        continuity=continuity,
        stream=fault.stream,
        on_event=notice,
    )
    with anyio.move_on_after(PLAY_SECONDS), suppress(IncompleteRun):
        await session.run(PROMPT)
    problems = tuple(server.violations)
    requests = len(server.requests)
    if outcome is None:
        said = f"given up after {PLAY_SECONDS:g} s of real time"
        return Played(ok=False, outcome=said, requests=requests, tools_run=len(calls), problems=problems)
    report = outcome.report
    ok = is_whole(fault, outcome, calls) and not problems
    return Played(
        ok=ok,
        outcome=in_words(fault, outcome, calls, ok=ok),
        requests=requests,
        resumes=0 if report is None else report.resumes,
        resumed_by=() if report is None else _resumers(report),
        waits=() if report is None else tuple(round(wait.seconds, 1) for wait in report.waits),
        tools_run=len(calls),
        not_resumed=None if report is None else report.no_resume,
        error=None if outcome.failure is None else foreign(outcome.failure.message, 200),
        problems=problems,
    )


def is_whole(fault: Fault, outcome: SessionOutcome, calls: list[Mapping[str, Any]]) -> bool:
    """Whether the caller got the whole answer, and every call ran as meant and only so."""
    return (
        outcome.failure is None
        and outcome.stop_reason is StopReason.STOP
        and outcome.text == ANSWER
        and sorted(calls, key=repr) == sorted(fault.calls, key=repr)
    )


def in_words(fault: Fault, outcome: SessionOutcome, calls: list[Mapping[str, Any]], *, ok: bool) -> str:
    """What the caller got."""
    if ok:
        return "whole answer"
    if any(call not in fault.calls for call in calls):
        return "a truncated call was executed"
    if outcome.failure is not None:
        status = outcome.failure.status
        return f"error {status}" if status is not None and status >= 400 else "an error"
    if outcome.turn is not None and outcome.turn.tool_calls:
        if outcome.stop_reason is StopReason.LENGTH:
            return "no answer, calls cut"
        return "no answer after the tool"
    return "half an answer" if outcome.text else "an empty answer"


def _resumers(report: Report) -> tuple[str, ...]:
    boundaries: list[Any] = [event.data for event in report.events if event.kind is EventKind.BOUNDARY]
    return tuple(data["resume"]["plugin"] for data in boundaries if data["outcome"] == Outcome.SCHEDULED)


def _tool(fault: Fault, calls: list[Mapping[str, Any]]) -> Any:
    from continuity_core.hosts.reference import Tool

    async def look_up_tide(**arguments: Any) -> str:
        calls.append(arguments)
        return "high water 05:41" if arguments.get("day") == 12 else "high water 06:24"

    return Tool(
        name=TOOL,
        function=look_up_tide,
        description="Look up the times of high water.",
        ends_run="unexplained" if fault.ends_after_tool else None,
    )


def _line_of(event: SessionEvent) -> str | None:
    from continuity_core.hosts.reference.events import RequestStarted, ToolStarted

    if isinstance(event, RequestStarted):
        return "request"
    if isinstance(event, ToolStarted):
        return f"the tool runs: {event.call.name} {event.call.arguments}"
    return None
