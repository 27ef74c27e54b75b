"""What it takes to start: imports and ``continuity --version``, beside the import of the four dependencies.

    python benchmarks/start.py
    python benchmarks/start.py --short

Each figure is the processor time inside a fresh process, without the start of the interpreter; the programs
take turns, and each ratio is the median over the rounds. Compiled files are there after the first round,
which does not count.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from measuring import Measured, Target, median_ratio, report

ROUNDS, ROUNDS_SHORT = 25, 9
DEPENDENCIES = "import pluggy, attrs, anyio, tenacity"
LOADED = "from continuity_core import Continuity\nContinuity.from_settings({}, installed=False)"
PROGRAMS = {
    "the four dependencies": DEPENDENCIES,
    "import continuity_core": "import continuity_core",
    "continuity --version": "from continuity_core.cli import main\nmain(['--version'])",
    "import click": "import click",
    "every public name": "from continuity_core import *",
    "dependencies, then every public name": f"{DEPENDENCIES}\nfrom continuity_core import *",
    "the plugins loaded": LOADED,
}
TIMED = "from time import process_time\nbegun = process_time()\n{program}\nprint(process_time() - begun)"

COUNTED = """
import sys
import attrs
from continuity_core import *
modules = [module for name, module in sys.modules.items() if name.startswith("continuity_core")]
values = [value for module in modules for value in vars(module).values()]
print(len({value for value in values if isinstance(value, type) and attrs.has(value)}))
"""


def milliseconds(program: str) -> float:
    """Processor time of the program in a process of its own."""
    command = [sys.executable, "-P", "-c", TIMED.format(program=program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1]) * 1e3


def attrs_classes() -> int:
    """How many classes attrs builds for all public names: each is compiled when it is imported."""
    done = subprocess.run([sys.executable, "-P", "-c", COUNTED], capture_output=True, text=True, check=True)
    return int(done.stdout)


def measure(short: bool) -> Measured:
    """All programs in turn."""
    rounds = ROUNDS_SHORT if short else ROUNDS
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    names = list(PROGRAMS)
    for number in range(rounds + 1):
        for name in names if number % 2 else names[::-1]:
            taken = milliseconds(PROGRAMS[name])
            if number:
                times[name].append(taken)
    base = times["the four dependencies"]
    ratios = {name: round(median_ratio(taken, base), 2) for name, taken in times.items()}
    return Measured(
        targets=[
            Target(what=name, measured=ratios[name], target=1.5)
            for name in ("import continuity_core", "continuity --version")
        ],
        figures={
            "milliseconds": {name: round(statistics.median(taken), 1) for name, taken in times.items()},
            "to_the_dependencies": ratios,
            "attrs_classes": attrs_classes(),
        },
    )


if __name__ == "__main__":
    sys.exit(report(measure, name="start", about=str(__doc__).partition("\n")[0]))
