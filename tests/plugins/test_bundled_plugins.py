"""What all bundled plugins have in common: they never raise, decide alike every time, and find each other."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import attrs
import pytest
from boundaries import at, said_by
from continuity_plugins.length_resume import LengthResume
from continuity_plugins.partial_checkpoint import PartialCheckpoint
from continuity_plugins.projection_redaction import ProjectionRedaction
from continuity_plugins.provider_errors import ProviderErrors
from continuity_plugins.run_limits import RunLimits
from continuity_plugins.stream_recovery import StreamRecovery
from continuity_plugins.tool_tail import ToolTail
from continuity_plugins.usage_limit_wait import UsageLimitWait
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity_core import (
    Boundary,
    CauseKind,
    Continuity,
    Halt,
    HostFacts,
    Inject,
    Mode,
    Omit,
    Point,
    Proposal,
    Resume,
    Stage,
    Turn,
    Wait,
)
from continuity_core.testing.strategies import boundaries, causes, host_facts, proposals, turns

PLUGINS: dict[str, Any] = {
    "length-resume": LengthResume(LengthResume.Options(output_limit_factor=4, reasoning_effort="low")),
    "stream-recovery": StreamRecovery(StreamRecovery.Options(stop="after_attempt(5)")),
    "usage-limit-wait": UsageLimitWait(UsageLimitWait.Options(max_wait="unlimited")),
    "tool-tail": ToolTail(ToolTail.Options(on_purpose=True, exclude=["write"])),
    "run-limits": RunLimits(RunLimits.Options(max_requests=9, max_output_tokens=999, deadline="1h")),
    "partial-checkpoint": PartialCheckpoint(PartialCheckpoint.Options(max_characters=500)),
}
ALL = (
    LengthResume,
    PartialCheckpoint,
    ProjectionRedaction,
    ProviderErrors,
    RunLimits,
    StreamRecovery,
    ToolTail,
    UsageLimitWait,
)


@settings(max_examples=25)
@pytest.mark.parametrize("name", PLUGINS)
@given(boundary=boundaries(), proposal=proposals())
def test_a_bundled_plugin_never_raises_and_says_the_same_twice(
    name: str, boundary: Boundary, proposal: Proposal
) -> None:
    said = said_by(PLUGINS[name], boundary, proposal)
    assert said == said_by(PLUGINS[name], boundary, proposal)
    if boundary.point is Point.BEFORE_SETTLE:
        assert not any(isinstance(decision, Wait) for decision in said)
    for decision in said:
        assert not isinstance(decision, Inject) or name == "partial-checkpoint"
        assert not isinstance(decision, Halt) or name == "run-limits"
        if isinstance(decision, Omit):
            assert decision.entry in boundary.turn.entries


@settings(max_examples=25)
@given(boundary=boundaries())
def test_no_bundled_plugin_goes_on_after_what_recovery_cannot_mend(boundary: Boundary) -> None:
    if boundary.cause.kind not in (CauseKind.PERMANENT, CauseKind.CANCELLED, CauseKind.CONTEXT_OVERFLOW):
        return
    for plugin in PLUGINS.values():
        assert not any(isinstance(decision, Resume) for decision in said_by(plugin, boundary))


@settings(max_examples=25)
@given(turn=turns(), host=host_facts(), data=st.data())
def test_at_most_one_bundled_plugin_asks_for_the_same_resume(
    turn: Turn, host: HostFacts, data: st.DataObject
) -> None:
    cause = data.draw(causes(turn))
    boundary = attrs.evolve(at(turn, host=host, point=data.draw(st.sampled_from(Point))), cause=cause)
    asking = [
        name
        for name, plugin in PLUGINS.items()
        if any(isinstance(decision, Resume) for decision in said_by(plugin, boundary))
    ]
    assert len(asking) <= 1


def test_every_bundled_plugin_is_found_by_its_entry_point() -> None:
    found = {
        entry.name: entry
        for entry in entry_points(group="continuity")
        if "continuity_plugins." in entry.value
    }
    assert {name: entry.load() for name, entry in found.items()} == {
        "length-resume": LengthResume,
        "partial-checkpoint": PartialCheckpoint,
        "projection-redaction": ProjectionRedaction,
        "provider-errors": ProviderErrors,
        "run-limits": RunLimits,
        "stream-recovery": StreamRecovery,
        "tool-tail": ToolTail,
        "usage-limit-wait": UsageLimitWait,
    }


@pytest.mark.parametrize("plugin", ALL, ids=lambda kind: kind.__name__)
def test_a_bundled_plugin_is_immutable_and_compared_by_identity(plugin: Any) -> None:
    one = plugin()
    assert one == one
    assert one != plugin()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        one.options = None


def test_the_chain_stands_in_the_order_of_the_design() -> None:
    chain = Continuity.load(settings={"allow_injection": ["partial-checkpoint"]}).plugins.plugins
    deciding = [plugin.name for plugin in chain if plugin.name != "provider-errors"]
    assert deciding == [
        "usage-limit-wait",
        "length-resume",
        "stream-recovery",
        "partial-checkpoint",
        "tool-tail",
        "run-limits",
        "projection-redaction",
    ]
    stages = {plugin.name: plugin.order.stage for plugin in chain}
    assert stages["usage-limit-wait"] is Stage.WAIT
    assert stages["partial-checkpoint"] is Stage.RECOVER
    assert stages["tool-tail"] is Stage.TAIL
    assert stages["run-limits"] is Stage.GUARD
    assert stages["projection-redaction"] is Stage.REDACT


def test_nothing_that_adds_text_is_allowed_by_default() -> None:
    continuity = Continuity.load()
    assert continuity.settings.allow_injection == ()
    assert "partial-checkpoint" not in continuity.plugins
    assert continuity.mode is Mode.ON
