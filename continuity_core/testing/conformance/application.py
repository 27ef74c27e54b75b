"""An application around a framework that reads its input once, at the start of a run."""

from __future__ import annotations

import asyncio

import attrs

from continuity_core.model.host_facts import InputKind
from continuity_core.testing.conformance.host import HostResult, Play


class ApplicationSession:
    """Runs the framework once for each request; what the user says meanwhile is queued for the next run.

    A driver's session says how one run goes in :meth:`run`, and to whom continuity's run is known in
    :meth:`tell`.
    """

    def __init__(self, play: Play) -> None:
        self.play = play
        self.aborted = False
        """Whether the user aborted the run that goes on."""
        self._follow_ups: list[str] = []
        self._task: asyncio.Task[HostResult] | None = None

    async def run(self, text: str) -> HostResult:
        """One run of the framework; its errors are results. May be cancelled."""
        raise NotImplementedError

    def tell(self, kind: InputKind) -> None:
        """Tell continuity that the user said something, where anybody can."""

    async def prompt(self, text: str) -> HostResult:
        """One run, and those of follow-ups that were queued meanwhile."""
        self.aborted = False
        result = await self._run_in_a_task(text)
        while self._follow_ups and not self.aborted:
            result = await self._run_in_a_task(self._follow_ups.pop(0))
        return result

    async def abort(self) -> None:
        """Cancel the run, as an application does."""
        self.aborted = True
        self.stop()

    def stop(self) -> None:
        """Cancel the task of the run."""
        if self._task is not None:
            self._task.cancel()

    async def give_input(self, kind: InputKind, text: str) -> None:
        """Queue a follow-up, and say so."""
        self.tell(kind)
        self._follow_ups.append(text)

    async def switch(self, on: bool) -> None:
        """As anyone who holds the continuity object."""
        self.play.switch(on)

    async def _run_in_a_task(self, text: str) -> HostResult:
        self._task = asyncio.create_task(self.run(text))
        try:
            return attrs.evolve(await self._task, aborted=self.aborted)
        except asyncio.CancelledError:
            if not self.aborted:
                raise
            return HostResult(stop="aborted", aborted=True)
        finally:
            self._task = None
