"""The contract between continuity and its plugins.

Hooks are synchronous and return data; the engine does every wait and makes every edit. Each plugin is called
in chain order and sees the proposal of the plugins before it; it returns only its own contribution. A plugin
may leave out parameters that it does not need. An exception never reaches the host: it becomes an event and
an entry of the proposal, and the chain goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from continuity_core.model.boundary import Boundary, RunView
    from continuity_core.model.cause import Cause
    from continuity_core.model.decisions import Decision, Edit
    from continuity_core.model.entries import Projection
    from continuity_core.model.events import Event
    from continuity_core.model.proposal import Proposal
    from continuity_core.model.turn import Turn

PROJECT_NAME = "continuity"
"""The pluggy project name, and the entry-point group in which plugins are found."""

SPEC_VERSION = (0, 1)
"""Version of this contract. A plugin may pin it with an attribute ``spec_version``."""

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def continuity_classify(turn: Turn, run: RunView) -> Cause | None:
    """Say what a turn was.

    Called once for every turn that ended, before the boundary's decisions. Third parties are asked first, the
    bundled reader last; the first answer stands. A turn that was aborted is ``cancelled`` without asking.

    Return a :class:`Cause`, or ``None`` to leave the verdict to the next plugin.
    """


@hookspec
def continuity_turn_ended(boundary: Boundary, proposal: Proposal) -> Decision | Iterable[Decision] | None:
    """Decide after a turn ended: waits are allowed here.

    Called after every turn, also a failed one, in chain order. For an error, a context overflow, and a
    ``length`` below the cap in a host that recovers it, the host's own recovery goes first: a resume and its
    edits are put off and asked for again at ``continuity_before_settle``, and only the wait is held now.

    Return one decision, several (they stand or fall together), or ``None`` for no opinion.
    """


@hookspec
def continuity_before_settle(boundary: Boundary, proposal: Proposal) -> Decision | Iterable[Decision] | None:
    """Decide when the host would otherwise end the run.

    Called in chain order, with the turn that ended last. A :class:`Wait` here is refused together with
    its bundle: the host listens to an abort only at ``turn_ended``.

    Return one decision, several (they stand or fall together), or ``None`` for no opinion.
    """


@hookspec
def continuity_project(projection: Projection, proposal: Proposal) -> Iterable[Edit] | None:
    """Leave entries out of the next request, or narrow them; the history stays as it is.

    Called before every request, in chain order; each plugin sees the projection with the edits of those
    before it. ``proposal`` is that of the last boundary.

    Return edits (they stand or fall together), or ``None`` to change nothing.
    """


@hookspec
def continuity_observe(event: Event, run: RunView) -> None:
    """Take note of an event; results are ignored. Called for every event of the run, in chain order."""
