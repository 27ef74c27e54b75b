"""Tools, scripts and questions for tests of LangChain's agents."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from continuity_core.testing.clocks import VirtualClock

QUESTION = {"messages": [{"role": "user", "content": "Finish the task"}]}
"""What every test asks for."""


class CountedTool:
    """A tool that counts; give ``tool()`` to an agent."""

    def __init__(self, name: str = "step", result: str = "RESULT") -> None:
        self.name = name
        self.result = result
        self.given: list[dict[str, Any]] = []

    @property
    def times(self) -> int:
        """How often it was executed."""
        return len(self.given)

    def tool(self, *, return_direct: bool = False) -> Any:
        """As a tool of LangChain; it takes any object."""
        from langchain_core.tools import StructuredTool

        def call(**arguments: Any) -> str:
            self.given.append(arguments)
            return self.result

        async def call_async(**arguments: Any) -> str:
            return call(**arguments)

        return StructuredTool.from_function(
            func=call,
            coroutine=call_async,
            name=self.name,
            description=self.name,
            args_schema={"type": "object", "properties": {}, "additionalProperties": True},
            return_direct=return_direct,
        )


def calling(*calls: str, name: str = "step", **more: Any) -> dict[str, Any]:
    """A response with calls of these raw arguments."""
    return {"tool_calls": [{"name": name, "arguments": arguments} for arguments in calls], **more}


def thread(name: str = "T") -> Any:
    """The configuration that names a thread."""
    return {"configurable": {"thread_id": name}}


def texts(request: Any) -> list[str]:
    """The texts of a request's messages, in order."""
    return [message.text for message in request.messages]


def answer(state: Mapping[str, Any]) -> str:
    """The text of the last message of a result."""
    return str(state["messages"][-1].text)


class StandingClock(VirtualClock):
    """A clock that stands still; it tells when a wait has begun."""

    def __init__(self) -> None:
        super().__init__(auto_advance=False, on_wait=self._note)
        self._begun = threading.Event()

    def _note(self, number: int, record: object) -> None:
        self._begun.set()

    async def wait_begun(self) -> None:
        """Wait until somebody waits."""
        assert await asyncio.to_thread(self._begun.wait, 5)
