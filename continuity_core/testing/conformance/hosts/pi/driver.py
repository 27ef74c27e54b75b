"""The driver: scenarios on the real ``pi``, one session each."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import anyio.abc
import attrs

from continuity_core.hosts.pi.entry import write_entry
from continuity_core.hosts.pi.programs import NotFoundError, PiProgram, find_pi
from continuity_core.model.host_facts import InputKind
from continuity_core.testing.conformance.features import Feature
from continuity_core.testing.conformance.host import HostResult, HostSession, Mode, Play
from continuity_core.testing.conformance.hosts.pi.link import ChildLink
from continuity_core.testing.conformance.hosts.pi.process import PiProcess
from continuity_core.testing.conformance.registry import HostError

CANNOT = {
    Feature.WHOLE_RESPONSES: "Pi asks for every response as a stream: its adapters send stream: true",
    Feature.CUT_CALL_AS_RESULT: "Pi answers a cut call with an error and asks the model again by itself",
}
"""What Pi cannot do, and the evidence."""

_APIS = {
    "chat": "openai-completions",
    "responses": "openai-responses",
    "anthropic": "anthropic-messages",
}
_IDLE_MS = 60_000
"""Longer than any scenario may take, so that only ``idle_timeout`` itself makes a stream dead."""
_CHILD_FAILED = ("continuity: recovery is off in this session", "continuity: the child process refused")
"""What the extension says of a child that cannot be used, or that does not understand it."""
_STOPS = {"stop": "stop", "length": "length", "toolUse": "tool_use", "error": "error", "aborted": "aborted"}

_Key: TypeAlias = tuple[str, int, float | None, bool]


class PiHost:
    """Plays scenarios on ``pi --mode rpc``: a process for plays of one kind, a session for each play.

    Native retries are those that Pi's provider clients make (``retry.provider.maxRetries``): only they are
    retries of one request for HTTP failures before the body. Pi's own retry of whole turns is off here.
    """

    name = "pi"
    dialects = ("chat", "responses", "anthropic")

    def __init__(self) -> None:
        try:
            self._pi: PiProgram = find_pi()
        except NotFoundError as error:
            raise HostError(str(error)) from error
        self._folder = Path(tempfile.mkdtemp(prefix="continuity-pi-"))
        # Pi tells the model where it works: that is to be the same in every play.
        self._work = self._folder / "work"
        self._work.mkdir()
        self._processes: dict[_Key, PiProcess] = {}
        self._root_url = ""

    def cannot(self, feature: Feature, mode: Mode) -> str | None:
        """The capability table."""
        return CANNOT.get(feature)

    def adds_text(self, text: str) -> bool:
        """It adds none."""
        return False

    @asynccontextmanager
    async def open(self, play: Play) -> AsyncIterator[HostSession]:
        """A new session for each scenario."""
        key = (play.mode.dialect, play.native_retries, play.idle_timeout, play.settings is not None)
        if play.root_url != self._root_url:
            await self._stop_all()
            self._root_url = play.root_url
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener, anyio.create_task_group() as tasks:
            link = ChildLink(play, tasks)
            tasks.start_soon(listener.serve, link.serve)
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            process = await self._session_of(key, play, f"127.0.0.1:{port}")
            try:
                yield PiSession(process, play, link)
            except BaseException:
                # Whatever it was in the middle of: the next play starts with a process of its own.
                del self._processes[key]
                await process.stop()
                raise
            finally:
                tasks.cancel_scope.cancel()

    async def aclose(self) -> None:
        """End the processes and remove what they wrote."""
        await self._stop_all()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _stop_all(self) -> None:
        processes, self._processes = list(self._processes.values()), {}
        for process in processes:
            await process.stop()

    async def _session_of(self, key: _Key, play: Play, address: str) -> PiProcess:
        """A process with a fresh session that has these tools and this child."""
        folder = self._folder / "-".join(map(str, key))
        folder.mkdir(exist_ok=True)
        tools = [attrs.asdict(tool, filter=attrs.filters.exclude("times_run")) for tool in play.tools]
        (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
        (folder / "address").write_text(address, encoding="utf-8")
        process = self._processes.get(key)
        if process is None or not process.is_running:
            process = await PiProcess.start(self._command(folder, play), folder, self._work)
            self._processes[key] = process
            await _until_response(process, await process.send("get_state"))
        else:
            await _until_response(process, await process.send("new_session"))
        return process

    def _command(self, folder: Path, play: Play) -> list[str]:
        """Pi's command line, after its configuration was written into ``folder``."""
        base = play.root_url if play.mode.dialect == "anthropic" else play.base_url
        model = {"id": "scripted", "maxTokens": play.output_limit, "contextWindow": 200_000}
        provider = {"baseUrl": base, "api": _APIS[play.mode.dialect], "apiKey": "any", "models": [model]}
        idle = _IDLE_MS if play.idle_timeout is None else round(play.idle_timeout * 1000)
        settings: dict[str, Any] = {
            "compaction": {"enabled": False},
            "retry": {"enabled": False, "provider": {"maxRetries": play.native_retries}},
            "httpIdleTimeoutMs": idle,
            "steeringMode": "all",  # As other hosts do; by default Pi takes one message a turn.
        }
        _write(folder / "models.json", {"providers": {"local": provider}})
        _write(folder / "settings.json", settings)
        source = (Path(__file__).parent / "tools.mjs").read_text(encoding="utf-8")
        tools = folder / "tools.mjs"
        filled = {"PLAY_TOOLS": str(folder / "tools.json"), "PLAY_RETRIES": play.native_retries}
        for word, value in filled.items():
            source = source.replace(word, json.dumps(value))
        tools.write_text(source, encoding="utf-8")
        command = [
            *self._pi.command,
            "--mode",
            "rpc",
            "--no-session",
            "--no-builtin-tools",
            "--no-context-files",
        ]
        command += ["--model", "local/scripted", "-e", str(tools)]
        if play.settings is not None:
            child = [sys.executable, "-P", "-m", "continuity_core.testing.conformance.hosts.pi.child"]
            command += ["-e", str(write_entry(folder / "continuity", [*child, str(folder / "address")]))]
        return command


class PiSession:
    """One session of Pi while a scenario is played."""

    def __init__(self, process: PiProcess, play: Play, link: ChildLink) -> None:
        self._process = process
        self._play = play
        self._link = link
        self._responses: dict[str, anyio.Event] = {}

    async def prompt(self, text: str) -> HostResult:
        """One prompt, and whatever Pi does until it has settled."""
        ended = self._link.ended
        sent = await self._process.send("prompt", message=text)
        answer: dict[str, Any] = {}
        while True:
            message = await self._process.receive()
            kind = message["type"]
            _check_child(message)
            if kind == "response":
                self._take_response(message)
                if message.get("id") == sent and not message["success"]:
                    return HostResult(error=str(message["error"]))
            elif kind == "message_end" and message["message"]["role"] == "assistant":
                answer = message["message"]
            elif kind == "tool_execution_end":
                self._count(message)
            elif kind == "extension_error":
                raise HostError(f"an extension of pi failed in {message['event']}: {message['error']}")
            elif kind == "agent_settled":
                break
        if self._play.settings is not None:
            await self._link.all_settled(ended)
        return _result(answer, aborted=bool(message.get("aborted")))

    async def abort(self) -> None:
        """As Escape does: what was queued goes back to the user. Pi answers only when it is idle again."""
        await self._process.send("clear_queue")
        await self._process.send("abort")
        await self._link.action_done()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """As Enter, or Alt+Enter, does while Pi works."""
        await self._command(kind, message=text)
        await self._link.action_done()

    async def switch(self, on: bool) -> None:
        """As the user does, by the command."""
        if self._play.settings is not None:
            await self._command("prompt", message=f"/continuity {'on' if on else 'off'}")
            await self._link.action_done()

    async def _command(self, kind: str, **fields: Any) -> None:
        id = await self._process.send(kind, **fields)
        answered = self._responses[id] = anyio.Event()
        await answered.wait()

    def _take_response(self, message: dict[str, Any]) -> None:
        answered = self._responses.pop(message.get("id", ""), None)
        if answered is not None:
            answered.set()

    def _count(self, message: dict[str, Any]) -> None:
        """Pi reports the end of calls that it refused, too; only a tool itself says that it was played."""
        details = message.get("result", {}).get("details")
        played = details.get("played") if isinstance(details, dict) else None
        for tool in self._play.tools:
            if tool.name == played:
                tool.run()


def _result(answer: dict[str, Any], *, aborted: bool) -> HostResult:
    stop = _STOPS.get(answer.get("stopReason", ""))
    text = "".join(block["text"] for block in answer.get("content", ()) if block["type"] == "text")
    error = answer.get("errorMessage")
    return HostResult(text=None if stop == "error" else text, stop=stop, aborted=aborted, error=error)


def _check_child(message: dict[str, Any]) -> None:
    """A chain that is not there is not to be taken for one that does nothing."""
    said = str(message.get("message"))
    if message.get("method") == "notify" and said.startswith(_CHILD_FAILED):
        raise HostError(said)


async def _until_response(process: PiProcess, id: str) -> None:
    while True:
        message = await process.receive()
        _check_child(message)
        if message["type"] == "response" and message.get("id") == id:
            if not message["success"]:
                raise HostError(f"pi refused {message['command']}: {message['error']}")
            return


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")
