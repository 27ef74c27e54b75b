"""What users see of other people's plugins, with wheels that are really installed beside ours.

Not collected with the suite, since it needs an environment with the built wheels of continuity-core and of
the example: ``nox -s plugin_kit`` makes one and runs this file there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

# ------------------------------------------------------------ the machinery


def clean(**variables: str) -> dict[str, str]:
    """The environment without anything of ours, and no folder beside the installed packages."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CONTINUITY_", "PYTHON"))
    }
    return {**kept, **variables}


def run(
    *arguments: str, cwd: Path, code: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, or Python code."""
    command = ["-m", "continuity_core.cli", *arguments] if code is None else ["-c", dedent(code)]
    home = str(cwd / "home")
    return subprocess.run(
        [sys.executable, "-P", "-W", "error", *command],
        cwd=cwd,
        env=clean(HOME=home, USERPROFILE=home, APPDATA=home, XDG_CONFIG_HOME=home, **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def table(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)}


WHEEL = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def make_wheel(folder: Path, name: str, plugins: dict[str, str], source: str, version: str = "1.0") -> Path:
    """A wheel of one module, as a build backend writes it."""
    module = name.replace("-", "_")
    information = f"{module}-{version}.dist-info"
    entries = "".join(f"{plugin} = {module}:{target}\n" for plugin, target in plugins.items())
    files = {
        f"{module}.py": dedent(source),
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{information}/WHEEL": WHEEL,
        f"{information}/entry_points.txt": f"[continuity]\n{entries}",
    }
    record = ""
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in files.items():
            archive.writestr(place, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{place},sha256={digest},{len(text.encode())}\n"
        archive.writestr(f"{information}/RECORD", record + f"{information}/RECORD,,\n")
    return path


def install(folder: Path, *wheels: Path) -> None:
    """Install wheels with pip into a folder that only some of the processes look into."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", "--target", str(folder), *map(str, wheels)],
        env=clean(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


HOOK = """
    from continuity_core import hookimpl
    class Plugin:
        @hookimpl
        def continuity_before_settle(self, boundary): {body}
"""

CROWD = {
    "newer": """
        from continuity_core import hookimpl
        class Plugin:
            spec_version = (0, 9)
            @hookimpl
            def continuity_before_settle(self, boundary): ...
    """,
    "slow": HOOK.format(body="__import__('time').sleep(0.06)"),
    "leaking": HOOK.format(body="raise KeyError('Authorization: Bearer abcdefghijklmnop1234')"),
    "leaving": HOOK.format(body="__import__('sys').exit(3)"),
    "leaving-early": "import sys\nsys.exit('good-bye')\n",
}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which plugins are installed that do not behave."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("crowd")
    made = [make_wheel(wheels, f"{name}-dist", {name: "Plugin"}, source) for name, source in CROWD.items()]
    made += [
        make_wheel(wheels, f"{which}-dist", {"twice": "Plugin"}, HOOK.format(body="..."), "2.1")
        for which in ("one", "other")
    ]
    install(folder, *made)
    return folder


# ------------------------------------------------------------ the example


def test_the_example_is_discovered_in_its_place_of_the_chain(tmp_path: Path) -> None:
    rows = table(run("plugins", "--json", cwd=tmp_path))
    guard = rows["loop-guard"]
    assert (guard["state"], guard["stage"]) == ("on", "guard")
    assert (guard["distribution"], guard["version"]) == ("continuity-loop-guard", "1.0.0")
    assert rows["tool-tail"]["order"] < rows["run-limits"]["order"] < guard["order"]
    assert guard["order"] < rows["projection-redaction"]["order"]


def test_it_is_configured_by_file_and_by_variable(tmp_path: Path) -> None:
    (tmp_path / "continuity.toml").write_text("[plugins.loop-guard]\nturns = 3\n")
    found = table(run("plugins", "--json", cwd=tmp_path))["loop-guard"]["options"]["turns"]
    assert (found["value"], found["source"]) == (3, "project")
    said = table(run("plugins", "--json", cwd=tmp_path, CONTINUITY_LOOP_GUARD__TURNS="5"))
    assert said["loop-guard"]["options"]["turns"]["value"] == 5


def test_a_wrong_option_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "continuity.toml").write_text("[plugins.loop-guard]\ntruns = 3\nturns = 99\n")
    done = run("plugins", "--config", "continuity.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "plugins.loop-guard.truns: unknown option" in done.stderr or 'Did you mean "turns"?' in done.stderr
    assert "plugins.loop-guard.turns: takes a whole number from 2 to 16, not 99" in done.stderr


@pytest.mark.parametrize("name", ["loop-guard", "continuity-loop-guard"])
def test_it_is_disabled_by_its_name_or_that_of_its_distribution(name: str, tmp_path: Path) -> None:
    (tmp_path / "continuity.toml").write_text(f'disable = ["{name}"]\n')
    rows = table(run("plugins", "--json", cwd=tmp_path))
    assert rows["loop-guard"]["state"].startswith("off by the project's file")
    assert rows["tool-tail"]["state"] == "on"


def test_it_works_together_with_the_bundled_ones(tmp_path: Path) -> None:
    done = run(
        cwd=tmp_path,
        code="""
        from continuity_core.testing import play

        call = {"tool_calls": [{"name": "read", "arguments": "{}"}]}
        def read(): return "the same"
        script = [{"text": "half", "cut": "rst"}, *[call] * 4]
        run = play(script, tools=[read], settings={"journal": "runs.jsonl"}, installed=True)
        print(len(run.requests), run.waits, [resumed.plugin for resumed in run.resumes])
        """,
    )
    assert done.stdout == "5 (5.0,) ['stream-recovery']\n", done.stderr
    story = run("explain-run", "runs.jsonl", cwd=tmp_path).stdout
    assert "vetoed: by loop-guard, for the rest of the run: 4 turns in a row called read" in story


@pytest.mark.parametrize(
    ("requirement", "problem"),
    [
        ("continuity-loop-guard>=1,<2", None),
        ("loop-guard", None),
        ("continuity-loop-guard>=2", "(continuity-loop-guard 1.0.0) has 1.0.0. Install a version that fits"),
        ("loop-gard", 'no such plugin or distribution is installed. Install it. Did you mean "loop-guard"?'),
    ],
)
def test_a_version_can_be_required(requirement: str, problem: str | None, tmp_path: Path) -> None:
    done = run("plugins", cwd=tmp_path, CONTINUITY_REQUIRE=requirement)
    assert done.returncode == (0 if problem is None else 2), done.stderr
    assert (problem or "") in done.stderr


# ------------------------------------------------------------ those that do not behave

LOADING = {
    "newer": 'plugin "newer" (newer-dist 1.0) is left out: it is written for a newer hook specification '
    "(0.9; this is 0.1). Upgrade continuity-core. To silence this: "
    'disable = ["newer"], or uninstall newer-dist.',
    "leaving-early": 'plugin "leaving-early" (leaving-early-dist 1.0) is left out: importing it raises '
    "SystemExit: good-bye",
    "one-dist": 'plugin "twice" (one-dist 2.1) is left out: its name is also declared by plugin "twice" '
    '(other-dist 2.1), and neither is loaded. To silence this: disable = ["one-dist"], or uninstall',
}


def test_what_cannot_be_loaded_is_named_and_everything_else_works(crowd: Path, tmp_path: Path) -> None:
    done = run("plugins", "--json", cwd=tmp_path, PYTHONPATH=str(crowd))
    rows = table(done)
    for warning in LOADING.values():
        assert warning in done.stderr
    assert rows["loop-guard"]["state"] == rows["tool-tail"]["state"] == rows["slow"]["state"] == "on"


def test_the_mend_that_a_warning_names_silences_it(crowd: Path, tmp_path: Path) -> None:
    done = run("plugins", cwd=tmp_path, PYTHONPATH=str(crowd), CONTINUITY_DISABLE="newer,leaving-early")
    assert LOADING["newer"] not in done.stderr
    assert LOADING["leaving-early"] not in done.stderr
    assert LOADING["one-dist"] in done.stderr


def test_one_of_two_with_the_same_name_is_chosen_by_disabling_the_other(crowd: Path, tmp_path: Path) -> None:
    done = run("plugins", "--json", cwd=tmp_path, PYTHONPATH=str(crowd), CONTINUITY_DISABLE="one-dist")
    rows = [row for row in json.loads(done.stdout) if row["name"] == "twice"]
    assert [row["distribution"] for row in rows if row["state"] == "on"] == ["other-dist"]


def test_a_required_plugin_that_cannot_be_loaded_is_an_error(crowd: Path, tmp_path: Path) -> None:
    done = run("plugins", cwd=tmp_path, PYTHONPATH=str(crowd), CONTINUITY_REQUIRE="newer")
    assert done.returncode == 2
    assert '"newer" is required, and plugin "newer" (newer-dist 1.0) is broken' in done.stderr


def test_a_plugin_that_raises_exits_or_is_slow_harms_no_run_and_is_named(crowd: Path, tmp_path: Path) -> None:
    done = run(
        cwd=tmp_path,
        PYTHONPATH=str(crowd),
        code="""
        import logging
        logging.basicConfig(format="%(message)s")
        from continuity_core.testing import play
        script = [{"text": "half", "cut": "rst"}, {"text": "done"}]
        print(play(script, settings={"journal": "runs.jsonl"}, installed=True).outcome.text)
        """,
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
    lines = done.stderr.splitlines()
    assert (
        "plugin leaking failed in continuity_before_settle: KeyError: 'Authorization: Bearer ***'; "
        "silence it with disable = ['leaking']"
    ) in lines
    assert (
        "plugin leaving failed in continuity_before_settle: SystemExit: 3; "
        "silence it with disable = ['leaving']"
    ) in lines
    [slow] = [line for line in lines if line.startswith("plugin slow took ")]
    assert slow.endswith("be rid of it with disable = ['slow']")
    assert "abcdefghijklmnop1234" not in done.stderr + (tmp_path / "runs.jsonl").read_text()
    story = run("explain-run", "runs.jsonl", cwd=tmp_path).stdout
    assert "failed: leaving in continuity_before_settle: SystemExit: 3" in story


def test_an_author_s_tests_do_not_notice_what_else_is_installed(crowd: Path, tmp_path: Path) -> None:
    done = run(
        cwd=tmp_path,
        PYTHONPATH=str(crowd),
        code="""
        from continuity_core.testing import check_plugin, play
        from continuity_loop_guard import LoopGuard
        check_plugin(LoopGuard, examples=5, time_limit=1)
        run = play([{"text": "half", "cut": "no_finish"}, {"text": "done"}], plugins=[LoopGuard],
                   settings={"plugins": {"stream-recovery": {"wait": "none"}}})
        print(run.outcome.text, [event.kind for event in run.events if event.kind.startswith("plugin")])
        """,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("done []\n", "", 0)


def test_what_is_deprecated_is_told_with_its_horizon(crowd: Path, tmp_path: Path) -> None:
    done = run(
        cwd=tmp_path,
        PYTHONPATH=str(crowd),
        code="""
        import logging
        logging.basicConfig(format="%(message)s")
        from continuity_core import Continuity
        from continuity_core.loading import compatibility
        compatibility.DEPRECATIONS = (
            compatibility.Deprecation(
                what="continuity_before_settle", since=(0, 1), until=(0, 3), mend="Use another hook."
            ),
        )
        Continuity.load()
        """,
    )
    assert done.returncode == 0, done.stderr
    assert (
        'plugin "slow" (slow-dist 1.0) uses continuity_before_settle, deprecated since hook specification '
        "0.1 and gone in 0.3 (this is 0.1). Its author: Use another hook. You: upgrade it once that is done"
    ) in done.stderr


# ------------------------------------------------------------ a plugin of one's own


def test_a_new_plugin_is_built_installed_tested_and_disabled(tmp_path: Path) -> None:
    assert run("new-plugin", "calm-retry", cwd=tmp_path).returncode == 0
    project, installed = tmp_path / "continuity-calm-retry", tmp_path / "installed"
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(project),
    ]
    done = subprocess.run(build, env=clean(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("*.whl")
    install(installed, wheel)
    path = str(installed)
    rows = table(run("plugins", "--json", cwd=tmp_path, PYTHONPATH=path))
    assert (rows["calm-retry"]["state"], rows["calm-retry"]["version"]) == ("on", "0.1.0")
    tested = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-m", "pytest", "-q", str(project / "tests")],
        cwd=project,
        env=clean(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "5 passed" in tested.stdout, tested.stdout + tested.stderr
    rows = table(run("plugins", "--json", cwd=tmp_path, PYTHONPATH=path, CONTINUITY_DISABLE="calm-retry"))
    assert rows["calm-retry"]["state"].startswith("off by the environment")


def test_a_local_file_is_a_plugin_without_packaging(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "continuity.toml").write_text("max_resumes = 4\n")
    (tmp_path / "mine" / "continuity_local.py").write_text(dedent(HOOK.format(body="...")))
    rows = table(run("plugins", "--json", "--config", "mine/continuity.toml", cwd=tmp_path))
    assert rows["plugin"]["distribution"].endswith("continuity_local.py")
    assert "plugin" not in table(run("plugins", "--json", cwd=tmp_path / "mine"))
