"""Playing one scenario once, in one mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import attrs

from continuity_core.model.events import Event, EventKind
from continuity_core.model.masking import shown
from continuity_core.testing.clocks import VirtualClock
from continuity_core.testing.conformance.directing import Director
from continuity_core.testing.conformance.host import ConformanceHost, HostResult, Mode, Play, PlayedTool
from continuity_core.testing.conformance.loading import Loads
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.scenario import During, Scenario
from continuity_core.testing.fault_server import FaultServer


@attrs.define(kw_only=True, eq=False)
class _Runs:
    """The runs of continuity, as its events tell of them; those of sub-agents are part of their parents'."""

    started: list[str] = attrs.field(factory=list)
    settled: dict[str, Mapping[str, Any]] = attrs.field(factory=dict)

    def on_event(self, event: Event) -> None:
        if event.kind is EventKind.RUN_STARTED and event.data.get("parent") is None:
            self.started.append(event.run)
        elif event.kind is EventKind.RUN_SETTLED and event.run in self.started:
            self.settled[event.run] = event.data

    @property
    def resumes(self) -> int:
        return sum(int(data["resumes"]) for data in self.settled.values())

    @property
    def cause(self) -> str | None:
        last = self.settled.get(self.started[-1]) if self.started else None
        return None if last is None else last.get("cause")

    @property
    def unsettled(self) -> int:
        return len(set(self.started) - set(self.settled))


@attrs.frozen(kw_only=True, eq=False)
class Stage:
    """A host and its scripted provider, on which one scenario is played after the other."""

    host: ConformanceHost
    server: FaultServer
    """Running."""
    time_limit: float
    """Real seconds that a play may take."""
    loads: Loads = attrs.field(factory=Loads)

    async def play(
        self,
        scenario: Scenario,
        mode: Mode,
        settings: Mapping[str, Any] | None,
        during: tuple[During, ...] = ("response", "wait"),
    ) -> Observed:
        """Play the scenario under these settings of continuity; ``None``: without it.

        ``during`` says at which moments actions are done. What goes wrong in the host or its driver is a
        problem of the observation, not an exception.
        """
        server = self.server
        server.play(scenario.responses)
        director = Director(scenario=scenario, server=server, during=during)
        runs = _Runs()
        play = self._prepare(scenario, mode, settings, director, runs)
        results: list[HostResult] = []
        cut_short: list[str] = []
        with anyio.move_on_after(self.time_limit) as limit:
            try:
                await _send_prompts(self.host, play, director, results)
            except Exception as error:
                cut_short += [f"the driver raised {name}" for name in _names_of(error)]
        if limit.cancelled_caught:
            stood = _where(scenario, server, play.clock, results)
            cut_short.append(f"no end after {self.time_limit:g} s: {stood}")
        if runs.unsettled and not cut_short:
            director.problems.append(f"{runs.unsettled} runs of continuity were never settled")
        return Observed(
            requests=tuple(server.requests),
            resumes=runs.resumes,
            waits=tuple(play.clock.waits),
            tools_run={tool.name: tool.times_run for tool in play.tools if tool.times_run},
            results=tuple(results),
            cause=runs.cause,
            cut_short=tuple(cut_short),
            problems=(
                *server.violations,
                *director.problems,
                *(f"{action} found no moment" for action in director.not_fired if not cut_short),
            ),
        )

    def _prepare(
        self,
        scenario: Scenario,
        mode: Mode,
        settings: Mapping[str, Any] | None,
        director: Director,
        runs: _Runs,
    ) -> Play:
        clock = VirtualClock(scenario.now, on_wait=director.on_wait)

        def on_event(event: Event) -> None:
            director.on_event(event)
            runs.on_event(event)

        return Play(
            mode=mode,
            root_url=self.server.root_url,
            tools=tuple(
                PlayedTool(name=tool.name, result=tool.result, ends_run=tool.ends_run)
                for tool in scenario.tools
            ),
            native_retries=scenario.host.native_retries,
            idle_timeout=scenario.host.idle_timeout,
            settings=settings,
            now=scenario.now,
            clock=clock,
            continuity=None if settings is None else self.loads.continuity(settings, clock, on_event),
            on_event=on_event,
        )


async def _send_prompts(
    host: ConformanceHost, play: Play, director: Director, results: list[HostResult]
) -> None:
    async with host.open(play) as session, anyio.create_task_group() as tasks:
        director.watch_responses(session, tasks)
        for prompt in director.scenario.prompts:
            results.append(await session.prompt(prompt))
            director.run_ended()
        tasks.cancel_scope.cancel()


def _names_of(error: Exception) -> list[str]:
    if isinstance(error, ExceptionGroup):
        return [name for inner in error.exceptions for name in _names_of(inner)]
    return [f"{type(error).__name__}: {shown(str(error), 300)}"]


def _where(scenario: Scenario, server: FaultServer, clock: VirtualClock, results: list[HostResult]) -> str:
    """Where a play stood when its time was over."""
    held = " while a wait was held" if clock.waits and not _is_over(clock) else ""
    return (
        f"prompt {len(results) + 1} of {len(scenario.prompts)} was going on{held}, "
        f"{len(server.requests)} requests had come"
    )


def _is_over(clock: VirtualClock) -> bool:
    return clock.waits[-1].held or clock.waits[-1].ended_by not in (None, "cancelled")
