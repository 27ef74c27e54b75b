"""Every scenario on the reference session, through the SDKs' own clients."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from continuity_core.testing.conformance import (
    Result,
    Scenario,
    Status,
    load_host,
    read_scenarios,
    run_scenarios,
)

DATA = Path(__file__).resolve().parents[1] / "data"
SCENARIOS = read_scenarios(DATA / "scenarios.json")
MORE_SCENARIOS = read_scenarios(DATA / "more_scenarios.json")

ON_TRIO = (
    "length-text",
    "length-inside-tool-arguments",
    "cut-stream",
    "throttle-with-header",
    "tool-tail",
    "abort-during-wait",
    "abort-during-response",
    "follow-up-wins",
    "steer-costs-nothing",
)


def named(*names: str) -> tuple[Scenario, ...]:
    found = {scenario.name: scenario for scenario in SCENARIOS}
    return tuple(found[name] for name in names)


def failed(results: tuple[Result, ...]) -> list[str]:
    return [str(result) for result in results if result.status is Status.FAIL]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Every scenario fails on purpose; what the log says of hundreds of them helps nobody."""
    caplog.set_level(logging.CRITICAL, logger="continuity")


@pytest.mark.anyio
async def test_every_scenario_passes_and_only_what_needs_a_stream_is_unsupported_without_one() -> None:
    results = await run_scenarios(load_host("reference"), SCENARIOS)
    assert failed(results) == []
    assert len(results) == 45 * 4 - 2
    unsupported = {result.story for result in results if result.status is Status.UNSUPPORTED}
    reason = "response 1 ends without a finish reason, which only a stream does"
    assert unsupported == {
        f"clean-eof-without-finish [{dialect}]: {reason}" for dialect in ("chat", "anthropic")
    }


@pytest.mark.anyio
async def test_the_project_s_own_further_scenarios_pass() -> None:
    assert failed(await run_scenarios(load_host("reference"), MORE_SCENARIOS)) == []


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"])
# The SDKs leave the generators of a broken stream to the garbage collector, which trio remarks upon.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
async def test_scenarios_pass_on_trio_too() -> None:
    results = await run_scenarios(load_host("reference"), named(*ON_TRIO))
    assert failed(results) == []
    assert {result.status for result in results} == {Status.PASS}


@pytest.mark.anyio
async def test_a_session_that_is_only_observed_does_what_it_does_alone() -> None:
    results = await run_scenarios(
        load_host("reference"), (*SCENARIOS, *MORE_SCENARIOS), dialects=("chat",), observe=True
    )
    assert failed(results) == []
    assert any(result.observed is not None and len(result.observed.requests) > 1 for result in results)


@pytest.mark.anyio
@pytest.mark.smoke
async def test_one_scenario_passes_in_a_fresh_installation() -> None:
    assert failed(await run_scenarios(load_host("reference"), named("length-text"))) == []
