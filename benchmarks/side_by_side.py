"""A host alone and with continuity, on the same faults: outcome, requests and tools executed.

Plays every scenario of a file twice against the real framework and prints a table in Markdown. Run it where
the host's extra is installed:

    python benchmarks/side_by_side.py --host openhands tests/data/scenarios.json
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from continuity_core.testing.conformance import TIME_LIMIT, Scenario, load_host, read_scenarios
from continuity_core.testing.conformance.features import features_of, not_applicable
from continuity_core.testing.conformance.host import ConformanceHost, Mode
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.conformance.playing import Stage
from continuity_core.testing.fault_server import FaultServer

HEAD = (
    "| scenario | alone | requests | tools | with continuity | requests | tools |",
    "|---|---|---|---|---|---|---|",
)
_SHOWN = 24


async def rows(host: ConformanceHost, scenarios: Sequence[Scenario], mode: Mode) -> list[str]:
    """A row for each scenario that says something of this host in this mode."""
    found = []
    async with FaultServer() as server:
        stage = Stage(host=host, server=server, time_limit=TIME_LIMIT)
        for scenario in scenarios:
            needed = features_of(scenario, mode.stream)
            if not_applicable(scenario, mode.stream) or any(host.cannot(one, mode) for one in needed):
                continue
            alone = await stage.play(scenario, mode, None, ("response",))
            kept = await stage.play(scenario, mode, scenario.settings)
            found.append(f"| {scenario.name} | {_cells(alone)} | {_cells(kept)} |")
    return found


def _cells(observed: Observed) -> str:
    return f"{_outcome(observed)} | {len(observed.requests)} | {_tools(observed.tools_run)}"


def _outcome(observed: Observed) -> str:
    """What the caller got for the last user request."""
    if not observed.results:
        return "no end"
    last = observed.results[-1]
    if last.aborted:
        return "aborted"
    if last.text is None:
        return "error"
    text = " ".join(last.text.split())
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    whole = last.stop in (None, "stop", "tool_use")
    return f"{shown or '(nothing)'}" if whole else f"{shown or '(nothing)'}, as if whole"


def _tools(tools: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {times}" for name, times in tools.items()) or "–"


def table(host_name: str, file: Path, *, dialect: str | None = None, stream: bool = True) -> str:
    """The whole table, as the documentation shows it."""
    host = load_host(host_name)
    mode = Mode(dialect=dialect or host.dialects[0], stream=stream)

    async def played() -> list[str]:
        try:
            return await rows(host, read_scenarios(file), mode)
        finally:
            await host.aclose()

    return "\n".join([*HEAD, *anyio.run(played)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="the scenarios")
    parser.add_argument("--host", required=True, help="e.g. openhands; or module:class")
    parser.add_argument("--dialect", help="by default the host's first")
    parser.add_argument("--plain", action="store_true", help="without streaming")
    given = parser.parse_args()
    logging.getLogger("continuity").setLevel(logging.CRITICAL)  # Every scenario is a failure on purpose.
    print(table(given.host, given.file, dialect=given.dialect, stream=not given.plain))


if __name__ == "__main__":
    main()
