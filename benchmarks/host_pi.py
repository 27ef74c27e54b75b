"""What the extension adds to Pi: milliseconds in its handlers, over prompts with answers of 2 KB.

``python benchmarks/host_pi.py`` needs Pi (see docs/hosts/pi.md). The first and the last fifty prompts are
shown apart: what grows with the history shows there.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from measuring import Measured, Target, percentile, report

from continuity_core.hosts.pi.entry import write_entry
from continuity_core.hosts.pi.programs import find_pi
from continuity_core.testing.fault_server import FaultServer

ANSWER = "All work and no play makes a dull answer. " * 49
"""2 KB."""
PROMPTS, PROMPTS_SHORT = 300, 100
BOUNDARIES = ("context", "turn_end", "agent_before_settle", "agent_settled")
ENDS = 50
MILLISECONDS = 1.0
"""At each boundary, at the median."""

TIMED = """
const timed = continuityExtension({ command: COMMAND, judgement });
import { appendFileSync } from "node:fs";
export default (pi) => timed(new Proxy(pi, { get(target, key) {
  if (key !== "on") return target[key];
  return (name, handler) => target.on(name, async (event, ctx) => {
    const start = performance.now();
    try { return await handler(event, ctx); }
    finally { appendFileSync("FILE", `${name} ${performance.now() - start}\\n`); }
  });
} }));
"""


def measure(short: bool) -> Measured:
    """Play the prompts to Pi, once."""
    with tempfile.TemporaryDirectory() as name:
        times = played(Path(name), PROMPTS_SHORT if short else PROMPTS)
    return Measured(
        targets=[
            Target(
                what=f"in Pi's {boundary}",
                measured=round(statistics.median(times[boundary]), 2),
                target=MILLISECONDS,
                unit="ms",
            )
            for boundary in BOUNDARIES
        ],
        figures={"milliseconds": {boundary: figures(times[boundary]) for boundary in BOUNDARIES}},
    )


def figures(times: Sequence[float]) -> dict[str, float]:
    """How long a handler took, and whether it grew."""
    return {
        "median": round(statistics.median(times), 3),
        "median_of_the_first_50": round(statistics.median(times[:ENDS]), 3),
        "median_of_the_last_50": round(statistics.median(times[-ENDS:]), 3),
        "p99": round(percentile(times, 99), 3),
    }


def played(folder: Path, prompts: int) -> dict[str, list[float]]:
    """The prompts, played; gives the times of each handler in order."""
    record = folder / "times"
    with FaultServer.in_thread([{"text": ANSWER}] * prompts) as server:
        command = command_line(folder, server.base_url, record)
        environment = {**os.environ, "PI_CODING_AGENT_DIR": str(folder), "PI_OFFLINE": "1"}
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as pi:
            assert pi.stdin is not None
            assert pi.stdout is not None
            for number in range(prompts):
                pi.stdin.write(json.dumps({"type": "prompt", "message": f"Question {number}"}) + "\n")
                pi.stdin.flush()
                while json.loads(pi.stdout.readline())["type"] != "agent_settled":
                    pass
            pi.stdin.close()
            pi.stdout.read()
        assert not server.violations, server.violations
    times: dict[str, list[float]] = defaultdict(list)
    for line in record.read_text().splitlines():
        boundary, milliseconds = line.split()
        times[boundary].append(float(milliseconds))
    return times


def command_line(folder: Path, base_url: str, record: Path) -> list[str]:
    """Pi's command line with the extension in a stopwatch."""
    model = {"id": "m", "maxTokens": 4096, "contextWindow": 2_000_000}
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "x", "models": [model]}
    (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    (folder / "settings.json").write_text("{}")
    entry = write_entry(folder / "continuity") / "index.js"
    text, _, made = entry.read_text().partition("export default ")
    child = made.partition("command: ")[2].partition(", judgement")[0]
    entry.write_text(text + TIMED.replace("COMMAND", child).replace("FILE", str(record)))
    return [
        *find_pi().command,
        "--mode",
        "rpc",
        "--no-session",
        "-e",
        str(entry.parent),
        "--model",
        "local/m",
    ]


if __name__ == "__main__":
    sys.exit(report(measure, name="host_pi", about="What the extension adds to Pi's boundaries."))
