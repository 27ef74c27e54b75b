"""The command line, ``continuity``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_OWN_PACKAGES = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with ``arguments`` (default: the process's own); the result is the exit status.

    0: done; 1: done, and the answer is a bad one; 2: a mistake of the user, or a package that is missing;
    130: interrupted.
    """
    try:
        from continuity_core.cli.application import run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OWN_PACKAGES:
            raise
        print(
            f"continuity: error: the command line needs {package}: pip install 'continuity-core[cli]'",
            file=sys.stderr,
        )
        return 2
    return run(arguments)
