"""The real Pi in tests: printing an answer and ending, or in RPC mode, against the fault server."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from continuity_core.hosts.pi.entry import EXTENSION, write_entry
from continuity_core.hosts.pi.programs import find_pi
from continuity_core.testing.fault_server import FaultServer, LoggedRequest, ThreadedFaultServer

SECONDS = 60.0
"""Real seconds after which a Pi that goes on fails a test."""
CAP = 64
"""Output tokens of the scripted model: a ``length`` of the fault server is at cap by default."""
QUICK = ("--continuity-stream-delay-ms", "20")
"""Flags that make waits of ours too short to notice."""
ALONE = "alone"
"""Stands for Pi without us."""


def cut(text: str = "half an answer", **more: Any) -> dict[str, Any]:
    """An answer cut at the cap."""
    return {"text": text, "stop": "length", **more}


def cut_below_cap(text: str = "half an answer") -> dict[str, Any]:
    """An answer cut before the cap, as by a context that is full."""
    return cut(text, usage={"input": 10, "output": 3})


def broken(text: str = "half") -> dict[str, Any]:
    """A stream that breaks."""
    return {"text": text, "cut": "rst"}


def refusal(status: int, message: str, **fields: Any) -> dict[str, Any]:
    """An HTTP error."""
    return {"http": status, "headers": {}, "body": {"error": {"message": message, **fields}}}


DONE = {"text": "done"}


@attrs.frozen(kw_only=True)
class Printed:
    """What ``pi -p`` did."""

    status: int
    output: str
    errors: str
    requests: tuple[LoggedRequest, ...]
    entries: tuple[Mapping[str, Any], ...]
    """The session file's lines."""

    @property
    def ours(self) -> list[str]:
        """What we said on standard error."""
        return [line for line in self.errors.splitlines() if line.startswith("continuity: ")]

    @property
    def edits(self) -> list[str]:
        """Ids of entries that the session leaves out, in the order of the edits."""
        return [
            entry["targetId"]
            for entry in self.entries
            if entry["type"] == "context_edit" and entry["replacement"] is None
        ]


@attrs.define(eq=False)
class PiHome:
    """An agent directory with a scripted model, and a working directory."""

    folder: Path
    settings: dict[str, Any] = attrs.field(factory=dict)
    """Of Pi; compaction and its own retries are off unless a test says otherwise."""
    command: Sequence[str] | None = None
    """Of the child; ``None``: as it is shipped."""
    limits: Mapping[str, int] | None = None
    """Milliseconds that the child may be silent."""
    environment: dict[str, str] = attrs.field(factory=dict)
    model: dict[str, Any] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.agent.mkdir(parents=True)
        self.work.mkdir()

    @property
    def agent(self) -> Path:
        return self.folder / "agent"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def ours(self) -> Path:
        """Our extension."""
        folder = write_entry(self.folder / "continuity", self.command)
        if self.limits is not None:
            entry = folder / "index.js"
            text = entry.read_text().replace(
                "judgement }", f"judgement, limits: {json.dumps(self.limits)} }}"
            )
            entry.write_text(text)
        return folder

    def extension(self, name: str, source: str) -> Path:
        """Write another extension of Pi: the body of its factory, with ``pi``."""
        file = self.folder / f"{name}.mjs"
        file.write_text(f"export default function (pi) {{\n{source}\n}}\n")
        return file

    def command_line(self, server: Any, extensions: Sequence[Path | str], *arguments: str) -> list[str]:
        """Pi's command line; ``extensions`` are loaded in this order, ours where it is not named last."""
        model = {"id": "m", "maxTokens": CAP, "contextWindow": 200_000, **self.model}
        provider = {"baseUrl": server.base_url, "api": "openai-completions", "apiKey": "x", "models": [model]}
        settings = {"retry": {"enabled": False}, "compaction": {"enabled": False}, **self.settings}
        (self.agent / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        (self.agent / "settings.json").write_text(json.dumps(settings))
        loaded = [extension for extension in extensions if extension != ALONE]
        if ALONE not in extensions and "ours" not in loaded:
            loaded.append("ours")
        places = [str(self.ours) if extension == "ours" else str(extension) for extension in loaded]
        named = [argument for place in places for argument in ("-e", place)]
        return [*find_pi().command, *named, "--model", "local/m", *arguments]

    def variables(self) -> dict[str, str]:
        """The environment of Pi."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CONTINUITY_")}
        return {**kept, "PI_CODING_AGENT_DIR": str(self.agent), "PI_OFFLINE": "1", **self.environment}

    def print(
        self,
        script: Iterable[Mapping[str, Any]],
        *arguments: str,
        prompts: Sequence[str] = ("Finish the task",),
        extensions: Sequence[Path | str] = (),
    ) -> Printed:
        """Run ``pi -p`` to its end."""
        with FaultServer.in_thread(script) as server:
            done = subprocess.run(
                [*self.command_line(server, extensions, "-p", *arguments), *prompts],
                cwd=self.work,
                env=self.variables(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            assert not server.violations, server.violations
            return Printed(
                status=done.returncode,
                output=done.stdout,
                errors=done.stderr,
                requests=tuple(server.requests),
                entries=self.session(),
            )

    def session(self) -> tuple[Mapping[str, Any], ...]:
        """The lines of the newest session file."""
        files = sorted(self.agent.glob("sessions/**/*.jsonl"), key=lambda file: file.stat().st_mtime)
        return tuple(json.loads(line) for line in files[-1].read_text().splitlines()) if files else ()

    @contextlib.contextmanager
    def rpc(
        self, script: Iterable[Mapping[str, Any]], *arguments: str, extensions: Sequence[Path | str] = ()
    ) -> Iterator[RpcPi]:
        """Run ``pi --mode rpc`` while a test talks with it."""
        with FaultServer.in_thread(script) as server:
            process = subprocess.Popen(
                self.command_line(server, extensions, "--mode", "rpc", *arguments),
                cwd=self.work,
                env=self.variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            pi = RpcPi(process, server)
            try:
                yield pi
            finally:
                pi.end()


class RpcPi:
    """A Pi in RPC mode."""

    def __init__(self, process: subprocess.Popen[str], server: ThreadedFaultServer) -> None:
        self.process = process
        self.server = server
        self.seen: list[dict[str, Any]] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._drain)]
        self._errors: list[str] = []
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _drain(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)

    def send(self, kind: str, **fields: Any) -> None:
        """Send a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"id": kind, "type": kind, **fields}) + "\n")
        self.process.stdin.flush()

    def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Read on to a message of this type with these fields."""
        while True:
            line = self._lines.get(timeout=SECONDS)
            assert line is not None, "".join(self._errors)
            message = json.loads(line)
            self.seen.append(message)
            if message["type"] == kind and all(message.get(name) == value for name, value in fields.items()):
                return dict(message)

    def prompt(self, text: str = "Finish the task") -> None:
        """Send a prompt that Pi takes."""
        self.send("prompt", message=text)
        assert self.until("response", command="prompt")["success"]

    def ask(self, command: str) -> str:
        """Give a command of ours, and give back what it says."""
        self.send("prompt", message=command)
        shown = self.until("extension_ui_request", method="notify")
        self.until("response", command="prompt")
        return str(shown["message"])

    def settled(self) -> dict[str, Any]:
        """Read on until the run is over."""
        return self.until("agent_settled")

    @property
    def said(self) -> list[str]:
        """Our notifications so far."""
        return [str(m["message"]) for m in self.seen if m.get("method") == "notify"]

    def end(self) -> None:
        """Close its input and wait until it has ended."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            for thread in self._threads:
                thread.join()
            assert self.process.stdout is not None
            assert self.process.stderr is not None
            self.process.stdout.close()
            self.process.stderr.close()


PYTHON = sys.executable
MODULE = EXTENSION


def children_of(parent: int) -> list[int]:
    """Processes of our command line under this one."""
    children = [
        child
        for task in Path(f"/proc/{parent}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [int(child) for child in children if b"hosts.stdio" in Path(f"/proc/{child}/cmdline").read_bytes()]
