"""The public names of the testing kit, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import continuity_core.testing
import continuity_core.testing.fault_server

MODULES = [continuity_core.testing, continuity_core.testing.fault_server]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_exists_and_a_wrong_one_is_an_attribute_error(module: object) -> None:
    assert all(getattr(module, name) is not None for name in module.__all__)  # type: ignore[attr-defined]
    assert set(continuity_core.testing.__all__) <= set(dir(continuity_core.testing))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_runs_on_a_scripted_model_need_no_optional_package() -> None:
    program = """
import sys
for name in ("h11", "click", "rich", "openai", "anthropic", "httpx2", "pytest"):
    sys.modules[name] = None
from continuity_core.testing import VirtualClock, check_plugin, play
print(play([{"text": "half", "cut": "rst"}, {"text": "done"}]).outcome.text)
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
