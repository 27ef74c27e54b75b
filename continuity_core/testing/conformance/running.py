"""Playing scenarios in every mode of a host."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

import attrs

from continuity_core.continuity import Continuity
from continuity_core.loading.errors import ConfigurationError, Problem
from continuity_core.testing.conformance.comparing import differences
from continuity_core.testing.conformance.features import features_of, not_applicable
from continuity_core.testing.conformance.host import ConformanceHost, Mode
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.observing import observe_differences, observe_settings
from continuity_core.testing.conformance.parsing import ScenarioError
from continuity_core.testing.conformance.playing import play_once
from continuity_core.testing.conformance.scenario import Scenario
from continuity_core.testing.fault_server import FaultServer

TIME_LIMIT = 30.0
"""Real seconds that a scenario may take in one mode; waits of continuity take none."""


class Status(StrEnum):
    """What became of a scenario in one mode."""

    PASS = "pass"
    FAIL = "FAIL"
    UNSUPPORTED = "unsupported"


@attrs.frozen(kw_only=True)
class Result:
    """One scenario in one mode."""

    scenario: Scenario
    mode: Mode
    status: Status
    reasons: tuple[str, ...] = ()
    """What differed, or why it is not supported."""
    seconds: float = 0.0
    """Real time that it took."""
    observed: Observed | None = None
    """What was seen; with ``observe`` what was seen in observe mode."""

    def __str__(self) -> str:
        line = f"{self.status.value}  {self.scenario.name} [{self.mode}]"
        return f"{line}: {'; '.join(self.reasons)}" if self.reasons else line


def modes_of(
    host: ConformanceHost, scenario: Scenario, dialects: Sequence[str] | None = None
) -> Iterator[Mode]:
    """The modes in which the host plays the scenario, streaming first."""
    for dialect in host.dialects if dialects is None else dialects:
        for stream in (True, False):
            if scenario.host.stream in (None, stream):
                yield Mode(dialect=dialect, stream=stream)


def selected(scenarios: Sequence[Scenario], pattern: str | None) -> tuple[Scenario, ...]:
    """The scenarios whose name matches the glob ``pattern``; all without one."""
    if pattern is None:
        return tuple(scenarios)
    return tuple(scenario for scenario in scenarios if fnmatch.fnmatchcase(scenario.name, pattern))


def check_settings(scenarios: Sequence[Scenario], where: str = "scenarios") -> None:
    """Raise :class:`ScenarioError` with every setting that continuity does not accept."""
    problems: list[Problem] = []
    for scenario in scenarios:
        try:
            Continuity.from_settings(scenario.settings)
        except ConfigurationError as error:
            place = f"{where}: {scenario.name}.settings"
            problems += [
                Problem(where=place, what=f"{problem.where}: {problem.what}", mend=problem.mend)
                for problem in error.problems
            ]
    if problems:
        raise ScenarioError(problems)


async def run_scenarios(
    host: ConformanceHost,
    scenarios: Sequence[Scenario],
    *,
    dialects: Sequence[str] | None = None,
    observe: bool = False,
    time_limit: float = TIME_LIMIT,
    on_result: Callable[[Result], object] | None = None,
) -> tuple[Result, ...]:
    """Play the scenarios one after another and give the results in order; ``on_result`` sees each at once.

    With ``observe``, each is played without continuity and with it in observe mode, and the two are compared;
    waits are held in neither, so actions at waits are left out.
    """
    results: list[Result] = []
    async with FaultServer() as server:
        try:
            for scenario in scenarios:
                for mode in modes_of(host, scenario, dialects):
                    result = await _run_one(host, scenario, mode, server, observe, time_limit)
                    results.append(result)
                    if on_result is not None:
                        on_result(result)
        finally:
            await host.aclose()
    return tuple(results)


async def _run_one(
    host: ConformanceHost,
    scenario: Scenario,
    mode: Mode,
    server: FaultServer,
    observe: bool,
    time_limit: float,
) -> Result:
    why_not = _unsupported(host, scenario, mode)
    if why_not:
        return Result(scenario=scenario, mode=mode, status=Status.UNSUPPORTED, reasons=why_not)
    start = time.perf_counter()
    if observe:
        observed, reasons = await _observe(host, scenario, mode, server, time_limit)
    else:
        observed = await play_once(
            host, scenario, mode, server, settings=scenario.settings, time_limit=time_limit
        )
        reasons = differences(scenario, observed, host.adds_text)
    return Result(
        scenario=scenario,
        mode=mode,
        status=Status.FAIL if reasons else Status.PASS,
        reasons=reasons,
        seconds=time.perf_counter() - start,
        observed=observed,
    )


async def _observe(
    host: ConformanceHost, scenario: Scenario, mode: Mode, server: FaultServer, time_limit: float
) -> tuple[Observed, tuple[str, ...]]:
    plays = [
        await play_once(
            host,
            scenario,
            mode,
            server,
            settings=settings,
            time_limit=time_limit,
            during=("response",),
        )
        for settings in (None, observe_settings(scenario.settings))
    ]
    return plays[1], observe_differences(*plays)


def _unsupported(host: ConformanceHost, scenario: Scenario, mode: Mode) -> tuple[str, ...]:
    why = not_applicable(scenario, mode.stream)
    if why is not None:
        return (why,)
    reasons = ((feature, host.cannot(feature, mode)) for feature in features_of(scenario, mode.stream))
    return tuple(f"{feature.value}: {reason}" for feature, reason in reasons if reason is not None)
