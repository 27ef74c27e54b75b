"""The entrance: one object that loads the plugins once and starts runs."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import attrs

from continuity_core.engine.base_run import BaseRun, RunError, abort_together, switch_together
from continuity_core.engine.chain import Chain
from continuity_core.engine.clock import SYSTEM_CLOCK, Clock
from continuity_core.engine.engine import Engine
from continuity_core.engine.run import Run, SyncRun
from continuity_core.engine.session import Session
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import RunState
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.errors import ConfigurationError
from continuity_core.loading.load import Loaded, load, load_closed, load_plugins
from continuity_core.loading.plugin_set import PluginSet
from continuity_core.model.boundary import Mode
from continuity_core.model.decisions import JSONValue
from continuity_core.model.events import Event
from continuity_core.observe.journal import Journal

LOG = logging.getLogger("continuity")

KEPT_SESSIONS = 10_000
"""Idle sessions whose state is kept; the one that was idle longest goes first."""

R = TypeVar("R", bound=BaseRun)


class Continuity:
    """Plugins and settings in force, and the sessions that use them.

    Make one with :meth:`load` and keep it for the life of the process. Its methods may be called from any
    thread.
    """

    def __init__(
        self,
        plugins: PluginSet,
        settings: Settings | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        on_event: Callable[[Event], None] | None = None,
        error: ConfigurationError | None = None,
    ) -> None:
        self.plugins = plugins
        """The plugins that were loaded, and the table that says what became of each."""
        self.error = error
        """Why recovery is off, where the configuration was not valid and could not be raised."""
        self.clock = clock
        self.on_event = on_event
        self._loaded = Engine(
            chain=Chain.of(plugins.manager, plugins.plugins), settings=settings or Settings()
        )
        self._engine = self._loaded
        self._switched_off: frozenset[str] = frozenset()
        self._mode_when_on = self.settings.mode if self.settings.mode is not Mode.OFF else Mode.ON
        self._sessions: dict[str, Session] = {}
        self._idle: OrderedDict[str, None] = OrderedDict()
        """Names of the sessions without a run, the one that was idle longest first."""
        self._runs: dict[BaseRun, None] = {}
        self._lock = threading.RLock()

    # ---------------------------------------------------------------- making one

    @classmethod
    def load(
        cls,
        *,
        config: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        clock: Clock = SYSTEM_CLOCK,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """Read the configuration and load the plugins by entry point.

        ``config`` names a configuration file; ``settings`` has the keys of ``[tool.continuity]`` and outranks
        every other source; ``plugins`` are instances or classes added to those found; ``on_event`` is called
        with every event, and what it raises is logged. Raises :class:`ConfigurationError` with every problem
        at once.
        """
        loaded = load(config=config, code=settings, extra_plugins=plugins)
        return cls._of(loaded, clock, on_event)

    @classmethod
    def from_settings(
        cls,
        settings: Mapping[str, Any] | None = None,
        *,
        plugins: Iterable[object] = (),
        installed: bool = True,
        clock: Clock = SYSTEM_CLOCK,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """As :meth:`load`, but no file and no environment variable counts: ``settings`` is all there is.

        Without ``installed`` third parties' distributions are passed over: there are the bundled plugins and
        those handed over.
        """
        configuration = Configuration.from_mapping(settings or {})
        loaded = Loaded(
            configuration=configuration, plugins=load_plugins(configuration, plugins, installed=installed)
        )
        return cls._of(loaded, clock, on_event)

    @classmethod
    def load_or_closed(
        cls,
        *,
        config: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        clock: Clock = SYSTEM_CLOCK,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """As :meth:`load`, for hosts that cannot raise.

        Where the configuration is not valid nothing is resumed, redaction stays on, the error is logged and
        kept in :attr:`error`.
        """
        try:
            return cls.load(config=config, settings=settings, plugins=plugins, clock=clock, on_event=on_event)
        except ConfigurationError as error:
            LOG.error("recovery is off, redaction stays on: %s", error)
            return cls._of(load_closed(), clock, on_event, error)

    @classmethod
    def _of(
        cls,
        loaded: Loaded,
        clock: Clock,
        on_event: Callable[[Event], None] | None,
        error: ConfigurationError | None = None,
    ) -> Self:
        settings = loaded.configuration.settings
        if settings.journal is not None:
            on_event = _both(Journal(settings.journal), on_event)
        return cls(loaded.plugins, settings, clock=clock, on_event=on_event, error=error)

    # ---------------------------------------------------------------- runs

    def start_run(
        self,
        session: str | None = None,
        *,
        parent: BaseRun | None = None,
        state: Mapping[str, JSONValue] | None = None,
        deadline: datetime | None = None,
    ) -> Run:
        """Start a run: everything done for one real user request.

        ``session`` names the conversation; without it the run is one of its own. ``parent`` is the run that a
        sub-agent works for: its ceilings bound this run, and it ends with it. ``state`` is what
        ``run.state.to_json()`` gave, here or in another process. ``deadline`` (aware) is when the caller
        stops waiting. Raises :class:`RunError` where the session has a run going on, or ``parent`` is over;
        ``ValueError`` for a damaged state.
        """
        return self._start(Run, session, parent, state, deadline)

    def start_sync_run(
        self,
        session: str | None = None,
        *,
        parent: BaseRun | None = None,
        state: Mapping[str, JSONValue] | None = None,
        deadline: datetime | None = None,
    ) -> SyncRun:
        """As :meth:`start_run`; its waits are held on the caller's thread."""
        return self._start(SyncRun, session, parent, state, deadline)

    def _start(
        self,
        kind: type[R],
        session: str | None,
        parent: BaseRun | None,
        state: Mapping[str, JSONValue] | None,
        deadline: datetime | None,
    ) -> R:
        if deadline is not None and deadline.tzinfo is None:
            raise ValueError("deadline must carry a time zone: use datetime.now(UTC) + timedelta(...)")
        if parent is not None and parent.is_over:
            raise RunError(f"the parent run {parent.id} is over: start the run without it")
        restored = None if state is None else RunState.from_json(state)
        with self._lock:
            found = self._session(session, restored)
            if found.active is not None:
                raise RunError(
                    f"session {found.id!r} has the run {found.active.id} going on: settle it first "
                    "(run.settled(), or `with continuity.start_run(...) as run`), or start the run in a "
                    "session of its own"
                )
            if restored is not None:
                found.state = restored.session
            run = kind(self, found, parent=parent, state=restored, deadline=deadline)
            found.active = run
            self._idle.pop(found.id, None)
            self._runs[run] = None
        return run

    def _session(self, name: str | None, restored: RunState | None) -> Session:
        if name is None:
            return Session(f"session-{secrets.token_hex(6)}" if restored is None else restored.session_id)
        if restored is not None and restored.session_id != name:
            raise ValueError(f"the state belongs to session {restored.session_id!r}, not {name!r}")
        return self._sessions.setdefault(name, Session(name))

    def forget(self, run: BaseRun) -> bool:
        """Called by a run that is over: its session is idle. Whether it is kept for another run."""
        with self._lock:
            self._runs.pop(run, None)
            session = self._sessions.get(run.session)
            if session is None or session.active is not None:
                return False
            if self._idle:  # Histories are long: of the idle sessions only the last one keeps what it saw.
                self._sessions[next(reversed(self._idle))].seen = None
            self._idle[session.id] = None
            while len(self._idle) > KEPT_SESSIONS:
                name, _ = self._idle.popitem(last=False)
                del self._sessions[name]
        return True

    def abort_all(self) -> None:
        """Abort every run that goes on, e.g. at shutdown: waits end at once, nothing more is requested."""
        with self._lock:
            runs = list(self._runs)
        abort_together(runs)

    # ---------------------------------------------------------------- switches

    @property
    def engine(self) -> Engine:
        """The chain and the settings in force now."""
        return self._engine

    @property
    def settings(self) -> Settings:
        """The core's settings in force now."""
        return self._engine.settings

    @property
    def mode(self) -> Mode:
        """``on``, ``observe`` or ``off``; setting it ends every wait that is held."""
        return self._engine.settings.mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._switch(attrs.evolve(self._engine.settings, mode=mode), self._switched_off, f"mode {mode}")

    def disable(self, *plugins: str) -> None:
        """Switch recovery off, or only these plugins; ends every wait that is held."""
        if plugins:
            self._switch(self._engine.settings, self._switched_off | self._known(plugins), "off")
        else:
            self.mode = Mode.OFF

    def enable(self, *plugins: str) -> None:
        """Switch recovery on again, or these plugins; a plugin that was not loaded stays away."""
        if plugins:
            self._switch(self._engine.settings, self._switched_off - self._known(plugins), "on")
        else:
            self.mode = self._mode_when_on

    def _known(self, plugins: tuple[str, ...]) -> frozenset[str]:
        loaded = {plugin.name for plugin in self.plugins.plugins}
        for name in plugins:
            if name not in loaded:
                raise ValueError(f"no plugin named {name!r} is loaded (loaded: {', '.join(sorted(loaded))})")
        return frozenset(plugins)

    def _switch(self, settings: Settings, off: frozenset[str], reason: str) -> None:
        with self._lock:
            if settings == self._engine.settings and off == self._switched_off:
                return  # Nothing changes: a wait that is held goes on.
            self._switched_off = off
            self._engine = Engine(chain=self._loaded.chain.without(off), settings=settings)
            runs = list(self._runs)
        switch_together(runs, reason)

    # ---------------------------------------------------------------- looking at it

    def status(self) -> Mapping[str, JSONValue]:
        """Mode, plugins and runs, as JSON."""
        with self._lock:
            runs = list(self._runs)
        return {
            "mode": self.mode.value,
            "error": None if self.error is None else str(self.error),
            "plugins": [plugin.name for plugin in self._engine.chain.plugins],
            "switched_off": sorted(self._switched_off),
            "runs": [dict(run.status()) for run in runs],
        }


def _both(journal: Journal, on_event: Callable[[Event], None] | None) -> Callable[[Event], None]:
    """One callable that tells an event to the journal and to the caller's own, if there is one."""
    if on_event is None:
        return journal

    def tell(event: Event) -> None:
        try:
            journal(event)
        finally:
            on_event(event)

    return tell
