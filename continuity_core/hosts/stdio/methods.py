"""The methods: what a client may ask for, and what it gets."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import attrs

from continuity_core._version import __version__
from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import RunError
from continuity_core.engine.clock import SYSTEM_CLOCK, Clock
from continuity_core.engine.project import ProjectionResult
from continuity_core.hookspecs import SPEC_VERSION
from continuity_core.hosts.stdio.fields import Fields
from continuity_core.hosts.stdio.reading import entry_of, facts_of, input_kind, turn_of
from continuity_core.hosts.stdio.rpc import PROTOCOL_VERSION, Call, Code, RpcError
from continuity_core.hosts.stdio.session import HostedSession, Notify
from continuity_core.hosts.stdio.writing import boundary_json, projection_json
from continuity_core.loading.plugin_set import PluginRow
from continuity_core.model.boundary import Mode
from continuity_core.model.decisions import JSONValue
from continuity_core.model.entries import EntryRef
from continuity_core.model.events import Event
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.report import Report, RunOutcome

MAX_SESSIONS = 1000
"""Sessions that are open at a time."""

OnEvent: TypeAlias = Callable[[Event], None]
Load: TypeAlias = Callable[[Fields, OnEvent, Clock], Continuity]


def load_continuity(fields: Fields, on_event: OnEvent, clock: Clock) -> Continuity:
    """The configuration as anyone's, under the client's settings; what is not valid closes recovery."""
    return Continuity.load_or_closed(
        config=fields.optional_text("config"),
        settings=fields.mapping("settings"),
        clock=clock,
        on_event=on_event,
    )


class Methods:
    """Everything that a client can do. One object serves one client."""

    def __init__(self, notify: Notify, *, clock: Clock = SYSTEM_CLOCK, load: Load = load_continuity) -> None:
        self._notify = notify
        self._clock = clock
        self._load = load
        self._initialized = False
        self._sessions: dict[str, HostedSession] = {}
        self._pending: dict[Any, HostedSession] = {}
        self._quick: Mapping[str, Callable[[Fields], JSONValue]] = {
            "initialize": self._initialize,
            "session/open": self._open,
            "session/close": self._close,
            "session/toggle": self._toggle,
            "session/status": self._status,
            "run/started": self._run_started,
            "run/input_arrived": self._input_arrived,
            "run/project": self._project,
            "run/unscheduled": self._unscheduled,
            "run/abort": self._abort,
            "run/settled": self._settled,
            "cancel": self._cancel,
        }
        self._slow: Mapping[str, Callable[[HostedSession, Fields], Awaitable[JSONValue]]] = {
            "run/turn_ended": self._turn_ended,
            "run/before_settle": self._before_settle,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every method."""
        return (*self._quick, *self._slow)

    def answers_at_once(self, call: Call) -> bool:
        """Whether the call needs no task of its own."""
        return call.method not in self._slow

    def do(self, call: Call) -> JSONValue:
        """Carry out a call that is answered at once. Raises :class:`RpcError`."""
        method = self._quick.get(call.method)
        if method is None:
            raise RpcError(Code.METHOD_NOT_FOUND, f"there is no method {call.method[:100]!r}")
        self._check_initialized(call)
        try:
            return method(Fields(call.params))
        except (RunError, ValueError) as error:
            raise RpcError(Code.MISUSE, str(error)) from error

    async def do_slowly(self, call: Call) -> JSONValue:
        """Carry out a call that may hold a wait. Raises :class:`RpcError`."""
        self._check_initialized(call)
        fields = Fields(call.params)
        session = self._session(fields)
        if call.id is not None:
            self._pending[call.id] = session
        try:
            return await self._slow[call.method](session, fields)
        except RunError as error:
            raise RpcError(Code.MISUSE, str(error)) from error
        finally:
            self._pending.pop(call.id, None)

    def close(self) -> None:
        """The client has gone: nothing more is waited for."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _check_initialized(self, call: Call) -> None:
        if not self._initialized and call.method != "initialize":
            raise RpcError(Code.NOT_INITIALIZED, "send initialize first")

    # ---------------------------------------------------------------- the connection

    def _initialize(self, fields: Fields) -> JSONValue:
        protocol = fields.count("protocol")
        spec = fields.values.get("spec_version", list(SPEC_VERSION))
        if protocol != PROTOCOL_VERSION or list(spec) != list(SPEC_VERSION):
            raise RpcError(
                Code.OTHER_VERSION,
                f"this server speaks protocol {PROTOCOL_VERSION} with specification {list(SPEC_VERSION)}, "
                f"not {protocol} with {spec}: install host and server from the same release",
            )
        self._initialized = True
        return {
            "protocol": PROTOCOL_VERSION,
            "spec_version": list(SPEC_VERSION),
            "server": {"name": "continuity-core", "version": __version__, "pid": os.getpid()},
            "python": {"executable": sys.executable, "version": sys.version.split()[0]},
            "capabilities": {"methods": list(self.names), "notifications": ["event", "wait"]},
        }

    def _cancel(self, fields: Fields) -> JSONValue:
        """End the wait of a pending request; it is answered with the outcome ``cancelled``."""
        session = self._pending.get(fields.values.get("id"))
        if session is not None:
            session.interrupt("cancelled")
        return {"found": session is not None}

    # ---------------------------------------------------------------- sessions

    def _open(self, fields: Fields) -> JSONValue:
        name = fields.text("session")
        wanted = None if fields.values.get("events") is None else frozenset(fields.texts("events"))
        if name not in self._sessions and len(self._sessions) >= MAX_SESSIONS:
            raise RpcError(Code.MISUSE, f"{MAX_SESSIONS} sessions are open: close one first")
        session = HostedSession(name, self._notify, wanted)
        continuity = self._load(fields, session.on_event, self._clock)
        loaded = {plugin.name for plugin in continuity.plugins.plugins}
        off = [plugin for plugin in fields.texts("disable") if plugin in loaded]
        if off:
            continuity.disable(*off)
        session.attach(continuity)
        if name in self._sessions:
            self._sessions[name].close()
        self._sessions[name] = session
        return self._shown(session)

    def _close(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        del self._sessions[session.name]
        session.close()
        return {}

    def _toggle(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        continuity = session.continuity
        mode = fields.optional_word("mode", tuple(mode.value for mode in Mode))
        enable, disable = fields.texts("enable"), fields.texts("disable")
        if mode is not None:
            if continuity.error is not None and mode != Mode.OFF:
                raise RpcError(Code.MISUSE, "the configuration is not valid: mend it and start a new session")
            continuity.mode = Mode(mode)
        if enable:
            continuity.enable(*enable)
        if disable:
            continuity.disable(*disable)
        return self._shown(session)

    def _status(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        status: dict[str, JSONValue] = dict(self._shown(session))
        status["runs"] = session.continuity.status()["runs"]
        return {**status, **_report_json(session.report())}

    def _shown(self, session: HostedSession) -> Mapping[str, JSONValue]:
        status = session.continuity.status()
        return {
            "session": session.name,
            "mode": status["mode"],
            "error": status["error"],
            "plugins": [_plugin_json(row) for row in session.continuity.plugins.table],
            "switched_off": status["switched_off"],
        }

    def _session(self, fields: Fields) -> HostedSession:
        name = fields.text("session")
        if name not in self._sessions:
            raise RpcError(
                Code.NO_SUCH_SESSION, f"session {name[:100]!r} is not open: send session/open first"
            )
        return self._sessions[name]

    # ---------------------------------------------------------------- runs

    def _run_started(self, fields: Fields) -> JSONValue:
        run = self._session(fields).start_run(continues=fields.yes("continues"))
        return {"run": run.id}

    def _input_arrived(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        kind = input_kind(fields, "kind")
        if kind is None:
            raise RpcError(Code.INVALID_PARAMS, "params.kind must be steer or follow_up")
        session.run.input_arrived(kind)
        return {}

    def _project(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        session.transcript.update(fields.count("keep", 0), fields.each("entries", entry_of))
        for ref in fields.texts("restored"):
            session.run.entry_restored(EntryRef.stable(ref))
        if fields.yes("partial"):
            return projection_json(ProjectionResult(entries=()))
        return projection_json(session.run.project(session.transcript.entries))

    async def _turn_ended(self, session: HostedSession, fields: Fields) -> JSONValue:
        turn, host = turn_of(fields.object("turn")), self._facts(session, fields)
        return boundary_json(await session.run.turn_ended(turn, host))

    async def _before_settle(self, session: HostedSession, fields: Fields) -> JSONValue:
        return boundary_json(await session.run.before_settle(self._facts(session, fields)))

    def _facts(self, session: HostedSession, fields: Fields) -> HostFacts:
        given = fields.optional_object("host") or Fields({}, "params.host")
        return facts_of(given, session.transcript.lookup)

    def _unscheduled(self, fields: Fields) -> JSONValue:
        self._session(fields).run.unscheduled(fields.text("why"))
        return {}

    def _abort(self, fields: Fields) -> JSONValue:
        self._session(fields).run.abort()
        return {}

    def _settled(self, fields: Fields) -> JSONValue:
        session = self._session(fields)
        word = fields.optional_word("outcome", tuple(outcome.value for outcome in RunOutcome))
        report = session.settle(None if word is None else RunOutcome(word))
        return _report_json(report)


def _report_json(report: Report | None) -> dict[str, JSONValue]:
    """The story of a run without its events: the client had those one by one."""
    if report is None:
        return {"report": None, "story": None}
    return {"report": attrs.evolve(report, events=()).to_dict(), "story": str(report)}


def _plugin_json(row: PluginRow) -> JSONValue:
    return {"name": row.name, "order": row.order, "stage": row.stage, "state": row.state}
