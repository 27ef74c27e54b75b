"""Finding out what a turn was."""

from __future__ import annotations

from typing import NamedTuple

from continuity_core.engine.chain import Chain, SlowCall, isolated, read_cause
from continuity_core.engine.state import RunState
from continuity_core.engine.views import is_alike_for_all, view_for
from continuity_core.model.boundary import RunView
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.host_facts import HostFacts
from continuity_core.model.proposal import PluginFault
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn
from continuity_core.model.turn_cause import cause_of_turn

_ABORTED = Cause(kind=CauseKind.CANCELLED, why="The user aborted the run.", rule="host_aborted")


class Verdict(NamedTuple):
    """What a turn was, and what went wrong while it was found out."""

    cause: Cause
    view: RunView
    """The run as it was shown to every plugin, with the turn counted."""
    plugin: str | None = None
    """Who said so; ``None`` where the host or the stop reason alone decided."""
    faults: tuple[PluginFault, ...] = ()
    slow: tuple[SlowCall, ...] = ()


def classify(chain: Chain, turn: Turn, host: HostFacts, state: RunState, view: RunView) -> Verdict:
    """Say what the turn was: the host's abort, else the first plugin's answer, else the stop reason.

    Where the answer is ``unknown`` the host's own classification stands in. ``view`` is the run as every
    plugin sees it.
    """
    if host.aborted or turn.stop_reason is StopReason.ABORTED:
        return Verdict(_ABORTED, view)
    cause: Cause | None = None
    plugin: str | None = None
    faults: tuple[PluginFault, ...] = ()
    slow: tuple[SlowCall, ...] = ()
    alike = is_alike_for_all(state)
    for link in chain.classify:
        name = link.name
        if name in state.disabled:
            continue
        result = isolated(link, read_cause, turn, view if alike else view_for(view, state, name))
        if result is None:
            continue
        faults += result.faults
        slow += result.slow
        if result.value is not None:
            cause, plugin = result.value, name
            break
    if cause is None:
        cause = cause_of_turn(turn)
    if cause.kind is CauseKind.UNKNOWN and host.classification is not None:
        cause, plugin = host.classification, None
    return Verdict(cause, view, plugin, faults, slow)
