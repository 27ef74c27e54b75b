"""The fixtures, as any test suite has them."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from continuity_core import Continuity, Failure, StopReason, Turn
from continuity_core.testing import Played, ThreadedFaultServer, VirtualClock

pytest_plugins = ["pytester"]

BROKEN = Turn(stop_reason=StopReason.ERROR, failure=Failure.from_text("Connection reset by peer"))


def test_continuity_is_made_on_the_virtual_clock(
    make_continuity: Callable[..., Continuity], virtual_clock: VirtualClock
) -> None:
    continuity = make_continuity({"plugins": {"stream-recovery": {"wait": "fixed(90)"}}})
    with continuity.start_sync_run() as run:
        run.turn_ended(BROKEN)
        assert run.before_settle().resume
    assert [wait.seconds for wait in virtual_clock.waits] == [90]


def test_a_script_is_run_on_the_same_clock(
    scripted_run: Callable[..., Played], virtual_clock: VirtualClock
) -> None:
    played = scripted_run([{"text": "half", "cut": "rst"}, {"text": "done"}])
    assert played.outcome.text == "done"
    assert virtual_clock.now().second == 5


def test_the_fault_server_is_there_for_synchronous_code(fault_server: ThreadedFaultServer) -> None:
    fault_server.play([{"text": "done"}])
    answer = httpx2.post(
        f"{fault_server.base_url}/chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": "Go"}]},
    )
    assert answer.json()["choices"][0]["message"]["content"] == "done"


def test_a_request_that_no_provider_accepts_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import httpx2

        def test_it(fault_server):
            fault_server.play([{"text": "done"}])
            httpx2.post(fault_server.base_url + "/chat/completions", json={"model": "m", "messages": []})
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*request 1: there are no messages*"])


def test_a_run_that_uses_no_fixture_does_not_import_the_core(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            assert "continuity_pytest" in sys.modules
            assert "continuity_core" not in sys.modules
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_fixtures_are_listed_with_what_they_are_for(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--fixtures")
    result.stdout.fnmatch_lines(["*make_continuity*", "*Make a ``Continuity`` on the test's*"])
