"""The lines of the closing table, their form as data, and the exit status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from continuity_core.cli.demo.faults import Fault
from continuity_core.cli.demo.playing import Played
from continuity_core.model.boundary import Mode
from continuity_core.observe.progress import spoken_duration

if TYPE_CHECKING:
    from continuity_core.continuity import Continuity

HEADER = ("fault", "without", "with continuity", "requests", "waits")


@attrs.frozen(kw_only=True)
class Row:
    """One fault, played twice."""

    fault: Fault
    without: Played
    with_: Played
    off: str | None = None
    """Why recovery from this fault is switched off; ``None`` where it is on, or where there is none."""

    @property
    def is_recoverable(self) -> bool:
        """Whether recovery is to be expected: something can be done, and it is not switched off."""
        return self.fault.recovered_by is not None and self.off is None

    @property
    def is_good(self) -> bool:
        """Whether the outcome is the one to be expected."""
        return self.with_.ok or not self.is_recoverable

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON."""
        return {
            "fault": self.fault.name,
            "what": self.fault.what,
            "dialect": self.fault.dialect,
            "stream": self.fault.stream,
            "recoverable": self.is_recoverable,
            "off": self.off,
            "without": attrs.asdict(self.without),
            "with": attrs.asdict(self.with_),
        }

    def cells(self) -> tuple[str, ...]:
        """The line under ``HEADER``."""
        without, with_ = self.without, self.with_
        said = with_.outcome
        if with_.ok and with_.resumed_by:
            said = f"{said} ({', '.join(dict.fromkeys(with_.resumed_by))})"
        elif self.fault.recovered_by is None:
            said = f"{said}, as it should be"
        elif self.off is not None:
            said = f"not recovered: {self.off}"
        elif not with_.ok:
            said = f"NOT RECOVERED: {said}" + (f" ({with_.not_resumed})" if with_.not_resumed else "")
        waits = " + ".join(map(spoken_duration, with_.waits)) or "-"
        return (
            self.fault.name,
            without.outcome,
            said,
            f"{without.requests} -> {with_.requests}",
            waits,
        )


def exit_status(rows: Sequence[Row]) -> int:
    """1 if a fault that should have been recovered was not; else 0."""
    return 0 if all(row.is_good for row in rows) else 1


def summary(rows: Sequence[Row]) -> str:
    """The sentence under the table."""
    expected = [row for row in rows if row.is_recoverable]
    recovered = sum(row.with_.ok for row in expected)
    off = sum(row.off is not None for row in rows)
    hopeless = sum(row.fault.recovered_by is None for row in rows)
    parts = [f"{recovered} of {len(expected)} recoverable faults were recovered"]
    if off:
        parts.append(f"{off} switched off")
    if hopeless:
        parts.append(f"{hopeless} that asking again cannot mend")
    return "; ".join(parts) + "."


def why_off(fault: Fault, continuity: Continuity) -> str | None:
    """By what the recovery from ``fault`` is switched off in this configuration, if it is."""
    if fault.recovered_by is None:
        return None
    settings = continuity.settings
    if settings.mode is not Mode.ON:
        return f"mode is {settings.mode.value}"
    for row in continuity.plugins.table:
        if row.name == fault.recovered_by:
            if row.state != "on":
                return f"{row.name} is {row.state}"
            break
    else:
        return f"{fault.recovered_by} is not loaded"
    if settings.max_resumes == 0:
        return "max_resumes is 0"
    for option in _SWITCHES:
        if option in row.options and row.options[option].value == 0:
            return f"{row.name}.{option} is 0"
    return None


_SWITCHES = ("retries", "waits", "held")
"""Options that switch their plugin off where they are 0."""
