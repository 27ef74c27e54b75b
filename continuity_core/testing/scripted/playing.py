"""Playing a script on the reference session, and looking at what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import anyio
import attrs

from continuity_core.continuity import Continuity
from continuity_core.hosts.reference import AgentSession, ModelRequest, SessionOutcome, Tool
from continuity_core.model.events import Event, EventKind
from continuity_core.model.report import Report
from continuity_core.testing.clocks import OnWait, VirtualClock
from continuity_core.testing.scripted.model import OUTPUT_LIMIT, ScriptedModel, ScriptedTurn, ScriptOver


@attrs.frozen(kw_only=True)
class PlayedRequest:
    """What one request carried."""

    request: ModelRequest

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its entries in order: the user's, the model's, the tools' results."""
        return tuple(entry.text for entry in self.request.entries)

    @property
    def user_texts(self) -> tuple[str, ...]:
        """Those in the user's role."""
        return tuple(entry.text for entry in self.request.entries if entry.role == "user")

    @property
    def max_output_tokens(self) -> int | None:
        """The output limit that it asked for."""
        return self.request.max_output_tokens

    def mentions(self, text: str) -> bool:
        """Whether ``text`` stands in an entry: in its text, its reasoning, or the arguments of a call."""
        return any(
            text in told
            for entry in self.request.entries
            for told in (entry.text, entry.reasoning, *(call.arguments for call in entry.calls))
        )


@attrs.frozen(kw_only=True)
class Resumed:
    """One turn that continuity asked for."""

    plugin: str
    reason: str
    budget: str | None


@attrs.frozen(kw_only=True)
class Played:
    """What came of a script."""

    requests: tuple[PlayedRequest, ...]
    resumes: tuple[Resumed, ...]
    """In order; its length is their number."""
    waits: tuple[float, ...]
    """Seconds of every wait that began."""
    outcomes: tuple[SessionOutcome, ...]
    """What the session gave for each prompt."""
    events: tuple[Event, ...]
    unused: int
    """Turns of the script that nothing asked for."""

    @property
    def outcome(self) -> SessionOutcome:
        """What the session gave for the last prompt."""
        return self.outcomes[-1]

    @property
    def report(self) -> Report:
        """Continuity's report of the last run."""
        assert self.outcome.report is not None
        return self.outcome.report

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of the resumes, in order."""
        return tuple(resumed.reason for resumed in self.resumes)

    def of_kind(self, kind: EventKind) -> tuple[Event, ...]:
        """The events of one kind."""
        return tuple(event for event in self.events if event.kind is kind)


async def play_async(
    script: Iterable[ScriptedTurn],
    *,
    prompts: Iterable[str] = ("Finish the task",),
    settings: Mapping[str, Any] | None = None,
    plugins: Iterable[object] = (),
    installed: bool = False,
    tools: Iterable[Tool | Callable[..., Any]] = (),
    native_retries: int = 0,
    max_output_tokens: int | None = OUTPUT_LIMIT,
    clock: VirtualClock | None = None,
    on_wait: OnWait | None = None,
) -> Played:
    """Play a script on the reference session with continuity, on a virtual clock.

    ``settings`` are the keys of ``[tool.continuity]``, trusted, and no other configuration counts;
    ``plugins`` are classes or instances added to the bundled ones. What else is installed does not count, so
    that a test comes out the same everywhere, unless ``installed`` is true. ``on_wait`` is called when a wait
    begins. Raises :class:`ConfigurationError` for settings or plugins that are refused, ``ScriptError`` for a
    turn that cannot be played, and :class:`ScriptOver` where more is requested than the script has.
    """
    clock = clock or VirtualClock()
    if on_wait is not None:
        clock.on_wait = on_wait
    first_wait = len(clock.waits)
    events: list[Event] = []
    continuity = Continuity.from_settings(
        settings, plugins=plugins, installed=installed, clock=clock, on_event=events.append
    )
    model = ScriptedModel(script, max_output_tokens=max_output_tokens)
    session = AgentSession(model, tools=tools, continuity=continuity, native_retries=native_retries)
    try:
        outcomes = [await session.run(prompt) for prompt in prompts]
    except BaseExceptionGroup as group:
        raise _leaf(group) from None
    return Played(
        requests=tuple(PlayedRequest(request=request) for request in model.requests),
        resumes=tuple(_resumed(events)),
        waits=tuple(wait.seconds for wait in clock.waits[first_wait:]),
        outcomes=tuple(outcomes),
        events=tuple(events),
        unused=model.unused,
    )


def play(
    script: Iterable[ScriptedTurn],
    *,
    backend: Literal["asyncio", "trio"] = "asyncio",
    **options: Any,
) -> Played:
    """As :func:`play_async`, with the same options, from code without an event loop.

    For example::

        played = play([{"text": "half", "cut": "rst"}, {"text": "done"}], plugins=[MyPlugin])
        assert played.outcome.text == "done"
        assert played.waits == (5,)
        assert [resumed.plugin for resumed in played.resumes] == ["stream-recovery"]
    """
    return anyio.run(partial(play_async, script, **options), backend=backend)


def _resumed(events: Iterable[Event]) -> Iterable[Resumed]:
    for event in events:
        if event.kind is EventKind.BOUNDARY and event.data["outcome"] == "scheduled":
            said: Any = event.data["resume"]
            yield Resumed(plugin=said["plugin"], reason=said["reason"], budget=said["budget"])


def _leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The end of the script, if that is in the group; else the group itself."""
    for inner in group.exceptions:
        found = _leaf(inner) if isinstance(inner, BaseExceptionGroup) else inner
        if isinstance(found, ScriptOver):
            return found
    return group
