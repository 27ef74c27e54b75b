"""Playing scenarios in every mode of a host."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

import attrs

from continuity_core.testing.conformance.comparing import differences
from continuity_core.testing.conformance.features import features_of, not_applicable
from continuity_core.testing.conformance.host import ConformanceHost, Mode
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.observing import observe_differences, observe_settings
from continuity_core.testing.conformance.playing import Stage
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

    @property
    def story(self) -> str:
        """Name and mode, and the reasons where there are any."""
        title = f"{self.scenario.name} [{self.mode}]"
        return f"{title}: {'; '.join(self.reasons)}" if self.reasons else title

    def __str__(self) -> str:
        return f"{self.status.value}  {self.story}"


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


async def run_scenarios(
    host: ConformanceHost,
    scenarios: Sequence[Scenario],
    *,
    dialects: Sequence[str] | None = None,
    observe: bool = False,
    time_limit: float = TIME_LIMIT,
    on_start: Callable[[Scenario, Mode], object] | None = None,
    on_result: Callable[[Result], object] | None = None,
) -> tuple[Result, ...]:
    """Play the scenarios one after another and give the results in order.

    ``on_start`` is told of each play before it begins, ``on_result`` of each result at once.

    With ``observe``, each is played without continuity and with it in observe mode, and the two are compared;
    waits are held in neither, so actions at waits are left out.
    """
    results: list[Result] = []
    async with FaultServer() as server:
        stage = Stage(host=host, server=server, time_limit=time_limit)
        try:
            for scenario in scenarios:
                for mode in modes_of(host, scenario, dialects):
                    if on_start is not None:
                        on_start(scenario, mode)
                    result = await _run_one(stage, scenario, mode, observe)
                    results.append(result)
                    if on_result is not None:
                        on_result(result)
        finally:
            await host.aclose()
    return tuple(results)


async def _run_one(stage: Stage, scenario: Scenario, mode: Mode, observe: bool) -> Result:
    why_not = _unsupported(stage.host, scenario, mode)
    if why_not:
        return Result(scenario=scenario, mode=mode, status=Status.UNSUPPORTED, reasons=why_not)
    start = time.perf_counter()
    if observe:
        alone = await stage.play(scenario, mode, None, ("response",))
        observed = await stage.play(scenario, mode, observe_settings(scenario.settings), ("response",))
        reasons = observe_differences(alone, observed)
    else:
        observed = await stage.play(scenario, mode, scenario.settings)
        reasons = differences(scenario, observed, stage.host.adds_text)
    return Result(
        scenario=scenario,
        mode=mode,
        status=Status.FAIL if reasons else Status.PASS,
        reasons=reasons,
        seconds=time.perf_counter() - start,
        observed=observed,
    )


def _unsupported(host: ConformanceHost, scenario: Scenario, mode: Mode) -> tuple[str, ...]:
    why = not_applicable(scenario, mode.stream)
    if why is not None:
        return (why,)
    reasons = ((feature, host.cannot(feature, mode)) for feature in features_of(scenario, mode.stream))
    return tuple(f"{feature.value}: {reason}" for feature, reason in reasons if reason is not None)
