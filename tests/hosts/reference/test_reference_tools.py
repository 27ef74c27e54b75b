"""Python callables as tools."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Literal

import anyio
import pytest

from continuity_core.hosts.reference import Tool
from continuity_core.hosts.reference.tools import Toolbox, ToolOutcome, schema_of
from continuity_core.model.turn import ToolCall
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


def look_up(
    city: str, days: int = 3, unit: Literal["c", "f"] = "c", *, tags: list[str] | None = None
) -> dict[str, Any]:
    """Look up the weather.

    For some days.
    """
    return {"city": city, "days": days, "unit": unit, "tags": tags}


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall("a", name, arguments)


def test_a_schema_comes_from_the_type_hints() -> None:
    assert schema_of(look_up) == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["c", "f"]},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_function_that_takes_anything_says_so() -> None:
    def anything(known, **more):  # type: ignore[no-untyped-def]
        return more

    schema = schema_of(anything)
    assert schema["properties"] == {"known": {}}
    assert schema["additionalProperties"] is True


def test_a_tool_is_named_and_described_as_its_function() -> None:
    tool = Tool.of(look_up)
    assert tool.name == "look_up"
    assert tool.description == "Look up the weather.\n\nFor some days."
    assert tool.ends_run is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="look_up"):
        Toolbox.of((look_up, look_up))


async def test_a_result_that_is_no_text_becomes_json() -> None:
    outcome = await Toolbox.of((look_up,)).run(call("look_up", '{"city": "Zürich"}'))
    assert outcome == ToolOutcome('{"city": "Zürich", "days": 3, "unit": "c", "tags": null}')


async def test_an_empty_argument_string_is_an_empty_object() -> None:
    assert await Toolbox.of((Tool(name="now", function=lambda: "noon"),)).run(call("now", "")) == ToolOutcome(
        "noon"
    )


async def test_a_synchronous_tool_does_not_block_the_event_loop() -> None:
    async def asynchronous() -> int:
        return threading.get_ident()

    box = Toolbox.of((Tool(name="sync", function=threading.get_ident), asynchronous))
    here = str(threading.get_ident())
    assert (await box.run(call("sync", "{}"))).text != here
    assert (await box.run(call("asynchronous", "{}"))).text == here


async def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    async def inner() -> str:
        return "awaited"

    box = Toolbox.of((Tool(name="outer", function=partial(inner)),))
    assert await box.run(call("outer", "{}")) == ToolOutcome("awaited")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (call("missing", "{}"), "There is no tool named 'missing'; there are: look_up"),
        (call("look_up", '{"city": "Z'), "The arguments are no valid JSON"),
        (call("look_up", "[1]"), "The arguments must be a JSON object"),
        (call("look_up", '{"town": "Z"}'), "TypeError: look_up() got an unexpected keyword argument 'town'"),
    ],
)
async def test_a_call_that_cannot_be_run_has_an_error_result(given: ToolCall, text: str) -> None:
    outcome = await Toolbox.of((look_up,)).run(given)
    assert outcome.is_error
    assert outcome.text.startswith(text)


async def test_what_a_tool_raises_is_its_result(either: Any, session_on: Any) -> None:
    def broken() -> str:
        raise OSError("no such file")

    async with FaultServer([{"tool_calls": [{"name": "broken"}]}, {"text": "sorry"}]) as server:
        outcome = await session_on(either, server, tools=[broken]).run("Finish the task")
    assert outcome.text == "sorry"
    result = server.requests[1].messages[-1].results[0]
    assert result.text == "OSError: no such file"
    assert result.is_error is (either.dialect == "anthropic")


async def test_parallel_calls_run_side_by_side_and_answer_in_order(either: Any, session_on: Any) -> None:
    second_ran = anyio.Event()

    async def first() -> str:
        await second_ran.wait()
        return "ONE"

    async def second() -> str:
        second_ran.set()
        return "TWO"

    script = [{"tool_calls": [{"name": "first"}, {"name": "second"}]}, {"text": "done"}]
    async with FaultServer(script) as server:
        session = session_on(either, server, tools=[first, second])
        with anyio.fail_after(10):
            outcome = await session.run("Finish the task")
    assert outcome.tools_run == {"first": 1, "second": 1}
    results = [result.text for message in server.requests[1].messages for result in message.results]
    assert results == ["ONE", "TWO"]
    assert server.violations == []
    assert [entry.text for entry in session.history[2:4]] == ["ONE", "TWO"]
