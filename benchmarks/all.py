"""All measurements, one after the other.

    python benchmarks/all.py                  # a quarter of an hour; writes results/, pages and pictures
    python benchmarks/all.py scale start      # only these
    python benchmarks/all.py --short          # a minute or two; exits 1 where a figure is far over its target

What needs a framework that is not installed is named and left out. The extra ``bench`` brings them.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from continuity_core.hosts.pi.programs import NotFoundError, find_pi

HERE = Path(__file__).resolve().parent
SCRIPTS = {
    "runs_saved": (),
    "over_http": ("langchain_openai", "openai", "pydantic_ai", "h11"),
    "boundary": (),
    "scale": (),
    "start": ("click",),
    "errors": (),
    "host_langchain": ("langchain",),
    "host_openai_agents": ("agents",),
    "host_pydantic_ai": ("pydantic_ai",),
    "host_pi": ("h11",),
}
"""Each script, and the packages that it needs beside the core."""


def missing(name: str) -> list[str]:
    """What a script needs and is not installed."""
    packages = [package for package in SCRIPTS[name] if importlib.util.find_spec(package) is None]
    return [*packages, "Pi"] if name == "host_pi" and not has_pi() else packages


def has_pi() -> bool:
    """Whether there is a Pi that can be run."""
    try:
        find_pi()
    except NotFoundError:
        return False
    return True


def run(name: str, *, short: bool) -> bool:
    """Run a script; whether it was content."""
    options = ["--short"] if short else ["--json", str(HERE / "results" / f"{name}.json")]
    print(f"— {name}", file=sys.stderr, flush=True)
    command = [sys.executable, str(HERE / f"{name}.py"), *options]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCRIPTS)}; default: all")
    parser.add_argument("--short", action="store_true", help="write nothing; fail where far over a target")
    chosen = parser.parse_args(arguments)
    names = chosen.names or list(SCRIPTS)
    if unknown := [name for name in names if name not in SCRIPTS]:
        parser.error(f"there is no measurement {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    left_out = {name: packages for name in names if (packages := missing(name))}
    failed = [name for name in names if name not in left_out and not run(name, short=chosen.short)]
    if not chosen.short:
        subprocess.run([sys.executable, str(HERE / "pages.py")], check=True)
    for name, packages in left_out.items():
        print(f"{name}: left out, {', '.join(packages)} is not installed", file=sys.stderr)
    for name in failed:
        print(f"{name}: FAILED", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
