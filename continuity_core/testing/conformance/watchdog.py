"""The last resort against a host that blocks the event loop or cannot be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import attrs

from continuity_core.testing.conformance.host import Mode
from continuity_core.testing.conformance.scenario import Scenario


def grace(time_limit: float) -> float:
    """Real seconds after ``time_limit`` in which a host can still give in to its cancellation."""
    return max(3.0, time_limit / 3)


@attrs.define(kw_only=True, eq=False)
class Watchdog:
    """Calls ``on_hang`` in a thread of its own where a play neither ends nor can be ended.

    Use it as a context manager and pass :meth:`starts` as ``on_start``.
    """

    seconds: float
    """Real time that a play may take, its cancellation included."""
    on_hang: Callable[[Scenario, Mode], object]
    _timer: threading.Timer | None = None

    def starts(self, scenario: Scenario, mode: Mode) -> None:
        """A play begins; the one before is over."""
        self._stop()
        self._timer = threading.Timer(self.seconds, self.on_hang, (scenario, mode))
        self._timer.daemon = True
        self._timer.start()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
