"""Reading a file of scenarios: all of it, or one error with every mistake in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from continuity_core.loading.errors import Problem
from continuity_core.model.cause import CauseKind
from continuity_core.model.masking import printable
from continuity_core.model.stop_reason import StopReason
from continuity_core.testing.conformance.checking import BadValueError, Place, taken
from continuity_core.testing.conformance.scenario import (
    Action,
    ActionKind,
    Expectation,
    FinalExpectation,
    HostOptions,
    Moment,
    Range,
    RequestExpectation,
    Scenario,
    ScriptedTool,
    ToolEnd,
)
from continuity_core.testing.fault_server import Response, ScriptError, parse_script

SCENARIO_KEYS = (
    "name",
    "why",
    "now",
    "settings",
    "host",
    "tools",
    "prompts",
    "responses",
    "actions",
    "expect",
)
HOST_KEYS = ("native_retries", "idle_timeout", "stream")
TOOL_KEYS = ("name", "result", "ends_run")
ACTION_KEYS = ("at", "do", "as", "text")
EXPECT_KEYS = (
    "requests",
    "resumes",
    "waits",
    "ended_waits",
    "tools_run",
    "request",
    "user_messages",
    "final",
)
REQUEST_KEYS = ("has", "lacks")
FINAL_KEYS = ("text", "stop", "aborted", "cause")

_MOMENT = re.compile(r"(response|wait):([1-9][0-9]{0,5})", re.ASCII)
_STOPS: Mapping[str, str] = {
    **{reason.value: reason.value for reason in StopReason},
    # The words of a scripted response, and what a host makes of them.
    "tool_calls": StopReason.TOOL_USE.value,
    "content_filter": StopReason.ERROR.value,
}


class ScenarioError(ValueError):
    """A file of scenarios cannot be used; ``problems`` has every mistake, one a line in the message."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def read_scenarios(path: Path) -> tuple[Scenario, ...]:
    """Read a file. Raises :class:`ScenarioError`, also where it cannot be opened."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ScenarioError([Problem(where=str(path), what=f"cannot be read: {reason}")]) from error
    return parse_scenarios(text, str(path))


def parse_scenarios(text: str, where: str = "scenarios") -> tuple[Scenario, ...]:
    """Read the JSON of a file; ``where`` names it in messages. Raises :class:`ScenarioError`."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ScenarioError([Problem(where=where, what=f"is no JSON: {error}")]) from error
    return scenarios_of(value, where)


def scenarios_of(value: Any, where: str = "scenarios") -> tuple[Scenario, ...]:
    """Read decoded JSON. Raises :class:`ScenarioError`."""
    problems: list[Problem] = []
    try:
        scenarios = [
            found
            for number, item in enumerate(Place(value, where, problems).items(), start=1)
            for found in Place(item.value, f"{where}: {_title(item.value, number)}", problems).tried(
                _scenario
            )
        ]
    except BadValueError:
        scenarios = []
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.name in seen:
            Place(None, f"{where}: {scenario.name}", problems).wrong("is the name of two scenarios")
        seen.add(scenario.name)
    if problems:
        raise ScenarioError(problems)
    return tuple(scenarios)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _title(value: Any, number: int) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return printable(name, 80) if isinstance(name, str) and name.strip() else f"scenario {number}"


def _scenario(place: Place) -> Scenario:
    before = len(place.problems)
    fields = place.known_fields(SCENARIO_KEYS)
    for key in ("name", "prompts", "responses"):
        if key not in fields:
            place.wrong(f"has no {key}")
    values = taken(
        fields,
        {
            "name": Place.words,
            "why": Place.text,
            "now": _instant,
            "settings": lambda field: {key: item.value for key, item in field.fields().items()},
            "host": _host,
            "tools": _tools,
            "prompts": _prompts,
            "responses": _responses,
            "actions": lambda field: field.each(_action),
            "expect": _expectation,
        },
    )
    if len(place.problems) > before:
        raise BadValueError
    return Scenario(**values)


def _instant(place: Place) -> datetime:
    try:
        instant = datetime.fromisoformat(place.text())
    except ValueError:
        raise place.wrong("is no instant", 'Write it as "2026-03-01T12:00:00Z".') from None
    if instant.tzinfo is None:
        raise place.wrong("has no time zone", f'Write "{place.value}Z" where UTC is meant.')
    return instant


def _host(place: Place) -> HostOptions:
    readers = {"native_retries": Place.count, "idle_timeout": _timeout, "stream": Place.yes_or_no}
    return HostOptions(**taken(place.known_fields(HOST_KEYS), readers))


def _timeout(place: Place) -> float:
    seconds = place.number()
    if not seconds:
        raise place.wrong("must be more than 0 seconds")
    return seconds


def _tools(place: Place) -> tuple[ScriptedTool, ...]:
    tools = place.each(_tool)
    names = [tool.name for tool in tools]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            place.wrong(f'has two tools named "{name}"')
    return tools


def _tool(place: Place) -> ScriptedTool:
    fields = place.known_fields(TOOL_KEYS)
    if "name" not in fields:
        raise place.wrong("has no name")
    values = taken(fields, {"name": Place.words, "result": Place.text, "ends_run": _tool_end})
    if "name" not in values:
        raise BadValueError
    return ScriptedTool(**{"result": f"result of {values['name']}", **values})


def _tool_end(place: Place) -> ToolEnd:
    match place.value:
        case False:
            return None
        case "on_purpose":
            return "on_purpose"
        case "unexplained":
            return "unexplained"
    raise place.wrong(f"must be false, on_purpose or unexplained, not {printable(repr(place.value), 80)}")


def _prompts(place: Place) -> tuple[str, ...]:
    prompts = place.each(Place.words)
    if not place.value:
        raise place.wrong("needs at least one text")
    return prompts


def _responses(place: Place) -> tuple[Response, ...]:
    if not isinstance(place.value, list):
        raise place.wrong("must be a list of responses")
    try:
        return parse_script(place.value)
    except ScriptError as error:
        for problem in error.problems:
            place.wrong(problem)
        raise BadValueError from None


def _action(place: Place) -> Action:
    fields = place.known_fields(ACTION_KEYS)
    missing = [key for key in ("at", "do") if key not in fields]
    if missing:
        raise place.wrong(f"has no {' and no '.join(missing)}")
    readers = {
        "at": _moment,
        "do": lambda field: ActionKind(field.one_of([kind.value for kind in ActionKind])),
        "as": lambda field: field.one_of(("steer", "follow_up")),
        "text": Place.words,
    }
    values = taken(fields, readers)
    if len(values) < len(fields):
        raise BadValueError
    is_input = values["do"] is ActionKind.INPUT
    for key in ("as", "text"):
        if is_input and key not in values:
            raise place.wrong(f"is an input and has no {key}")
        if not is_input and key in values:
            raise fields[key].wrong(f"belongs to an input, and this is {values['do'].value}")
    return Action(at=values["at"], do=values["do"], kind=values.get("as"), text=values.get("text", ""))


def _moment(place: Place) -> Moment:
    found = _MOMENT.fullmatch(place.text())
    if found is None:
        raise place.wrong(
            f"is no moment: {printable(repr(place.value), 80)}", "Write response:N or wait:N, N from 1."
        )
    return Moment("response" if found[1] == "response" else "wait", int(found[2]))


def _expectation(place: Place) -> Expectation:
    readers = {
        "requests": _range,
        "resumes": _range,
        "waits": lambda field: field.each(_range),
        "ended_waits": lambda field: field.each(_range),
        "tools_run": lambda field: taken(field.fields(), dict.fromkeys(field.fields(), _range)),
        "request": _requests,
        "user_messages": _range,
        "final": _final,
    }
    return Expectation(**taken(place.known_fields(EXPECT_KEYS), readers))


def _range(place: Place) -> Range:
    if not isinstance(place.value, list):
        number = place.number()
        return Range(number, number)
    bounds = place.each(Place.number)
    if len(bounds) != 2 or bounds[0] > bounds[1]:
        raise place.wrong("must be a number, or a range [least, most]")
    return Range(*bounds)


def _requests(place: Place) -> Mapping[int, RequestExpectation]:
    expected: dict[int, RequestExpectation] = {}
    for key, field in place.fields().items():
        if not re.fullmatch(r"[1-9][0-9]{0,5}", key, re.ASCII):
            field.wrong("is no number of a request", "Requests are numbered from 1.")
            continue
        for found in field.tried(_request):
            expected[int(key)] = found
    return expected


def _request(place: Place) -> RequestExpectation:
    return RequestExpectation(**taken(place.known_fields(REQUEST_KEYS), {"has": _texts, "lacks": _texts}))


def _texts(place: Place) -> tuple[str, ...]:
    return place.each(Place.words)


def _final(place: Place) -> FinalExpectation:
    readers = {
        "text": Place.text,
        "stop": lambda field: _STOPS[field.one_of(tuple(_STOPS))],
        "aborted": Place.yes_or_no,
        "cause": lambda field: field.one_of([kind.value for kind in CauseKind]),
    }
    return FinalExpectation(**taken(place.known_fields(FINAL_KEYS), readers))
