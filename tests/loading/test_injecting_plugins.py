"""A plugin that adds text for the model is off until trusted configuration names it."""

from __future__ import annotations

import pytest

from continuity_core import Boundary, Continuity, hookimpl


def state_of(continuity: Continuity, name: str) -> str:
    return next(row.state for row in continuity.plugins.table if row.name == name)


def test_the_partial_checkpoint_is_off_until_injection_is_allowed() -> None:
    closed = Continuity.from_settings({})
    assert "partial-checkpoint" not in closed.plugins
    assert state_of(closed, "partial-checkpoint") == "off by allow_injection, which does not name it"
    allowed = Continuity.from_settings({"allow_injection": ["partial-checkpoint"]})
    assert state_of(allowed, "partial-checkpoint") == "on"


def test_a_plugin_whose_mark_raises_is_refused_at_registration() -> None:
    class Marked:
        @property
        def injects(self) -> bool:
            raise RuntimeError("no")

    from continuity_core import ConfigurationError

    with pytest.raises(ConfigurationError, match="injects"):
        Continuity.from_settings({}, plugins=[Marked()])


class Reminder:
    injects = True

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> None: ...


def test_one_that_code_hands_over_is_off_with_a_warning_that_says_how_to_allow_it() -> None:
    closed = Continuity.from_settings({}, plugins=[Reminder])
    assert state_of(closed, "reminder") == "off by allow_injection, which does not name it"
    [warning] = closed.plugins.warnings
    assert warning == (
        'plugin "reminder" (code) was handed over and is off: all that it is for is text for the model. '
        'To allow it: allow_injection = ["reminder"]'
    )
    allowed = Continuity.from_settings({"allow_injection": ["reminder"]}, plugins=[Reminder])
    assert allowed.plugins.warnings == ()
    assert Continuity.from_settings(installed=False).plugins.warnings == ()
