"""A run that goes on, and what LangGraph tells of the invocation that it belongs to."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import attrs

from continuity_core.engine.base_run import BaseRun
from continuity_core.engine.run import Run, SyncRun
from continuity_core.hosts.langchain.facts import OutputLimits
from continuity_core.hosts.langchain.projecting import Reader
from continuity_core.model.decisions import JSONValue
from continuity_core.model.turn import Turn

Kind: TypeAlias = type[Run] | type[SyncRun]
Place: TypeAlias = tuple[str | None, str]
"""Thread, and the graph's own checkpoint namespace: empty but for a graph inside another one."""


@attrs.define(eq=False)
class Control:
    """LangGraph's object for an invocation and the graphs that it invokes, and our runs in it.

    The only reference of ours that stays, so that it shows when the invocation is over: an error of a tool,
    or a consumer that leaves a stream, end one without a word.
    """

    of_langgraph: object
    lives: list[Live] = attrs.field(factory=list)

    @property
    def is_left(self) -> bool:
        """Whether nobody else holds it any more. Says ``False`` where that cannot be known."""
        return _references(self) <= _OURS


def _references(control: Control) -> int:
    return sys.getrefcount(control.of_langgraph) if hasattr(sys, "getrefcount") else sys.maxsize


_OURS = _references(Control(object()))
"""What is counted where nobody else holds it; the interpreter's own way to call is part of it."""


@attrs.define(kw_only=True, eq=False)
class Live:
    """A run that goes on, and what this host has to remember of it."""

    run: Run | SyncRun
    place: Place
    control: Control | None = None
    reader: Reader = attrs.field(factory=Reader)
    limits: OutputLimits = attrs.field(factory=OutputLimits)
    busy: bool = False
    """A model call of it goes on."""
    waiting_for_tools: tuple[str | None, Turn] | None = None
    """A turn whose calls the host executes, and the id of its message."""
    noted: str | None = None
    """The message of the last turn whose tools ran and that continuity was told of."""
    end: str | None = None
    """Why no further request is to be made."""
    end_tries: int = 0
    """How often the graph was told so and asked again."""
    tail: int | None = None
    """How many turns there were when the run was resumed after its end."""
    direct_tools: frozenset[str] = frozenset()
    """Tools whose result is the run's, as the last request had them."""


@attrs.frozen(eq=False)
class Failed:
    """What is kept of a run whose error went to the caller: no checkpoint has it."""

    state: Mapping[str, JSONValue]
    control: Control | None
    noted: str | None

    def is_of(self, invocation: Invocation) -> bool:
        """Whether that invocation has not ended with the failure."""
        return self.control is not None and self.control.of_langgraph is invocation.control


@attrs.frozen(kw_only=True)
class Invocation:
    """What LangGraph tells of the invocation that a hook belongs to."""

    thread: str | None = None
    namespace: str = ""
    control: object | None = None

    @property
    def drained(self) -> bool:
        """Whether a shutdown was asked for: the graph stops after this step."""
        return bool(getattr(self.control, "drain_requested", False))

    @property
    def place(self) -> Place:
        """Where the run belongs."""
        return self.thread, self.namespace

    @property
    def session(self) -> str | None:
        """The session's name for continuity; ``None`` where nothing outlives the invocation."""
        if self.thread is None:
            return None
        return f"langchain:{self.thread}:{self.namespace}" if self.namespace else f"langchain:{self.thread}"

    @classmethod
    def of(cls, runtime: Any) -> Invocation:
        """Read a hook's runtime; outside a graph there is nothing to read."""
        info = getattr(runtime, "execution_info", None)
        namespace = "" if info is None else info.checkpoint_ns.rpartition("|")[0]
        return cls(
            thread=None if info is None else info.thread_id,
            namespace=namespace,
            control=getattr(runtime, "control", None),
        )


class Everyone:
    """Runs of every middleware, by LangGraph's control object: a sub-agent's parent may be another's run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._controls: WeakValueDictionary[int, Control] = WeakValueDictionary()

    def add(self, live: Live, control: object | None) -> None:
        """Take in a run of the invocation that LangGraph has this object for."""
        if control is not None:
            with self._lock:
                live.control = self._controls.get(id(control))
                if live.control is None:
                    live.control = self._controls[id(control)] = Control(control)
                live.control.lives.append(live)

    def remove(self, live: Live) -> None:
        """The run is over."""
        if live.control is not None:
            with self._lock:
                live.control.lives = [other for other in live.control.lives if other is not live]

    def parent_of(self, invocation: Invocation) -> BaseRun | None:
        """The run of the nearest graph around this one, in the same invocation."""
        if invocation.control is None or not invocation.namespace:
            return None
        with self._lock:
            control = self._controls.get(id(invocation.control))
            lives = [] if control is None else list(control.lives)
        inside = f"{invocation.namespace}|"
        around = [
            live
            for live in lives
            if not live.run.is_over
            and live.place[1] != invocation.namespace
            and inside.startswith(f"{live.place[1]}|" if live.place[1] else "")
        ]
        return max(around, key=lambda live: len(live.place[1])).run if around else None


EVERYONE = Everyone()
