"""The settings of the core, as every part of the engine reads them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import attrs

from continuity_core.engine.durations import parse_duration
from continuity_core.model.boundary import Mode
from continuity_core.model.options import Tighten, choice, count, count_or_unlimited, names, option


class Incomplete(StrEnum):
    """What a caller gets when recovery ends without a whole answer."""

    RETURN = "return"
    RAISE = "raise"


def _file_or_none(value: object) -> Path | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str | Path):
        raise ValueError(f"takes the path of a file, not {value!r}")
    return Path(value).expanduser().absolute()


@attrs.frozen(kw_only=True)
class Settings:
    """The core's own options; those of plugins are apart."""

    mode: Mode = option(
        Mode.ON,
        read=choice(Mode),
        tighten=Tighten.LATER,
        help="on: recover; observe: say what would be done and do nothing; off: nothing.",
    )
    max_resumes: int | None = option(
        8,
        read=count_or_unlimited,
        tighten=Tighten.LOWER,
        help="Resumes per run but for those after a usage-limit wait; 0: none at all; "
        '"unlimited": up to the ceiling.',
    )
    no_progress: int = option(
        3,
        read=count,
        help="Resumes in a row for length turns of identical content; 0: no such limit, "
        "unless max_resumes is unlimited.",
    )
    incomplete: Incomplete = option(
        Incomplete.RETURN,
        read=choice(Incomplete),
        help="return: the host's own result or error stays as it is; raise: IncompleteRun with the partial.",
    )
    allow_injection: tuple[str, ...] = option(
        (), read=names, help="Plugins that may add text which the model sees."
    )
    ceiling_resumes: int = option(
        200,
        read=count,
        tighten=Tighten.LOWER,
        help="Resumes of a run and the runs under it, whatever a budget says.",
    )
    ceiling_held: float = option(
        "24h",
        read=parse_duration,
        tighten=Tighten.LOWER,
        help="Time held in a run and the runs under it, in all.",
    )
    spread: float = option(
        "0s",
        read=parse_duration,
        tighten=Tighten.LOWER,
        help="Every wait is longer by up to so much, each run by its own share, so that many runs that wait "
        "for one instant do not all ask then; 0s: off.",
    )
    journal: Path | None = option(
        "",
        read=_file_or_none,
        help="File to which every event is appended as a JSON line, for continuity explain-run; empty: none.",
    )

    @property
    def no_progress_limit(self) -> int | None:
        """Resumes in a row for identical ``length`` content; ``None`` where there is no such limit."""
        if self.no_progress == 0 and self.max_resumes is None:
            return NO_PROGRESS_DEFAULT
        return self.no_progress or None


NO_PROGRESS_DEFAULT = 3
