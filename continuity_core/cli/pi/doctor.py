"""Looking whether Pi and the extension work together here: versions, places, and one real recovery."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from continuity_core.hosts.pi.entry import entry_command, is_entry, write_entry
from continuity_core.hosts.pi.installing import place_of
from continuity_core.hosts.pi.programs import OLDEST_PI, NotFoundError, PiProgram, find_pi, node_version
from continuity_core.model.masking import masked, printable

SELF_TEST_SECONDS = 90.0


@attrs.frozen
class Finding:
    """One line of the doctor's answer."""

    what: str
    good: bool | None
    """``None``: worth knowing, neither good nor bad."""
    text: str


def examine(pi: str | None = None, project: Path | None = None) -> Iterator[Finding]:
    """Look at everything, one finding after the other; the self-test comes last and takes a few seconds."""
    yield Finding("python", True, f"{sys.executable} ({sys.version.split()[0]})")
    for what, place in (
        ("installed for you", place_of(None)),
        ("installed here", place_of(project or Path.cwd())),
    ):
        yield _look_at_place(what, place)
    try:
        program = find_pi(pi)
    except NotFoundError as error:
        yield Finding("pi", False, str(error))
        return
    yield _look_at_node(program)
    yield _look_at_version(program)
    yield _attempt("self-test", lambda: self_test(program))


def _look_at_place(what: str, place: Path) -> Finding:
    if not is_entry(place):
        return Finding(what, None, f"no ({place})")
    command = entry_command(place)
    interpreter = Path(command[0]) if command else None
    if interpreter is None or not interpreter.exists():
        return Finding(what, False, f"{place} names {interpreter}, which is gone: continuity pi install")
    return Finding(what, True, f"{place}, runs {interpreter}")


def _look_at_node(program: PiProgram) -> Finding:
    if len(program.command) == 1:
        return Finding("node", None, "Pi's own executable chooses it")
    version = node_version(program.command[0])
    told = "does not run" if version is None else ".".join(map(str, version))
    return Finding("node", version is not None, f"{program.command[0]} ({told})")


def _look_at_version(program: PiProgram) -> Finding:
    version = program.version
    if version is None:
        return Finding("pi", None, f"{program.command[-1]} (version unknown)")
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    oldest = ".".join(map(str, OLDEST_PI))
    if numbers < OLDEST_PI:
        return Finding("pi", False, f"{program.command[-1]} is {version}: {oldest} or newer is needed")
    return Finding("pi", True, f"{program.command[-1]} ({version})")


def _attempt(what: str, test: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, test())
    except ModuleNotFoundError as error:
        return Finding(what, None, f"it needs the package {error.name}: pip install 'continuity-core[pi]'")
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return Finding(what, False, printable(masked(str(error)), 1000))


def self_test(program: PiProgram) -> str:
    """Let Pi ask a provider on loopback that cuts its first answer. Raises :class:`RuntimeError`.

    Nothing of the user's own is read or written: Pi gets an agent directory of its own.
    """
    from continuity_core.testing.fault_server import FaultServer

    script = [{"text": "half an answer", "stop": "length"}, {"text": "whole again"}]
    with (
        FaultServer.in_thread(script) as server,
        tempfile.TemporaryDirectory(prefix="continuity-pi-") as name,
    ):
        folder = Path(name)
        model = {"id": "scripted", "maxTokens": 64, "contextWindow": 200_000}
        provider = {
            "baseUrl": server.base_url,
            "api": "openai-completions",
            "apiKey": "any",
            "models": [model],
        }
        (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}), encoding="utf-8")
        entry = write_entry(folder / "continuity")
        done = subprocess.run(
            [*program.command, "-p", "--no-session", "-e", str(entry), "--model", "local/scripted", "Hello"],
            cwd=folder,
            env={**_without_ours(), "PI_CODING_AGENT_DIR": name, "PI_OFFLINE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SELF_TEST_SECONDS,
            check=False,
        )
        asked = len(server.requests)
    if done.returncode == 0 and done.stdout.strip() == "whole again" and asked == 2:
        return "an answer that was cut was asked for again and came whole"
    told = done.stderr.strip() or done.stdout.strip()
    raise RuntimeError(f"Pi ended with status {done.returncode} after {asked} of 2 requests: {told}")


def _without_ours() -> dict[str, str]:
    """The environment without this project's variables: the self-test is not to depend on them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CONTINUITY_")}
