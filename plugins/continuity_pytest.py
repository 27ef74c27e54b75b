"""Fixtures for tests of recovery; pytest finds them by itself where continuity-core is installed.

A module of its own beside the packages: pytest imports it in every test run, also in one that has nothing to
do with recovery, so it must cost nothing. What the fixtures need is imported when one is used, which also
keeps it out of the way of a coverage measurement that starts after pytest's plugins are loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from continuity_core import Continuity
    from continuity_core.testing import Played, ThreadedFaultServer, VirtualClock


@pytest.fixture
def virtual_clock() -> VirtualClock:
    """A clock that jumps over every wait and records it; it starts at 2026-03-01T12:00:00Z."""
    from continuity_core.testing.clocks import VirtualClock

    return VirtualClock()


@pytest.fixture
def make_continuity(virtual_clock: VirtualClock) -> Callable[..., Continuity]:
    """Make a ``Continuity`` on the test's ``virtual_clock``, from settings and plugins alone.

    ``make_continuity(settings, plugins=[…], on_event=…)``: neither files, environment variables nor third
    parties' installed plugins count; ``installed=True`` adds the last.
    """
    from continuity_core import Continuity

    def make(settings: Mapping[str, Any] | None = None, **options: Any) -> Continuity:
        return Continuity.from_settings(settings, clock=virtual_clock, **{"installed": False, **options})

    return make


@pytest.fixture
def scripted_run(virtual_clock: VirtualClock) -> Callable[..., Played]:
    """Play a script on the reference session and the test's ``virtual_clock``.

    ``scripted_run(script, plugins=[…], settings={…})``, with the options of ``continuity_core.testing.play``.
    """
    from continuity_core.testing.scripted import play

    def run(script: Iterable[Any], **options: Any) -> Played:
        return play(script, clock=virtual_clock, **options)

    return run


@pytest.fixture
def fault_server() -> Iterator[ThreadedFaultServer]:
    """A provider on loopback that fails on demand, in a thread of its own: ``fault_server.play([…])`` first.

    The test fails where a request was one that no provider accepts. Needs the extra ``demo``.
    """
    from continuity_core.testing.fault_server import FaultServer

    with FaultServer.in_thread() as server:
        yield server
        violations = server.violations
    if violations:
        pytest.fail("\n".join(violations), pytrace=False)
