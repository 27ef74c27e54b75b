"""A plugin that adds text for the model is off until trusted configuration names it."""

from __future__ import annotations

import pytest

from continuity_core import Continuity


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
