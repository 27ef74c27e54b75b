"""What every test relies on: a clean environment, both event loops, and one way to search for examples."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

CHECKOUT = Path(__file__).resolve().parent.parent

# Deadlines and "too slow" measure the machine, not the code: shared cores make both fail at random.
settings.register_profile(
    "here",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=DirectoryBasedExampleDatabase(CHECKOUT / ".hypothesis" / "examples"),
)
settings.register_profile(
    "ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None, print_blob=True
)
# For a search of many minutes, in which one example a second is far too slow: "nox -s fuzz".
settings.register_profile(
    "fuzz", max_examples=40_000, deadline=timedelta(seconds=1), database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "here")

HOME_VARIABLES = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
XDG_VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Asynchronous tests run on both loops; a test bound to one loop overrides this fixture beside itself."""
    return str(request.param)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths of home folders that do not exist yet, one a test, at no cost for a test that writes none."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> None:
    """Neither a developer's variables nor their own configuration file reach a test."""
    for name in list(os.environ):
        if name.startswith("CONTINUITY_"):
            monkeypatch.delenv(name)
    home = next(homes)
    for name in HOME_VARIABLES:
        monkeypatch.setenv(name, str(home))
    for name in XDG_VARIABLES:
        monkeypatch.setenv(name, str(home / name.removeprefix("XDG_").lower()))
