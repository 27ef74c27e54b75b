"""What was seen while a scenario was played."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from continuity_core.testing.clocks import RecordedWait
from continuity_core.testing.conformance.host import HostResult
from continuity_core.testing.fault_server import LoggedRequest


@attrs.frozen(kw_only=True)
class Observed:
    """The facts of one play."""

    requests: tuple[LoggedRequest, ...] = ()
    resumes: int = 0
    """Turns that continuity asked for, charged or not."""
    waits: tuple[RecordedWait, ...] = ()
    tools_run: Mapping[str, int] = attrs.field(factory=dict)
    """Only those that ran."""
    results: tuple[HostResult, ...] = ()
    """One for each prompt that the host came back from."""
    cause: str | None = None
    """What the last turn of the last run was; ``None`` where no run was reported."""
    problems: tuple[str, ...] = ()
    """What must never happen, whatever the scenario expects."""
    cut_short: tuple[str, ...] = ()
    """Why the play did not come to its end: it hung, or the driver raised."""

    @property
    def ended_waits(self) -> tuple[int, ...]:
        """Numbers of the waits that were cut short, from 1."""
        return tuple(number for number, wait in enumerate(self.waits, start=1) if wait.ended_by is not None)


@attrs.frozen
class UserTexts:
    """The user-role texts of a play, without those that the host adds by itself.

    A text in the very first request that the user did not say is the host's own: nobody else had a chance to
    add one.
    """

    said: frozenset[str]
    requests: tuple[LoggedRequest, ...]
    adds_text: Callable[[str], bool]

    @property
    def in_last_request(self) -> int:
        """How many the last request carries."""
        return len(self._of(self.requests[-1])) if self.requests else 0

    @property
    def foreign(self) -> tuple[str, ...]:
        """Those that the user did not say, each once."""
        texts = (text for request in self.requests for text in self._of(request))
        return tuple(dict.fromkeys(text for text in texts if text not in self._said))

    def _of(self, request: LoggedRequest) -> list[str]:
        own = self._own
        texts = [text.strip() for text in request.user_texts]
        return [text for text in texts if text in self._said or not (text in own or self.adds_text(text))]

    @property
    def _said(self) -> frozenset[str]:
        return frozenset(text.strip() for text in self.said)

    @property
    def _own(self) -> frozenset[str]:
        first = self.requests[0].user_texts if self.requests else ()
        return frozenset(text.strip() for text in first) - self._said
