"""The real Pi: these tests run where ``TEST_HOST`` names it, and then fail where it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if os.environ.get("TEST_HOST") == "pi":
    from pi_runs import PiHome
else:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def home(tmp_path: Path) -> PiHome:
    """An agent directory and a working directory of its own."""
    return PiHome(tmp_path / "pi")
