"""The error for callers that do not want half an answer."""

from __future__ import annotations

from continuity_core.model.report import Report
from continuity_core.model.turn import Turn


class IncompleteRun(Exception):
    """A run ended without a whole answer, and the setting ``incomplete`` is ``raise``.

    Its ``__cause__`` is the host's own error, where there was one.
    """

    def __init__(self, report: Report, partial: Turn | None) -> None:
        super().__init__(str(report))
        self.report = report
        self.partial = partial
        """The last turn, with whatever came of it."""

    def __reduce__(self) -> tuple[type[IncompleteRun], tuple[Report, Turn | None]]:
        return type(self), (self.report, self.partial)
