"""Tests of a plugin come out the same whatever else is installed, and print nothing where all is well."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from continuity_core import Boundary, Continuity, Order, Proposal, Resume, Stage, hookimpl
from continuity_core.testing import Played, check_plugin, play

SOURCE = """
from continuity_core import Halt, hookimpl

class Neighbour:
    @hookimpl
    def continuity_turn_ended(self, boundary):
        return Halt("nobody goes on here")
"""
SCRIPT = [{"text": "half", "cut": "rst"}, {"text": "done"}]


@pytest.fixture(autouse=True)
def neighbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution is installed whose plugin halts every run."""
    metadata = tmp_path / "neighbour_dist-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: neighbour-dist\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[continuity]\nneighbour = neighbour_of_tests:Neighbour\n")
    (tmp_path / "neighbour_of_tests.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("neighbour_of_tests", None)


def test_a_script_is_played_with_the_bundled_plugins_and_those_handed_over() -> None:
    assert play(SCRIPT).outcome.text == "done"


def test_a_script_is_played_with_all_that_is_installed_where_that_is_asked_for() -> None:
    played = play(SCRIPT[:1], installed=True)
    assert played.report.no_resume == "neighbour halted recovery: nobody goes on here"


def test_the_fixtures_pass_over_what_is_installed_as_well(
    make_continuity: Callable[..., Continuity], scripted_run: Callable[..., Played]
) -> None:
    assert "neighbour" not in make_continuity().plugins
    assert "neighbour" in make_continuity(installed=True).plugins
    assert scripted_run(SCRIPT).outcome.text == "done"


def test_settings_alone_load_what_is_installed() -> None:
    assert "neighbour" in Continuity.from_settings().plugins


class Alone:
    """Trips over what the neighbour says."""

    order = Order(stage=Stage.GUARD)

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> None:
        assert proposal.halt is None


class Once:
    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> Resume | None:
        return None if boundary.run.resumes else Resume("once more")


def test_a_plugin_is_checked_apart_from_what_else_is_installed() -> None:
    check_plugin(Alone, examples=0)


def test_an_installed_plugin_is_checked_by_its_name() -> None:
    check_plugin("neighbour", examples=0)


def test_a_plugin_that_is_fine_is_checked_without_a_word(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="continuity"):
        check_plugin(Once, examples=5)
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")


def test_the_log_is_as_before_after_a_check(caplog: pytest.LogCaptureFixture) -> None:
    check_plugin(Once, examples=0)
    play([{"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}])
    assert "failed" in caplog.text
