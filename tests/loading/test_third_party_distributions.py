"""Third parties' distributions beside ours, in a process of its own, as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

OURS = {
    "length-resume",
    "partial-checkpoint",
    "projection-redaction",
    "provider-errors",
    "run-limits",
    "stream-recovery",
    "tool-tail",
    "usage-limit-wait",
}

WORKING = """
    import attrs
    from continuity_core import Order, Stage, count, hookimpl, option

    @attrs.frozen(kw_only=True)
    class Options:
        strength: int = option(3, read=count, help="How hard.")

    @attrs.frozen(eq=False)
    class Working:
        Options = Options
        order = Order(stage=Stage.TAIL, runs_before=("tool-tail",))
        options: Options

        @hookimpl
        def continuity_before_settle(self, boundary): ...
"""

BROKEN = {
    "raises-on-import": "raise ImportError('a library of ours is missing')",
    "exits-on-import": "import sys\nsys.exit('good-bye')",
    "raises-when-made": "class Plugin:\n    def __init__(self):\n        raise RuntimeError('not now')",
    "misspells-a-hook": (
        "from continuity_core import hookimpl\n"
        "class Plugin:\n"
        "    @hookimpl\n"
        "    def continuity_turn_endet(self, boundary): ...\n"
    ),
    "stream-recovery": "class Plugin: ...",
}

CAUSES = {
    "raises-on-import": "importing it raises ImportError: a library of ours is missing",
    "exits-on-import": "importing it raises SystemExit: good-bye",
    "raises-when-made": "making an instance of it raises RuntimeError: not now",
    "misspells-a-hook": "continuity_turn_endet is no hook of continuity. Did you mean continuity_turn_ended?",
    "stream-recovery": "its name belongs to continuity-core's own plugin",
    "twice": "and neither is loaded",
}

Installer = tuple[Path, Callable[..., Path]]


def continuity(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with the distributions in ``folder`` on the path."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "continuity_core.cli", *arguments],
        cwd=folder,
        env={**os.environ, **variables, "PYTHONPATH": path, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def crowd(install_elsewhere: Installer) -> Path:
    """A folder with one distribution that works and one of each kind that does not."""
    folder, install = install_elsewhere
    install("working-dist", {"working": "working_plugin:Working"}, {"working_plugin": WORKING}, "1.4")
    for name, source in BROKEN.items():
        module = f"broken_{name.replace('-', '_')}"
        install(f"{name}-dist", {name: f"{module}:Plugin"}, {module: source}, "0.3")
    install("one-dist", {"twice": "working_plugin:Working"}, version="0.3")
    install("other-dist", {"twice": "working_plugin:Working"}, version="0.3")
    return folder


def test_each_broken_plugin_is_reported_by_name_and_everything_else_works(crowd: Path) -> None:
    done = continuity(crowd, "plugins", "--json", CONTINUITY_WORKING__STRENGTH="5")

    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    on = [row["name"] for row in table if row["state"] == "on"]
    assert set(on) == (OURS - {"partial-checkpoint"}) | {"working"}
    assert on.index("working") + 1 == on.index("tool-tail")
    [working] = [row for row in table if row["name"] == "working"]
    assert working == {
        "order": on.index("working") + 1,
        "stage": "tail",
        "name": "working",
        "distribution": "working-dist",
        "version": "1.4",
        "hooks": ["continuity_before_settle"],
        "state": "on",
        "options": {
            "strength": {"value": 5, "source": "environment", "where": "CONTINUITY_WORKING__STRENGTH"}
        },
    }
    broken = {row["name"]: row["state"] for row in table if row["state"].startswith("broken")}
    assert set(broken) == set(CAUSES)
    for name, cause in CAUSES.items():
        assert broken[name].startswith("broken: ")
        assert cause in broken[name]
        [warning, *rest] = [line for line in done.stderr.splitlines() if f'plugin "{name}" (' in line]
        assert f"{name}-dist 0.3) is left out: " in warning or name == "twice"
        assert cause in warning
        assert "To silence this: disable = [" in warning
        assert len(rest) == (name == "twice")


def test_what_is_disabled_is_silent(crowd: Path) -> None:
    names = ",".join([*(name for name in CAUSES if name in BROKEN and name != "stream-recovery"), "twice"])

    done = continuity(crowd, "plugins", CONTINUITY_DISABLE=f"{names},stream-recovery-dist")

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("off by the environment (CONTINUITY_DISABLE)") == len(CAUSES) + 1


def test_an_empty_list_of_plugins_leaves_redaction_alone(crowd: Path) -> None:
    done = continuity(crowd, "plugins", "--json", CONTINUITY_PLUGINS="")

    assert [row["name"] for row in json.loads(done.stdout) if row["state"] == "on"] == [
        "projection-redaction"
    ]
    assert done.stderr == ""
    assert (done.returncode, len(json.loads(done.stdout))) == (0, len(OURS) + len(CAUSES) + 2)


def test_a_required_plugin_that_is_broken_is_an_error_and_not_a_traceback(crowd: Path) -> None:
    done = continuity(crowd, "plugins", CONTINUITY_REQUIRE="raises-on-import; working>=2")

    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert '"raises-on-import" is required, and plugin "raises-on-import"' in done.stderr
    assert '"working>=2" is required, and plugin "working" (working-dist 1.4) has 1.4' in done.stderr
