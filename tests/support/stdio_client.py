"""A client of the stdio server that runs in this process, and holds every message to its schema."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from continuity_core.continuity import Continuity
from continuity_core.hosts.stdio.serving import Server
from continuity_core.testing.clocks import VirtualClock

SECONDS = 20.0
"""Real seconds after which a message that did not come fails a test."""


def schemas() -> Mapping[str, dict[str, Any]]:
    """The shipped schemas by file name."""
    folder = resources.files("continuity_core.hosts.stdio") / "schemas"
    return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in folder.iterdir()}


class Schemas:
    """The validators by method."""

    def __init__(self) -> None:
        self.files = schemas()
        registry: Registry[Any] = Registry().with_resources(
            (name, Resource.from_contents(schema)) for name, schema in self.files.items()
        )
        self._registry = registry

    def check(self, name: str, part: str, value: Any) -> None:
        """Hold ``value`` to the ``part`` (params or result) of a message."""
        schema = {"$ref": f"{name}.json#/$defs/{part}"}
        Draft202012Validator(schema, registry=self._registry).validate(value)


SCHEMAS = Schemas()


class StdioClient:
    """Sends requests and keeps what comes back, each message held to its schema."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self._input = os.fdopen(to_server, "wb", buffering=0)
        self._output = os.fdopen(from_server, "rb")
        self.notes: list[dict[str, Any]] = []
        self._arrived: queue.Queue[dict[str, Any]] = queue.Queue()
        self._answers: dict[Any, dict[str, Any]] = {}
        self._methods: dict[int, str] = {}
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._output:
            self._arrived.put(json.loads(line))
        self._output.close()

    def write(self, line: bytes) -> None:
        """Send bytes as they are."""
        self._input.write(line)

    def close(self) -> None:
        """Close the pipe, as a host that ends does."""
        self._input.close()

    def start(self, method: str, *, checked: bool = True, **params: Any) -> int:
        """Send a request and give its id, without waiting for the answer."""
        if checked:
            SCHEMAS.check(method.replace("/", "."), "params", params)
        self._next += 1
        self._methods[self._next] = method
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.write(json.dumps(message).encode() + b"\n")
        return self._next

    def message(self) -> dict[str, Any]:
        """The next message, whatever it is."""
        return self._arrived.get(timeout=SECONDS)

    def answer(self, id: Any) -> dict[str, Any]:
        """The answer to a request; notifications that come before it are kept in ``notes``."""
        while id not in self._answers:
            self._sort(self.message())
        return self._answers.pop(id)

    def note(self, kind: str) -> dict[str, Any]:
        """The next event of that kind; those before it are passed over."""
        while True:
            for place, note in enumerate(self.notes):
                event = note["params"].get("event", {})
                if note["method"] == kind or event.get("kind") == kind:
                    del self.notes[: place + 1]
                    return dict(note["params"])
            self._sort(self.message())

    def _sort(self, message: dict[str, Any]) -> None:
        if "method" in message:
            SCHEMAS.check(f"notification.{message['method']}", "params", message["params"])
            self.notes.append(message)
        else:
            self._answers[message["id"]] = message

    def result(self, id: int) -> Any:
        """The result of a request."""
        answer = self.answer(id)
        assert "error" not in answer, answer["error"]
        SCHEMAS.check(self._methods[id].replace("/", "."), "result", answer["result"])
        return answer["result"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and give its result."""
        return self.result(self.start(method, **params))

    def refusal(self, method: str, **params: Any) -> tuple[int, str]:
        """Send a request that must fail; code and message of the error."""
        error = self.answer(self.start(method, checked=False, **params))["error"]
        return error["code"], error["message"]

    def open(self, session: str = "s", **params: Any) -> None:
        """Initialize, and open a session."""
        self.ask("initialize", protocol=1, spec_version=[0, 1])
        self.ask("session/open", session=session, **params)


@contextmanager
def serving(clock: VirtualClock | None = None, **options: Any) -> Iterator[StdioClient]:
    """A client of a server in a thread; settings come from ``session/open`` alone, no file counts."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    clock = clock or VirtualClock()

    def load(fields: Any, on_event: Any, clock: Any) -> Continuity:
        return Continuity.from_settings(fields.mapping("settings"), clock=clock, on_event=on_event)

    source, target = os.fdopen(to_read, "rb"), os.fdopen(from_write, "wb", buffering=0)
    options = {"load": load, **options}

    def serve() -> None:
        with target, source:
            asyncio.run(Server(source, target, clock=clock, **options).run())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    client = StdioClient(to_write, from_read)
    try:
        yield client
    finally:
        client.close()
        thread.join(SECONDS)
        assert not thread.is_alive(), "the server did not end when its client had gone"


def turn(stop_reason: str = "stop", text: str = "answer", **facts: Any) -> dict[str, Any]:
    """A turn in its JSON form."""
    return {"stop_reason": stop_reason, "blocks": [{"type": "text", "text": text}], "entry": "a1", **facts}


def failed_turn(message: str = "terminated: other side closed", **facts: Any) -> dict[str, Any]:
    """A turn that failed."""
    return turn("error", "half", failure={"message": message}, **facts)
