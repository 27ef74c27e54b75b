"""Every kind of turn, played to a plugin as a run, and whatever it does wrong in one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import anyio

from continuity_core.hosts.reference import Tool
from continuity_core.model.events import Event, EventKind
from continuity_core.testing.fault_server import ModelResponse
from continuity_core.testing.plugin_checks.subject import Subject
from continuity_core.testing.scripted.model import ScriptedTurn
from continuity_core.testing.scripted.playing import play_async

_WHOLE = "an answer"
_NEVER_ENOUGH = 4
"""Resumes after whole answers in one run that no plugin means."""

_DONE = ModelResponse(text="done")
_SCRIPTS: Mapping[str, tuple[ScriptedTurn, ...]] = {
    _WHOLE: ({"text": "done"},),
    "text cut at the cap": ({"text": "half", "stop": "length"},),
    "reasoning cut at the cap": ({"reasoning": "half", "stop": "length"},),
    "a call cut at the cap": (
        {"tool_calls": [{"name": "step", "arguments": '{"path": "ha'}], "stop": "length"},
    ),
    "a tool call": ({"tool_calls": [{"name": "step", "arguments": "{}"}]},),
    "several tool calls with text": (
        {"text": "both", "tool_calls": [{"name": "step"}, {"name": "unknown", "arguments": "[1]"}]},
    ),
    "an empty answer": ({"text": ""},),
    "a broken stream": ({"text": "half", "cut": "rst"},),
    "a stream without a finish reason": ({"text": "half", "cut": "no_finish"},),
    "a throttle": ({"http": 429, "headers": {"retry-after": "7"}, "body": {"error": {"message": "slow"}}},),
    "a usage limit": ({"sse_error": {"message": "The usage limit has been reached"}},),
    "a page instead of an answer": ({"http": 502, "body": "<html>Bad gateway</html>"},),
    "an undiagnosed error": ({"http": 400, "body": {"detail": "Bad Request"}},),
    "an error for good": ({"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}},),
    "a context overflow": (
        {"http": 400, "body": {"error": {"message": "too long", "code": "context_length_exceeded"}}},
    ),
    "a safety stop": ({"text": "half", "stop": "content_filter"},),
    "text in many scripts": ({"text": "\u202e\x1b[31m\ud800漢字\x00", "stop": "length"},),
}
_MANY = 260
"""Enough answers that only a plugin without any bound comes to the end of the script."""


def script_problems(subject: Subject) -> Iterator[str]:
    """Each mistake once, with the turns at which it shows."""
    events = anyio.run(_events_of, subject.extra, subject.settings)
    found: dict[str, dict[str, None]] = {}
    resumed: Counter[str] = Counter()
    for what, event in events:
        for problem in _problems(event):
            if problem["plugin"] == subject.name:
                found.setdefault(_sentence(problem), {})[what] = None
        resumed[what] += _resumes_of(subject.name, event)
    for sentence, turns in found.items():
        yield f"{sentence} (at {', '.join(turns)})"
    if resumed[_WHOLE] >= _NEVER_ENOUGH:
        yield (
            f"it asks for another turn after every whole answer ({resumed[_WHOLE]} times in one run): only a "
            "budget ends such a run. Look at boundary.cause, and stop by boundary.run.resumes or memory"
        )


async def _events_of(plugins: tuple[object, ...], settings: Mapping[str, Any]) -> list[tuple[str, Event]]:
    """Every event of every script, with what the script is about."""
    events: list[tuple[str, Event]] = []
    for what, script in _SCRIPTS.items():
        turns = [*script, *[_DONE] * _MANY]
        played = await play_async(
            turns, settings=settings, plugins=plugins, installed=not plugins, tools=[_tool("step")]
        )
        events += [(what, event) for event in played.events]
    return events


def _problems(event: Event) -> Iterable[Mapping[str, Any]]:
    """What the event tells of mistakes. At the first turn no budget can be spent yet."""
    data: Any = event.data
    if event.kind in (EventKind.PLUGIN_FAULT, EventKind.EDIT_REFUSED):
        yield data
    elif event.kind is EventKind.BOUNDARY:
        yield from data["faults"]
        if data["turn"]["number"] == 1:
            yield from data["dropped"]


def _resumes_of(plugin: str, event: Event) -> int:
    """1 where the event is a boundary that this plugin resumed."""
    data: Any = event.data
    if event.kind is not EventKind.BOUNDARY or data["outcome"] != "scheduled":
        return 0
    return int(data["resume"]["plugin"] == plugin)


def _sentence(problem: Mapping[str, Any]) -> str:
    if "error" in problem:
        return f"{problem['hook']} failed: {problem['error']}"
    return f"{problem['what']} was refused: {problem['why']}"


def _tool(name: str) -> Tool:
    async def run(**arguments: Any) -> str:
        return f"result of {name}"

    return Tool(name=name, function=run)
