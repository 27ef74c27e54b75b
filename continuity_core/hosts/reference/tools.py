"""Python callables as tools."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import anyio.to_thread
import attrs

from continuity_core.model.turn import ToolCall

EndsRun: TypeAlias = Literal["on_purpose", "unexplained"] | None
"""``on_purpose``: the run ends properly after the tool; ``unexplained``: it just ends, as some hosts' do."""

_ANY_OBJECT: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}
_JSON_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    tuple: "array",
    dict: "object",
    NoneType: "null",
}


@attrs.frozen(kw_only=True)
class Tool:
    """A tool that the model may call.

    The function takes the arguments by keyword. A synchronous one runs in a worker thread, which an abort
    leaves behind.
    """

    name: str
    function: Callable[..., Any]
    description: str = ""
    parameters: Mapping[str, Any] = _ANY_OBJECT
    """JSON schema of the arguments; by default any object."""
    ends_run: EndsRun = None

    @classmethod
    def of(cls, function: Callable[..., Any], *, ends_run: EndsRun = None) -> Tool:
        """A tool named and described as its function, with a schema from the type hints."""
        return cls(
            name=function.__name__,
            function=function,
            description=inspect.getdoc(function) or "",
            parameters=schema_of(function),
            ends_run=ends_run,
        )

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Run it; text comes back as it is, anything else as JSON. Raises what the function raises."""
        function = self.function
        if inspect.iscoroutinefunction(function):
            result = await function(**arguments)
        else:
            result = await anyio.to_thread.run_sync(lambda: function(**arguments), abandon_on_cancel=True)
            if inspect.isawaitable(result):
                result = await result
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


@attrs.frozen
class ToolOutcome:
    """What a call gave."""

    text: str
    is_error: bool = False


@attrs.frozen
class Toolbox:
    """The tools of a session by name."""

    tools: Mapping[str, Tool]

    @classmethod
    def of(cls, tools: tuple[Tool | Callable[..., Any], ...]) -> Toolbox:
        """Raises ``ValueError`` where two tools have one name."""
        by_name: dict[str, Tool] = {}
        for given in tools:
            tool = given if isinstance(given, Tool) else Tool.of(given)
            if tool.name in by_name:
                raise ValueError(f"two tools are named {tool.name!r}: give each a name of its own")
            by_name[tool.name] = tool
        return cls(by_name)

    def named(self, ends_run: EndsRun) -> frozenset[str]:
        """Names of the tools that end a run in that way."""
        return frozenset(tool.name for tool in self.tools.values() if tool.ends_run == ends_run)

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run one call; whatever goes wrong is an error result that says so."""
        tool = self.tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self.tools)) or "none"
            return ToolOutcome(f"There is no tool named {call.name!r}; there are: {known}", is_error=True)
        try:
            arguments = json.loads(call.arguments.strip() or "{}")
        except (ValueError, RecursionError) as error:
            return ToolOutcome(f"The arguments are no valid JSON: {error}", is_error=True)
        if not isinstance(arguments, dict):
            return ToolOutcome("The arguments must be a JSON object", is_error=True)
        try:
            return ToolOutcome(await tool.call(arguments))
        except Exception as error:
            return ToolOutcome(f"{type(error).__name__}: {error}", is_error=True)


def schema_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The JSON schema of a function's parameters; a type hint that it does not know allows anything."""
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    more = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            more = True
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            properties[name] = _schema(hints.get(name, Any))
            if parameter.default is parameter.empty:
                required.append(name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": more,
    }


def _schema(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(argument) for argument in arguments]}
    if origin is list and arguments:
        return {"type": "array", "items": _schema(arguments[0])}
    kind = _JSON_TYPES.get(origin or hint)
    return {} if kind is None else {"type": kind}
